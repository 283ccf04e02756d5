//! `recast` with the passes, the rule and the adapter of this crate.

use onnx_recast::cli::{Command, exit};
use recast_extension::{RemoveIdentities, RequireKnownDomains, UNNAMED_NODE, gelu_of_runtime};

fn main() {
    let command = Command::new()
        .pass(RemoveIdentities)
        .pass(RequireKnownDomains)
        .rule(&UNNAMED_NODE)
        .adapter(gelu_of_runtime("my.runtime"));
    exit(command.run().into())
}
