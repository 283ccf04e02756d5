//! Verification of a written model against its original, by other means than those that made it.
//!
//! After passes, each output is shown to be equal to the original one: terms describe the values of
//! both models by the same laws (an `Identity` is its input, a chain of casts is one cast if its
//! types are exact, casts and data movement commute), and all other nodes must be those of the
//! original, with equal inputs. A constant that the original does not have is computed again from
//! it, one element at a time, without the kernels that write files. After a conversion, the
//! original is converted again, and the types of both models are inferred and compared. A change of
//! precision is undone (`erasure`). In all cases everything else is compared field by field:
//! `tests/suite/verify/` plants faults in every field of every message.
//!
//! A pass whose results the laws do not cover is refused by `--verify`: add its law to `terms.rs`,
//! and a fault that the law does not hide to `tests/suite/verify/`.

mod canonical_form;
mod carried;
mod compare;
mod constants;
mod contents;
mod conversion;
mod data_files;
mod declared;
mod effects;
mod equality;
mod erasure;
mod evaluate;
mod fault;
mod fixes;
mod function_copies;
mod laws;
mod left_out;
mod matching;
mod movement;
mod new_messages;
mod noqa;
mod order;
mod reported;
mod rewrite;
mod roundings;
mod sources;
mod term;
mod terms;
mod unchanged_fields;
mod undo_types;
mod value_fields;
mod verification;
mod verified;
mod with_casts;

pub use fault::{Fault, NotVerified};
pub use verification::Verification;
pub(crate) use verification::{Expected, verify_copy};
pub use verified::Verified;

/// The facts that the passes have, too, for tests that compare both.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod facts {
    pub use super::evaluate::{Needs, Node, Value, first_difference, needs, results};
    pub use super::laws::*;
    pub use super::movement::moves;
}
