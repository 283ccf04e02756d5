//! Decides which casts of constants fold, and to which values. The pass `fold-casts` applies the
//! decision and the rule RC401 reports it. The pass `fold-constants` applies it with the other
//! bit-exact nodes.
//!
//! A cast folds if: 1. the input is an initializer or `Constant` that cannot be overridden by a
//! caller, the result of a folded cast, or what bit-exact nodes ([`crate::ops::compute`]) compute
//! from these, and no name is shadowed; 2. the resulting type is known and supported by the opset's
//! cast; 3. ONNX defines every resulting value, or the options select a value for undefined and
//! contested results; 4. the folded tensors exceed the tensors they replace by at most `max_growth`
//! bytes. Scope: main graph, subgraphs, training graphs, functions.
//!
//! before: `h = Cast<to = FLOAT16>(w)  y = MatMul(x, h)`     w: `FLOAT[2]`
//! after:  `                           y = MatMul(x, h)`     h: `FLOAT16[2]`
//!
//! The result is an initializer; in a function, and in a subgraph of IR 3, it is a `Constant` node
//! in place of the cast. Casts of one constant to one type share a result; if they are in several
//! graphs, the result gets a new name and is stored in the graph of the constant. A constant that
//! is no longer used is removed, and so are the nodes that computed the input of a cast.
//!
//! [`decide`] is the only place of this decision.

mod computed;
mod decisions;
mod edits;
mod known;
mod leading;
pub mod reason;
mod sharing;
mod stored_bytes;

pub use decisions::{Extent, Fold, Options, decide, kernel, known_opset};

#[cfg(test)]
mod tests;
