//! The HTML page about a run: one file that needs no network.
//!
//! The page contains the JSON documents of the run, the summaries of its models and drawings of the
//! graph around each place that the documents name. The scripts of `web/` make everything that is
//! shown from this JSON, so that there is one source of numbers. Text of a model is only in the
//! JSON; the scripts escape it as [`crate::base::printable`] does, and insert it as text, never as
//! HTML.

mod document;
mod drawing;
mod layout;
mod places;
mod sketch;

pub use document::{Page, Results, is_page, page_html, page_json};
pub use places::About;
pub use sketch::{Before, Sketch};
