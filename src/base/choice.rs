//! Options that are chosen by name, on the command line and in the bindings.

pub use onnx_cast::UnknownName;
pub(crate) use onnx_cast::choice;

/// How alike two names are at least, for one to be suggested in place of the other.
const ALIKE: f64 = 0.85;

/// The name that is most like an unknown one; letter case is ignored.
pub fn nearest<'n>(unknown: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let unknown = unknown.to_ascii_lowercase();
    let alike = |name: &'n str| {
        (
            strsim::jaro_winkler(&unknown, &name.to_ascii_lowercase()),
            name,
        )
    };
    let most = known
        .into_iter()
        .map(alike)
        .max_by(|left, right| left.0.total_cmp(&right.0));
    most.filter(|(alike, _)| *alike >= ALIKE)
        .map(|(_, name)| name)
}
