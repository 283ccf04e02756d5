//! Passes by name, and by tier.

use std::sync::OnceLock;

use super::{DEFAULT, EXACT, LOSSY, Pass};
use crate::base::choice::nearest;

/// The tier of a list of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tier {
    /// They run by default.
    Default,
    /// Every output of the model remains the same, bit for bit.
    Exact,
    /// The results change.
    Lossy,
    /// They are of another crate, whose command added them.
    Added,
}

impl Tier {
    /// All tiers.
    pub const ALL: [Tier; 4] = [Tier::Default, Tier::Exact, Tier::Lossy, Tier::Added];

    /// The name that selects the passes; those of the last tier are selected one by one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tier::Default => "default",
            Tier::Exact => "exact",
            Tier::Lossy => "lossy",
            Tier::Added => "added",
        }
    }

    /// Its passes, in the order in which they run.
    #[must_use]
    pub fn passes(self) -> &'static [&'static dyn Pass] {
        match self {
            Tier::Default => DEFAULT,
            Tier::Exact => EXACT,
            Tier::Lossy => LOSSY,
            Tier::Added => ADDED.get().map_or(&[], Vec::as_slice),
        }
    }
}

static ADDED: OnceLock<Vec<&'static dyn Pass>> = OnceLock::new();

/// Adds passes for the rest of the process. Only the first call has an effect.
#[cfg(feature = "cli")]
pub(crate) fn add(passes: Vec<Box<dyn Pass>>) {
    ADDED.get_or_init(|| {
        let kept = |pass| -> &'static dyn Pass { Box::leak(pass) };
        passes.into_iter().map(kept).collect()
    });
}

/// The names of tiers in a list of passes.
const TIERS: [&str; 2] = ["default", "exact"];

/// A name that is not that of a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown pass '{name}'; {meant}available passes: {available}; `default` and `exact` select the passes of a tier"
)]
pub struct UnknownPass {
    name: String,
    /// The name that was probably meant, as a question.
    meant: String,
    available: String,
}

/// All passes with their tiers, in the order in which they run.
pub fn all() -> impl Iterator<Item = (Tier, &'static dyn Pass)> {
    Tier::ALL
        .into_iter()
        .flat_map(|tier| tier.passes().iter().map(move |pass| (tier, *pass)))
}

/// The pass with a name.
///
/// # Errors
/// If no pass has the name; the error lists the names.
pub fn named(name: &str) -> Result<&'static dyn Pass, UnknownPass> {
    let known = all()
        .find(|(_, pass)| pass.name() == name)
        .map(|(_, pass)| pass);
    known.ok_or_else(|| UnknownPass {
        name: name.to_owned(),
        meant: nearest(name, all().map(|(_, pass)| pass.name()).chain(TIERS))
            .map(|meant| format!("did you mean {meant}? "))
            .unwrap_or_default(),
        available: all()
            .map(|(_, pass)| pass.name())
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// The passes of a list of names, in its order. `default` and `exact` (or `all-exact`) are all
/// passes of a tier.
///
/// # Errors
/// If a name is not that of a pass or tier.
pub fn selected<'n>(
    names: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<&'static dyn Pass>, UnknownPass> {
    let mut passes = Vec::new();
    for name in names {
        match name {
            "default" => passes.extend_from_slice(DEFAULT),
            "exact" | "all-exact" => passes.extend_from_slice(EXACT),
            name => passes.push(named(name)?),
        }
    }
    Ok(passes)
}
