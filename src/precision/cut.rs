//! The types of the variables that may have either type, with the fewest casts.
//!
//! A value needs one cast if any of its uses has another type, however many such uses there are.
//! The cast is the capacity of an edge of a flow network, from the value to a vertex that all uses
//! of the other type share, so that the assignments with the fewest casts are the minimum cuts. Of
//! these, the cut with the smallest casts is chosen, and then the one in which the fewest values
//! keep their types.

use std::collections::BTreeMap;

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::EdgeRef;

use super::types::{Assignment, Classes, Constraint, Types, ValueKind, Variable};
use super::uses::Use;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{Model, ScopeId, ValueId};
use crate::ops::inference::Known;

/// The capacity of an edge that must not be cut.
const NEVER: u128 = 1 << 112;
/// The capacity of an edge that stands for a cast. The elements that it casts are added, in units
/// that exceed the number of variables.
const CAST: u128 = 1 << 90;
const MOST_ELEMENTS: u64 = 1 << 40;
const ITERATIONS: u64 = 1 << 10;
const ELEMENT: u128 = 1 << 24;
/// The capacity of an edge that stands for [`Constraint::PreferOld`].
const PREFERENCE: u128 = 1;

/// A value and the types in which it is used.
struct Group {
    source: Variable,
    uses: Vec<Variable>,
    /// Whether the old type may be cast to the new one, and the new one to the old one.
    casts: [bool; 2],
    elements: u64,
}

impl Group {
    /// Those of the uses, and that of the value itself.
    fn variables(&self) -> impl Iterator<Item = Variable> {
        self.uses.iter().chain([&self.source]).copied()
    }
}

/// The assignments of all variables, by variable. Values in `fixed` cannot be cast.
pub(super) fn solve(
    types: &Types,
    classes: &Classes,
    fixed: &HashSet<ValueId>,
    weights_only: bool,
) -> Vec<Assignment> {
    let stated = |root: Variable| match classes.constraint(root) {
        Some(Constraint::FixedOld(_)) => Some(Assignment::Old),
        Some(Constraint::New) => Some(Assignment::New),
        Some(Constraint::PreferOld) | None => None,
    };
    let groups = groups(types, classes, fixed, weights_only, |root| {
        stated(root).is_none()
    });
    let mut assignments: Vec<Option<Assignment>> = (0..classes.len() as Variable)
        .map(|variable| stated(classes.root(variable)))
        .collect();
    for (root, assignment) in free_assignments(&groups, classes, stated) {
        assignments[root as usize] = Some(assignment);
    }
    // A variable without values decides nothing.
    let assignment = |variable: Variable| match (
        assignments[classes.root(variable) as usize],
        classes.constraint(variable),
    ) {
        (Some(assignment), _) => assignment,
        (None, Some(Constraint::PreferOld)) => Assignment::Old,
        (None, _) => Assignment::New,
    };
    (0..classes.len() as Variable).map(assignment).collect()
}

/// The assignments of the variables that may have either type. Variables that values connect are
/// decided together.
fn free_assignments<'g>(
    groups: &'g [Group],
    classes: &Classes,
    stated: impl Fn(Variable) -> Option<Assignment> + Copy,
) -> Vec<(Variable, Assignment)> {
    let is_free = |root: &Variable| stated(*root).is_none();
    let free = |group: &'g Group| group.variables().filter(is_free);
    let mut places: HashMap<Variable, usize> = HashMap::default();
    for root in groups.iter().flat_map(free) {
        let next = places.len();
        places.entry(root).or_insert(next);
    }
    let mut sets = UnionFind::new(places.len());
    for group in groups {
        let mut free = free(group).map(|root| places[&root]);
        if let Some(first) = free.next() {
            for other in free {
                sets.union(first, other);
            }
        }
    }
    let sets = sets.into_labeling();
    // Where no variable keeps or prefers the old type, all of a set get the new one without a cast.
    let stays = |root: Variable| {
        let constraint = classes.constraint(root);
        matches!(
            constraint,
            Some(Constraint::FixedOld(_) | Constraint::PreferOld)
        )
    };
    let set_of = |group: &'g Group| free(group).next().map(|root| sets[places[&root]]);
    let mut may_stay = vec![false; sets.len()];
    for group in groups.iter().filter(|group| group.variables().any(stays)) {
        if let Some(set) = set_of(group) {
            may_stay[set] = true;
        }
    }
    let mut by_set: BTreeMap<usize, Vec<&Group>> = BTreeMap::new();
    for group in groups {
        if let Some(set) = set_of(group).filter(|&set| may_stay[set]) {
            by_set.entry(set).or_default().push(group);
        }
    }
    let new = groups.iter().flat_map(free);
    new.filter(|root| !may_stay[sets[places[root]]])
        .map(|root| (root, Assignment::New))
        .chain(by_set.values().flat_map(|set| cut(set, classes, stated)))
        .collect()
}

/// The values of which at least one use, or the value itself, is free to have either type.
fn groups(
    types: &Types,
    classes: &Classes,
    fixed: &HashSet<ValueId>,
    weights_only: bool,
    is_free: impl Fn(Variable) -> bool,
) -> Vec<Group> {
    // What follows from the nodes: a declaration of an output is not that of the value before its
    // Cast.
    let contradictions = types.inferred.contradictions().iter();
    let contradicted: HashMap<ValueId, &Known> = contradictions
        .map(|wrong| (wrong.value, &wrong.found))
        .collect();
    let group = |uses: &[Use]| {
        let value = uses.first()?.value;
        let source = classes.root(value.index() as Variable);
        let roots = || uses.iter().map(|used| classes.root(used.variable));
        if !roots().chain([source]).any(&is_free) {
            return None;
        }
        let known = contradicted
            .get(&value)
            .copied()
            .unwrap_or_else(|| types.inferred.of(value));
        let shape = known.shape.as_deref().unwrap_or_default();
        let lengths = shape
            .iter()
            .map(|length| length.map_or(1, i64::unsigned_abs));
        let once = lengths.fold(1, u64::saturating_mul);
        let elements = once
            .saturating_mul(iterations(types.model, types.model.scope_of(value)))
            .min(MOST_ELEMENTS);
        let can_cast = !fixed.contains(&value);
        // What is cast from the new type has lost bits.
        let is_exact = matches!(
            types.kinds[value.index()],
            Some(ValueKind::Constant | ValueKind::Stated)
        ) && !weights_only;
        let mut uses: Vec<Variable> = roots().collect();
        uses.sort_unstable();
        uses.dedup();
        Some(Group {
            source,
            uses,
            casts: [can_cast, can_cast && !is_exact],
            elements,
        })
    };
    types.uses.by_value().filter_map(group).collect()
}

/// The estimated number of times that a scope runs. A cast in the body of a loop runs in each
/// iteration; all loops have the same estimate.
fn iterations(model: &Model, scope: ScopeId) -> u64 {
    let loops = model
        .owners(scope)
        .filter(|&owner| model.node(owner).op_type() != "If")
        .count();
    ITERATIONS.saturating_pow(u32::try_from(loops).unwrap_or(u32::MAX))
}

/// Decides variables that are connected. The source of the network is the old type, its sink the
/// new one.
fn cut(
    groups: &[&Group],
    classes: &Classes,
    stated: impl Fn(Variable) -> Option<Assignment>,
) -> Vec<(Variable, Assignment)> {
    let mut network: DiGraph<(), u128> = DiGraph::new();
    let (old, new) = (network.add_node(()), network.add_node(()));
    let mut vertices: HashMap<Variable, NodeIndex> = HashMap::default();
    let mut free: Vec<Variable> = Vec::new();
    for group in groups {
        let mut vertex = |network: &mut DiGraph<(), u128>, root: Variable| match stated(root) {
            Some(Assignment::Old) => old,
            Some(Assignment::New) => new,
            None => *vertices.entry(root).or_insert_with(|| {
                free.push(root);
                let vertex = network.add_node(());
                if let Some(Constraint::PreferOld) = classes.constraint(root) {
                    network.add_edge(old, vertex, PREFERENCE);
                }
                vertex
            }),
        };
        let source = vertex(&mut network, group.source);
        let uses: Vec<NodeIndex> = group
            .uses
            .iter()
            .map(|&root| vertex(&mut network, root))
            .collect();
        let cost = CAST + u128::from(group.elements) * ELEMENT;
        let [to_new, to_old] = group
            .casts
            .map(|can_cast| if can_cast { cost } else { NEVER });
        let (some_new, some_old) = (network.add_node(()), network.add_node(()));
        network.add_edge(source, some_new, to_new);
        network.add_edge(some_old, source, to_old);
        for used in uses {
            network.add_edge(some_new, used, NEVER);
            network.add_edge(used, some_old, NEVER);
        }
    }
    let (_, flows) = dinics(&network, old, new);
    // What the source still reaches keeps its type.
    let mut reached = vec![false; network.node_count()];
    let mut next = vec![old];
    reached[old.index()] = true;
    while let Some(vertex) = next.pop() {
        let forward = network
            .edges(vertex)
            .filter(|edge| flows[edge.id().index()] < *edge.weight())
            .map(|edge| edge.target());
        let backward = network
            .edges_directed(vertex, petgraph::Incoming)
            .filter(|edge| flows[edge.id().index()] > 0);
        for other in forward.chain(backward.map(|edge| edge.source())) {
            if !std::mem::replace(&mut reached[other.index()], true) {
                next.push(other);
            }
        }
    }
    let assignment = |root: Variable| {
        if reached[vertices[&root].index()] {
            Assignment::Old
        } else {
            Assignment::New
        }
    };
    free.iter().map(|&root| (root, assignment(root))).collect()
}
