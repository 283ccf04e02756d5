//! The report of `recast passes`.

use serde_json::{Value, json};

use crate::base::printable::{Document, PLAIN, STRONG, Shown};
use crate::passes::{Pass, Tier};

/// One line per pass, by tier, in the order in which they run.
#[must_use]
pub fn passes_text(passes: &[(Tier, &dyn Pass)]) -> Shown {
    let longest = passes
        .iter()
        .map(|(_, pass)| pass.name().len())
        .max()
        .unwrap_or(0);
    let mut text = Shown::default();
    for tier in Tier::ALL {
        if !passes.iter().any(|(of, _)| *of == tier) {
            continue;
        }
        let heading = match tier {
            Tier::Default => "default: what `recast fold` runs",
            Tier::Exact => "exact: every output remains the same, bit for bit",
            Tier::Lossy => "lossy: results change; run by name only",
            Tier::Added => "added by this command; run by name only",
        };
        text.push_styled_line(&[(STRONG, heading)]);
        for (_, pass) in passes.iter().filter(|(of, _)| *of == tier) {
            text.push_line(format_args!(
                "  {:longest$}  {}",
                pass.name(),
                pass.summary()
            ));
        }
    }
    text
}

/// The documentation of a pass.
#[must_use]
pub fn pass_text(pass: &dyn Pass) -> Shown {
    let mut text = Shown::default();
    text.push_styled_line(&[(STRONG, pass.name()), (PLAIN, "")]);
    text.push_blank_line();
    pass.docs()
        .lines()
        .for_each(|line| text.push_line(format_args!("{line}")));
    text
}

/// The list `passes`.
#[must_use]
pub fn passes_json(passes: &[(Tier, &dyn Pass)]) -> Document<'static> {
    let facts = passes.iter().map(
        |(tier, pass)| json!({ "name": pass.name(), "tier": tier.name(), "summary": pass.summary(), "documentation": pass.docs() }),
    );
    super::json(json!({ "passes": facts.collect::<Vec<Value>>() }), &[])
}
