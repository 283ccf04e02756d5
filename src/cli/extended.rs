//! The command line with rules, passes and adapters of other crates.

use std::sync::Arc;

use super::run::main_with;
use super::{ExitCode, adapters};
use crate::convert::OperatorAdapter;
use crate::lint::{self, Rule};
use crate::passes::{self, Pass};
use crate::process::{defer_huge_pages, install_signal_handlers, return_memory_soon};

/// `recast`, together with rules, passes and adapters of another crate:
///
/// ```no_run
/// use onnx_recast::cli::{Command, exit};
/// # use onnx_recast::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
/// # fn find(_: &Subject) -> Vec<Finding> { Vec::new() }
/// # static RULE: FunctionRule = FunctionRule::new(RuleFacts::new("X101", "unnamed-node", Severity::Warning, ""), find);
///
/// fn main() {
///     exit(Command::new().rule(&RULE).run().into())
/// }
/// ```
///
/// - Rules are selected, configured, suppressed and explained by code or name, as those of `recast`.
/// - Passes run if `--passes` names them, and are listed by `recast passes`.
/// - `recast convert` asks adapters before its own.
///
/// `--max-memory` counts the memory of programs whose global allocator is [`Limited`](super::Limited).
#[derive(Default)]
pub struct Command {
    rules: Vec<Arc<dyn Rule>>,
    passes: Vec<Box<dyn Pass>>,
    adapters: Vec<OperatorAdapter>,
}

impl Command {
    /// `recast` as it is.
    #[must_use]
    pub fn new() -> Command {
        Command::default()
    }

    /// Adds a lint rule.
    #[must_use]
    pub fn rule(mut self, rule: impl Rule + 'static) -> Command {
        self.rules.push(Arc::new(rule));
        self
    }

    /// Adds a pass.
    #[must_use]
    pub fn pass(mut self, pass: impl Pass + 'static) -> Command {
        self.passes.push(Box::new(pass));
        self
    }

    /// Adds an adapter.
    #[must_use]
    pub fn adapter(mut self, adapter: OperatorAdapter) -> Command {
        self.adapters.push(adapter);
        self
    }

    /// Parses and runs the command line of this process; prints its errors and its help. To be
    /// called once in a process, as its last action.
    #[must_use]
    pub fn run(self) -> ExitCode {
        return_memory_soon();
        defer_huge_pages();
        install_signal_handlers();
        lint::registry::add(self.rules);
        passes::select::add(self.passes);
        adapters::add(self.adapters);
        main_with(std::env::args_os())
    }
}
