//! The memory limit of a run, and the message if it needs more.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::failures::OnError;
use crate::base::memory_message::{self, MemoryMessage};
use crate::process;
use crate::report::plural;
use crate::{Error, ErrorKind};

/// The limit of the run, and where its errors go.
static LIMIT: OnceLock<(u64, OnError)> = OnceLock::new();

/// Sets the limit of the run; none for the default.
pub fn set_limit(bytes: Option<u64>, on_error: OnError) {
    let (bytes, _) = *LIMIT.get_or_init(|| (bytes.unwrap_or_else(default_limit), on_error));
    set_memory_messages(None);
    process::set_memory_limit(bytes);
}

/// Prepares what is said if this thread needs more memory from now on; `path` is the input that it
/// works on.
pub fn set_memory_messages(path: Option<&str>) {
    let Some(&(bytes, on_error)) = LIMIT.get() else {
        return;
    };
    let words = |what: &str| {
        let error = Error::new(ErrorKind::MemoryLimit, what);
        let error = if let Some(path) = path {
            error.in_file(path)
        } else {
            error
        };
        let (text, document) = on_error.words(error);
        // Never freed: they may be needed at any time until the end.
        MemoryMessage {
            text: text.leak(),
            document: document.leak(),
        }
    };
    let limit = if bytes < 1 << 20 {
        plural(bytes as usize, "byte")
    } else {
        format!("{} MiB", bytes >> 20)
    };
    let limit =
        format!("needs more memory than the limit of {limit}; raise it with --max-memory BYTES");
    memory_message::set_memory_messages(words(&limit), words("the system has no memory left"));
}

/// The upper bound of the default limit; more than any model needs.
const MOST: u64 = 8 << 30;

/// The smaller of 8 GiB and three quarters of the available memory.
fn default_limit() -> u64 {
    let files =
        limit_files(&fs::read_to_string("/proc/self/cgroup").unwrap_or_default()).into_iter();
    let limits = files.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok());
    let available = available(&fs::read_to_string("/proc/meminfo").unwrap_or_default());
    limits
        .chain(available)
        .map(|bytes: u64| bytes / 4 * 3)
        .fold(MOST, u64::min)
}

/// `MemAvailable` of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim()
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// The files that may limit this process: those of its control group and of the parent groups.
/// Parses `/proc/self/cgroup`: a line `0::PATH` for version 2, a line `N:CONTROLLERS:PATH` for each
/// hierarchy of version 1. In a container, the path may be relative to the host; the root group
/// visible in the container is its own.
fn limit_files(cgroup: &str) -> Vec<PathBuf> {
    let groups = cgroup.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers
                .split(',')
                .any(|controller| controller == "memory") =>
            {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => return None,
        };
        Some((root, path.trim_start_matches('/'), file))
    });
    groups
        .flat_map(|(root, path, file)| {
            Path::new(path)
                .ancestors()
                .map(move |group| Path::new(root).join(group).join(file))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_the_group_and_its_parents() {
        let cases = [
            ("0::/\n", vec!["/sys/fs/cgroup/memory.max"]),
            (
                "0::/a/b\n",
                vec![
                    "/sys/fs/cgroup/a/b/memory.max",
                    "/sys/fs/cgroup/a/memory.max",
                    "/sys/fs/cgroup/memory.max",
                ],
            ),
            (
                "4:cpu,memory:/a\n1:name=systemd:/b\n",
                vec![
                    "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                ],
            ),
            ("", vec![]),
        ];
        for (text, files) in cases {
            assert_eq!(
                limit_files(text),
                files.into_iter().map(PathBuf::from).collect::<Vec<_>>(),
                "{text}"
            );
        }
    }

    #[test]
    fn available_memory_is_in_bytes() {
        assert_eq!(
            available("MemTotal:  9 kB\nMemAvailable:    2048 kB\n"),
            Some(2 << 20)
        );
        assert_eq!(available("MemTotal:  9 kB\n"), None);
    }
}
