//! The layout of a small graph in layers, from top to bottom.

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, layout};

/// A point, in CSS pixels.
pub type Point = (i32, i32);

/// Where vertices and edges are drawn. No coordinate is negative.
#[derive(Debug, PartialEq, Eq)]
pub struct Arranged {
    /// The size of the drawing.
    pub size: Point,
    /// The upper left corners of the vertices.
    pub vertices: Vec<Point>,
    /// The points of the edges, from the boundary of one vertex to that of the other.
    pub edges: Vec<Vec<Point>>,
}

/// Arranges vertices of these sizes. An edge is a pair of positions in `sizes`; no edge occurs
/// twice.
pub fn arranged(sizes: &[(u32, u32)], edges: &[(usize, usize)]) -> Arranged {
    let options = GraphOptions {
        directed: true,
        multigraph: false,
        compound: false,
    };
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
    for (vertex, &(width, height)) in sizes.iter().enumerate() {
        let label = NodeLabel {
            width: width.into(),
            height: height.into(),
            ..NodeLabel::default()
        };
        graph.set_node(vertex.to_string(), Some(label));
    }
    for (from, to) in edges {
        graph.set_edge(
            from.to_string(),
            to.to_string(),
            Some(EdgeLabel::default()),
            None,
        );
    }
    layout(
        &mut graph,
        Some(LayoutOptions {
            nodesep: 20.0,
            edgesep: 14.0,
            ranksep: 34.0,
            ..LayoutOptions::default()
        }),
    );
    let corner = |vertex: usize, &(width, height): &(u32, u32)| {
        let label = graph.node(&vertex.to_string());
        let (x, y) = label.map_or((0.0, 0.0), |label| {
            (label.x.unwrap_or(0.0), label.y.unwrap_or(0.0))
        });
        (x - f64::from(width) / 2.0, y - f64::from(height) / 2.0)
    };
    let corners: Vec<(f64, f64)> = sizes
        .iter()
        .enumerate()
        .map(|(vertex, size)| corner(vertex, size))
        .collect();
    let points = |&(from, to): &(usize, usize)| {
        let label = graph.edge(&from.to_string(), &to.to_string(), None);
        label.map_or_else(Vec::new, |label| {
            label
                .points
                .iter()
                .map(|point| (point.x, point.y))
                .collect()
        })
    };
    let edges: Vec<Vec<(f64, f64)>> = edges.iter().map(points).collect();
    moved(sizes, &corners, &edges)
}

/// The layout, moved so that all of it is visible: an edge may pass on the left of all vertices.
fn moved(sizes: &[(u32, u32)], corners: &[(f64, f64)], edges: &[Vec<(f64, f64)>]) -> Arranged {
    let all = || corners.iter().chain(edges.iter().flatten());
    let left = all().fold(f64::INFINITY, |least, point| least.min(point.0));
    let top = all().fold(f64::INFINITY, |least, point| least.min(point.1));
    let whole = |&(x, y): &(f64, f64)| {
        (
            (x - left).round() as i32 + MARGIN,
            (y - top).round() as i32 + MARGIN,
        )
    };
    let vertices: Vec<Point> = corners.iter().map(whole).collect();
    let edges: Vec<Vec<Point>> = edges
        .iter()
        .map(|points| points.iter().map(whole).collect())
        .collect();
    let ends = vertices
        .iter()
        .zip(sizes)
        .map(|(&(x, y), &(width, height))| (x + width as i32, y + height as i32));
    let size = ends
        .chain(edges.iter().flatten().copied())
        .fold((0, 0), |size, end| (size.0.max(end.0), size.1.max(end.1)));
    Arranged {
        size: (size.0 + MARGIN, size.1 + MARGIN),
        vertices,
        edges,
    }
}

/// The space around a drawing.
const MARGIN: i32 = 8;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Sizes = Vec<(u32, u32)>;
    type Edges = Vec<(usize, usize)>;

    /// Sizes of vertices, and edges from earlier to later vertices.
    fn graphs() -> impl Strategy<Value = (Sizes, Edges)> {
        let sizes =
            prop::collection::vec((30_u32..250, prop::sample::select(vec![28_u32, 44])), 1..24);
        sizes.prop_flat_map(|sizes| {
            let count = sizes.len();
            let ends = prop::collection::btree_set((0..count, 0..count), 0..2 * count);
            (
                Just(sizes),
                ends.prop_map(|ends| ends.into_iter().filter(|(from, to)| from < to).collect()),
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn vertices_do_not_overlap_and_edges_go_down((sizes, edges) in graphs()) {
            let arranged = arranged(&sizes, &edges);
            let corner = |vertex: usize| arranged.vertices[vertex];
            let end = |vertex: usize| (corner(vertex).0 + sizes[vertex].0 as i32, corner(vertex).1 + sizes[vertex].1 as i32);
            for one in 0..sizes.len() {
                prop_assert!(corner(one).0 >= 0 && corner(one).1 >= 0 && end(one).0 <= arranged.size.0 && end(one).1 <= arranged.size.1);
                for other in 0..one {
                    let apart = |a: usize, b: usize| end(a).0 <= corner(b).0 || end(a).1 <= corner(b).1;
                    prop_assert!(apart(one, other) || apart(other, one), "{} and {} overlap: {:?}", one, other, arranged);
                }
            }
            for (&(from, to), points) in edges.iter().zip(&arranged.edges) {
                prop_assert!(points.len() >= 2, "{}-{}: {:?}", from, to, points);
                prop_assert!(end(from).1 <= corner(to).1, "{}-{} goes up: {:?}", from, to, arranged);
                prop_assert!(points.iter().all(|&(x, y)| x >= 0 && y >= 0 && x <= arranged.size.0 && y <= arranged.size.1));
            }
            prop_assert_eq!(super::arranged(&sizes, &edges), arranged);
        }
    }
}
