//! Renders the model in Graphviz's DOT language.

use std::io;

use petgraph::visit::EdgeRef;

use super::Model;
use super::index::{Link, Origin, ValueId, Vertex};
use super::scope::{NodeId, ScopeId};
use crate::base::printable::{self, Parts, Put, Shown};

/// # Drawing
impl Model {
    /// The nodes of all scopes as boxes, one cluster per scope; values as edges; graph inputs,
    /// initializers and outputs as ellipses.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write_dot(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.dot().write_plain(out)
    }

    /// The text of [`Model::write_dot`].
    pub(crate) fn dot(&self) -> Parts<'_> {
        Parts::new(|put| self.put_dot(put))
    }

    fn put_dot(&self, put: &mut Put) -> io::Result<()> {
        put(&Shown::lines(
            "digraph model {\n  rankdir=TB;\n  node [shape=box];",
        ))?;
        for scope in self.scopes() {
            self.write_scope(put, scope)?;
        }
        for edge in self.index.graph.edge_references() {
            self.write_edge(
                put,
                self.index.graph[edge.source()],
                self.index.graph[edge.target()],
                *edge.weight(),
            )?;
        }
        for value in self.values() {
            for &scope in self.scopes_that_output(value) {
                let from = self.source(value);
                let to = quoted(&format!(
                    "output {}/{}",
                    self.scope_path(scope),
                    self.name(value)
                ));
                put(&Shown::line(format_args!("  {from} -> {to};")))?;
            }
        }
        put(&Shown::line(format_args!("}}")))
    }

    fn write_scope(&self, put: &mut Put, scope: ScopeId) -> io::Result<()> {
        let path = self.scope_path(scope);
        let (id, label) = (quoted(&format!("cluster {path}")), quoted(&path));
        put(&Shown::line(format_args!("  subgraph {id} {{")))?;
        put(&Shown::line(format_args!("    label={label};")))?;
        for node in self.nodes(scope) {
            let op = quoted(self.node(node).op_type());
            put(&Shown::line(format_args!(
                "    {} [label={op}];",
                self.vertex_name(node)
            )))?;
        }
        let is_own = |value: &ValueId| !matches!(self.origin(*value), Origin::Node { .. });
        let mut values: Vec<ValueId> = self.index.named_in(scope).filter(is_own).collect();
        values.sort_unstable();
        for value in values {
            let shape = if self.initializer(value).is_some() {
                "ellipse, style=filled"
            } else {
                "ellipse"
            };
            let name = escaped(self.name(value));
            let label = match self.declared_type(value) {
                Some(dtype) => format!("\"{name}\\n{dtype}\""),
                None => format!("\"{name}\""),
            };
            put(&Shown::line(format_args!(
                "    {} [label={label}, shape={shape}];",
                self.source(value)
            )))?;
        }
        for name in self.body(scope).output_names() {
            let id = quoted(&format!("output {path}/{name}"));
            put(&Shown::line(format_args!(
                "    {id} [label={}, shape=ellipse];",
                quoted(name)
            )))?;
        }
        put(&Shown::line(format_args!("  }}")))
    }

    fn write_edge(&self, put: &mut Put, from: Vertex, to: Vertex, link: Link) -> io::Result<()> {
        let (Vertex::Value(value), Vertex::Node(node), Link::Input(_)) = (from, to, link) else {
            return Ok(());
        };
        let name = self.name(value);
        if let Some(id) = self.index.local(self.scope_of(value), name) {
            let label = quoted(name);
            put(&Shown::line(format_args!(
                "  {} -> {} [label={label}];",
                self.source(id),
                self.vertex_name(node)
            )))?;
        }
        Ok(())
    }

    /// The vertex where a value's edges start: its producer, or its own vertex.
    fn source(&self, value: ValueId) -> String {
        match self.origin(value) {
            Origin::Node { node, .. } => self.vertex_name(node),
            _ => quoted(&format!(
                "value {}/{}",
                self.scope_path(self.scope_of(value)),
                self.name(value)
            )),
        }
    }

    fn vertex_name(&self, node: NodeId) -> String {
        quoted(&format!(
            "node {}#{}",
            self.scope_path(node.scope),
            node.position
        ))
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text inside quotes.
fn escaped(text: &str) -> String {
    printable::escaped(text)
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}
