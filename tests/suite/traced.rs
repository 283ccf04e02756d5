//! Runs a command and decides about each of its system calls that concern files: let it happen,
//! fail it, or kill the process first.
//!
//! The kernel asks (seccomp's user notification, Linux 5.5 and later, without privileges); the
//! program under test is the one that users run, and knows nothing of it. A system that does not
//! allow this fails the test rather than skip it.
#![allow(unsafe_code)]

use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};

/// System calls and their numbers.
pub type Calls = &'static [(&'static str, libc::c_long)];

/// The system calls that open, change, name or ask about files. Those that do not exist on an
/// architecture are left out there.
const CALLS: Calls = &[
    ("openat", libc::SYS_openat),
    ("openat2", libc::SYS_openat2),
    ("linkat", libc::SYS_linkat),
    ("renameat2", libc::SYS_renameat2),
    ("unlinkat", libc::SYS_unlinkat),
    ("mkdirat", libc::SYS_mkdirat),
    ("symlinkat", libc::SYS_symlinkat),
    ("write", libc::SYS_write),
    ("pwrite64", libc::SYS_pwrite64),
    ("writev", libc::SYS_writev),
    ("copy_file_range", libc::SYS_copy_file_range),
    ("sendfile", libc::SYS_sendfile),
    ("ftruncate", libc::SYS_ftruncate),
    ("fallocate", libc::SYS_fallocate),
    ("sync_file_range", libc::SYS_sync_file_range),
    ("fsync", libc::SYS_fsync),
    ("fdatasync", libc::SYS_fdatasync),
    ("fchmod", libc::SYS_fchmod),
    ("fchmodat", libc::SYS_fchmodat),
    ("fchown", libc::SYS_fchown),
    ("fchownat", libc::SYS_fchownat),
    ("fsetxattr", libc::SYS_fsetxattr),
    ("fgetxattr", libc::SYS_fgetxattr),
    ("flistxattr", libc::SYS_flistxattr),
    ("flock", libc::SYS_flock),
    ("statx", libc::SYS_statx),
    ("fstat", libc::SYS_fstat),
    ("newfstatat", libc::SYS_newfstatat),
    ("readlinkat", libc::SYS_readlinkat),
    ("getdents64", libc::SYS_getdents64),
    #[cfg(target_arch = "x86_64")]
    ("open", libc::SYS_open),
    #[cfg(target_arch = "x86_64")]
    ("stat", libc::SYS_stat),
    #[cfg(target_arch = "x86_64")]
    ("lstat", libc::SYS_lstat),
    #[cfg(target_arch = "x86_64")]
    ("readlink", libc::SYS_readlink),
    #[cfg(target_arch = "x86_64")]
    ("link", libc::SYS_link),
    #[cfg(target_arch = "x86_64")]
    ("rename", libc::SYS_rename),
    #[cfg(target_arch = "x86_64")]
    ("unlink", libc::SYS_unlink),
    #[cfg(target_arch = "x86_64")]
    ("mkdir", libc::SYS_mkdir),
    #[cfg(target_arch = "x86_64")]
    ("chmod", libc::SYS_chmod),
    #[cfg(target_arch = "x86_64")]
    ("chown", libc::SYS_chown),
    // What an older kernel or another library uses instead of renameat2.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    ("renameat", libc::SYS_renameat),
];

/// A system call that waits for a decision.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    id: u64,
    pub name: &'static str,
    arguments: [u64; 6],
}

impl Call {
    /// Whether a save begins with it: the first file that is made for writing.
    pub fn makes_a_file(&self) -> bool {
        self.makes_an_unnamed_file() || self.creates()
    }

    pub fn makes_an_unnamed_file(&self) -> bool {
        self.name == "openat" && self.arguments[2] as i32 & libc::O_TMPFILE == libc::O_TMPFILE
    }

    fn creates(&self) -> bool {
        self.name == "openat" && self.arguments[2] as i32 & libc::O_CREAT != 0
    }

    /// Whether it changes files or names, rather than look at them.
    pub fn changes(&self) -> bool {
        const LOOKS: [&str; 11] = [
            "fgetxattr",
            "flistxattr",
            "flock",
            "statx",
            "fstat",
            "newfstatat",
            "stat",
            "lstat",
            "readlink",
            "readlinkat",
            "getdents64",
        ];
        if self.name == "openat" {
            self.makes_a_file()
        } else {
            !LOOKS.contains(&self.name)
        }
    }

    /// Whether it gives a file a name.
    pub fn names(&self) -> bool {
        matches!(
            self.name,
            "link" | "linkat" | "rename" | "renameat" | "renameat2"
        )
    }

    /// Whether it does the same as another call, under this name or another one, such as `rename`
    /// and `renameat2`.
    pub fn is_like(&self, other: &Call) -> bool {
        let kind = |call: &Call| {
            call.name
                .trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches("at")
        };
        kind(self) == kind(other)
    }

    /// Whether it prints.
    pub fn prints(&self) -> bool {
        matches!(self.name, "write" | "writev" | "fstat") && self.arguments[0] <= 2
    }
}

/// A command that stops at each of some system calls: [`CALLS`], unless others are given.
pub struct Traced {
    child: Child,
    calls: Calls,
    listener: OwnedFd,
}

/// How a command ended.
pub struct Ended {
    pub status: ExitStatus,
    pub stderr: String,
}

impl Traced {
    pub fn spawn(mut command: Command) -> Traced {
        command.stdout(Stdio::null());
        Traced::at(CALLS, command)
    }

    /// A command that stops at these calls, and whose output goes where the command says.
    pub fn at(calls: Calls, mut command: Command) -> Traced {
        let (ours, theirs) = sockets();
        let filter = filter(calls);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let socket = theirs.as_raw_fd();
        // SAFETY: Between fork and exec only system calls are made, and nothing is allocated: the
        // filter exists already.
        unsafe { command.pre_exec(move || send(socket, install(&filter)?)) };
        let child = command
            .spawn()
            .expect("this system lets a process filter its system calls (seccomp)");
        drop(theirs);
        Traced {
            child,
            calls,
            listener: receive(ours.as_raw_fd()),
        }
    }

    /// The next call; none once the process has ended.
    pub fn next(&self) -> Option<Call> {
        loop {
            let mut poll = libc::pollfd {
                fd: self.listener.as_raw_fd(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: One valid structure is passed.
            let ready = unsafe { libc::poll(&raw mut poll, 1, -1) };
            if ready < 0 {
                continue;
            }
            if poll.revents & libc::POLLIN == 0 {
                return None;
            }
            // SAFETY: The structure is plain data, which the kernel wants to be zero.
            let mut notif: libc::seccomp_notif = unsafe { std::mem::zeroed() };
            // SAFETY: The listener is one, and the structure the one that this request fills.
            let result = unsafe {
                libc::ioctl(
                    self.listener.as_raw_fd(),
                    libc::SECCOMP_IOCTL_NOTIF_RECV,
                    &raw mut notif,
                )
            };
            if result < 0 {
                continue; // The thread died meanwhile, or a signal came.
            }
            let number = libc::c_long::from(notif.data.nr);
            let name = self
                .calls
                .iter()
                .find(|(_, call)| *call == number)
                .map_or("?", |(name, _)| name);
            return Some(Call {
                id: notif.id,
                name,
                arguments: notif.data.args,
            });
        }
    }

    /// Lets a call happen.
    pub fn allow(&self, call: Call) {
        self.answer(call, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    /// Lets a call fail, without that it happens.
    pub fn fail(&self, call: Call, errno: i32) {
        self.answer(call, 0, -errno, 0);
    }

    /// Gives a call a result, without that it happens.
    pub fn give(&self, call: Call, result: u32) {
        self.answer(call, result.into(), 0, 0);
    }

    fn answer(&self, call: Call, val: i64, error: i32, flags: u32) {
        let mut answer = libc::seccomp_notif_resp {
            id: call.id,
            val,
            error,
            flags,
        };
        // SAFETY: The listener is one, and the structure the one that this request reads. A thread
        // that died is no error.
        unsafe {
            libc::ioctl(
                self.listener.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &raw mut answer,
            )
        };
    }

    /// Ends the process at once, as a power failure would.
    pub fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.end()
    }

    /// Lets every further call happen.
    pub fn finish(self) -> Ended {
        while let Some(call) = self.next() {
            self.allow(call);
        }
        self.end()
    }

    fn end(mut self) -> Ended {
        let mut stderr = String::new();
        self.child
            .stderr
            .as_mut()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        Ended {
            status: self.child.wait().unwrap(),
            stderr,
        }
    }
}

fn filter(calls: Calls) -> Vec<libc::sock_filter> {
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    };
    let mut filter = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (index, (_, call)) in calls.iter().enumerate() {
        // Over the calls after this one and the answer that allows, to the one that asks.
        let distance = (calls.len() - index) as u8;
        filter.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            distance,
            0,
            *call as u32,
        ));
    }
    filter.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_ALLOW,
    ));
    filter.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    filter
}

fn install(filter: &[libc::sock_filter]) -> std::io::Result<RawFd> {
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_ptr().cast_mut(),
    };
    let (mode, flag) = (
        libc::SECCOMP_SET_MODE_FILTER,
        libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
    );
    // SAFETY: The calls take plain numbers and a valid program that outlives them.
    let listener = unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        libc::syscall(libc::SYS_seccomp, mode, flag, &raw const program)
    };
    if listener < 0 {
        Err(std::io::Error::last_os_error())
    } else {
        Ok(listener as RawFd)
    }
}

fn sockets() -> (OwnedFd, OwnedFd) {
    let mut pair = [0; 2];
    // SAFETY: The array has room for the two descriptors, which belong to nothing else yet.
    unsafe {
        assert_eq!(
            libc::socketpair(
                libc::AF_UNIX,
                libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
                0,
                pair.as_mut_ptr()
            ),
            0
        );
        (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1]))
    }
}

const ROOM: usize = 64;

/// Sends a descriptor to the other end of a socket.
fn send(socket: RawFd, fd: RawFd) -> std::io::Result<()> {
    let (mut byte, mut room) = (0_u8, [0_u64; ROOM / 8]);
    let mut io = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: The message points to live memory of the lengths it says; a control message of one
    // descriptor fits into the room.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (&raw mut io, 1);
        (message.msg_control, message.msg_controllen) =
            (room.as_mut_ptr().cast(), libc::CMSG_SPACE(4) as _);
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        ((*head).cmsg_level, (*head).cmsg_type) = (libc::SOL_SOCKET, libc::SCM_RIGHTS);
        (*head).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(head).cast::<RawFd>().write_unaligned(fd);
        libc::sendmsg(socket, &raw const message, 0)
    };
    if sent == 1 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

fn receive(socket: RawFd) -> OwnedFd {
    let (mut byte, mut room) = (0_u8, [0_u64; ROOM / 8]);
    let mut io = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // SAFETY: As for sending; the descriptor that arrives belongs to nothing else yet.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (&raw mut io, 1);
        (message.msg_control, message.msg_controllen) = (room.as_mut_ptr().cast(), ROOM as _);
        assert_eq!(
            libc::recvmsg(socket, &raw mut message, libc::MSG_CMSG_CLOEXEC),
            1
        );
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        assert!(!head.is_null(), "a descriptor arrives");
        OwnedFd::from_raw_fd(libc::CMSG_DATA(head).cast::<RawFd>().read_unaligned())
    }
}
