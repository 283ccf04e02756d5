//! Passes by name, and by tier.

use super::{DEFAULT, EXACT, LOSSY, Pass};

/// The tier of a list of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// They run by default.
    Default,
    /// Every output of the model remains the same, bit for bit.
    Exact,
    /// The results change.
    Lossy,
}

impl Tier {
    /// The name that selects the passes; those of the last tier are selected one by one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tier::Default => "default",
            Tier::Exact => "exact",
            Tier::Lossy => "lossy",
        }
    }

    /// Its passes, in the order in which they run.
    #[must_use]
    pub fn passes(self) -> &'static [Pass] {
        match self {
            Tier::Default => DEFAULT,
            Tier::Exact => EXACT,
            Tier::Lossy => LOSSY,
        }
    }
}

/// A name that is not that of a pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown pass '{name}'; available passes: {available}; `default` and `exact` select the passes of a tier"
)]
pub struct UnknownPass {
    name: String,
    available: String,
}

/// All passes of this crate with their tiers, in the order in which they run.
pub fn all() -> impl Iterator<Item = (Tier, &'static Pass)> {
    [Tier::Default, Tier::Exact, Tier::Lossy]
        .into_iter()
        .flat_map(|tier| tier.passes().iter().map(move |pass| (tier, pass)))
}

/// The pass of this crate with a name.
///
/// # Errors
/// If no pass has the name; the error lists the names.
pub fn named(name: &str) -> Result<Pass, UnknownPass> {
    let known = all()
        .find(|(_, pass)| pass.name == name)
        .map(|(_, pass)| *pass);
    known.ok_or_else(|| UnknownPass {
        name: name.to_owned(),
        available: all()
            .map(|(_, pass)| pass.name)
            .collect::<Vec<_>>()
            .join(", "),
    })
}

/// The passes of a list of names, in its order. `default` and `exact` (or `all-exact`) are all
/// passes of a tier.
///
/// # Errors
/// If a name is not that of a pass or tier.
pub fn selected<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Vec<Pass>, UnknownPass> {
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
