//! Which change of the source this process runs with: the number in the variable MUTANT, or none.
//!
//! With MUTANTS_REACHED, a file, the numbers of all changes whose place is reached are added to it.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static CHOSEN: OnceLock<u32> = OnceLock::new();
static LIST: OnceLock<Option<PathBuf>> = OnceLock::new();
static REACHED: [AtomicBool; 1 << 14] = [const { AtomicBool::new(false) }; 1 << 14];

/// Whether this process runs with a change.
pub fn is(number: u32) -> bool {
    let chosen = *CHOSEN.get_or_init(|| std::env::var("MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(0));
    if let Some(list) = LIST.get_or_init(|| std::env::var_os("MUTANTS_REACHED").map(PathBuf::from))
        && !REACHED[number as usize].swap(true, Relaxed)
        && let Ok(mut file) = OpenOptions::new().append(true).open(list)
    {
        let _ = file.write_all(format!("{number}\n").as_bytes());
    }
    chosen == number
}
