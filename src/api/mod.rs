//! The operations of the library: what [`Model`] can do beyond reading its graph, and casts of
//! arrays.
//!
//! An operation changes a model in place. If it fails, the model is as it was before. A panic in a
//! pass, rule or adapter is an error of kind [`ErrorKind::Internal`](crate::ErrorKind::Internal).

mod compare;
mod convert;
mod fold;
mod lint;
mod memory;
mod not_a_model;
mod open;
mod precision;
mod runtimes;
mod save;
mod verify;

pub use compare::{Comparison, diff};
pub(crate) use not_a_model::{explain_open, is_text_model};
pub use open::OpenOptions;
pub use runtimes::{MissingNode, RunsOn, WrongNode};
pub(crate) use save::not_written;

use crate::base::error::{Error, catch};
use crate::graph::Model;

impl Model {
    /// The error of an operation on this model.
    pub(crate) fn error(&self, error: Error) -> Error {
        match self.path() {
            Some(path) => error.in_file(path.display().to_string()),
            None => error,
        }
    }

    /// # Errors
    /// If a tensor is inconsistent.
    fn check_tensors(&self) -> Result<(), Error> {
        match self.bad_tensors().first() {
            Some(fault) => Err(self.error(Error::of(fault))),
            None => Ok(()),
        }
    }

    /// Changes the model, or leaves it as it is. A model with inconsistent tensors is not changed.
    fn change<T>(
        &mut self,
        work: impl FnOnce(Model) -> Result<(Model, T), Error>,
    ) -> Result<T, Error> {
        self.check_tensors()?;
        let (before, control) = (self.checkpoint(), self.control().clone());
        // A pass, rule or adapter of another crate may panic; the model it has taken is lost then.
        let changed =
            catch(|| work(self.take()))
                .flatten()
                .and_then(|changed| match control.check() {
                    Ok(()) => Ok(changed),
                    Err(cancelled) => Err(Error::of(&cancelled)),
                });
        match changed {
            Ok((model, done)) => {
                *self = model;
                Ok(done)
            }
            Err(error) => {
                *self = before.restore();
                Err(self.error(error))
            }
        }
    }
}
