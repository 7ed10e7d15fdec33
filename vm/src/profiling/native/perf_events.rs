//! The processor's own branch records, by Linux's `perf_event_open`: each time that the calling system thread has executed so many
//! branches, the kernel copies them into a ring of memory that it shares with us.
//!
//! This is all that is unsafe about it: a system call, a mapping, two positions that the kernel and we tell each other. What the bytes
//! mean [`super::records`] says.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of the ring: a power of two. 1 MiB holds 1300 samples of 32 branches.
const RING: usize = 1 << 20;
/// Where the kernel says how far it has written, and we how far we have read.
const HEAD: usize = 1024;
/// See [`HEAD`].
const TAIL: usize = 1032;

/// `PERF_TYPE_HARDWARE`.
const HARDWARE: u32 = 0;
/// `PERF_COUNT_HW_BRANCH_INSTRUCTIONS`.
const BRANCHES: u64 = 4;
/// `PERF_COUNT_HW_CPU_CYCLES`.
const CYCLES: u64 = 0;
/// `PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK`.
const WHAT: u64 = 1 | 1 << 11;
/// `PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY`.
const TAKEN: u64 = 1 | 1 << 3;
/// `exclude_kernel` and `exclude_hv`.
const USER_ONLY: u64 = 1 << 5 | 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 1 << 3;

/// The kernel's `perf_event_attr`, as of its fifth version, which all kernels since 2016 understand.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    what: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
}

/// Why there are no records.
#[derive(Debug)]
pub enum Refused {
    /// The kernel does not have the call, or a filter forbids it.
    Forbidden(std::io::Error),
    /// There is no counter of this kind.
    NoCounter(std::io::Error),
    /// The processor, or who pretends to be one, keeps no branches.
    NoBranches(std::io::Error),
    /// The ring cannot be mapped.
    NoMemory(std::io::Error),
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refused::Forbidden(error) => write!(
                f,
                "the kernel forbids it ({error}): kernel.perf_event_paranoid must be at most 2, and filters of \
                 containers must let perf_event_open pass"
            ),
            Refused::NoCounter(error) => write!(
                f,
                "there are no performance counters ({error}): a virtual machine must be given them by its host"
            ),
            Refused::NoBranches(error) => write!(
                f,
                "the processor keeps no records of branches ({error}): it must be one with LBR or BRS that is not \
                 hidden by a virtual machine"
            ),
            Refused::NoMemory(error) => {
                write!(f, "its buffer cannot be mapped ({error}): kernel.perf_event_mlock_kb may be too low")
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn open(event: u64, period: u64, branches: bool) -> std::io::Result<libc::c_int> {
    let attributes = Attributes {
        kind: HARDWARE,
        size: size_of::<Attributes>() as u32,
        config: event,
        period,
        what: if branches { WHAT } else { 1 },
        flags: USER_ONLY,
        branches: if branches { TAKEN } else { 0 },
        ..Attributes::default()
    };
    // SAFETY: the kernel reads a live value of the size that it says, and gives a number. This thread, on any processor.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0 as libc::pid_t,
            -1 as libc::c_int,
            -1 as libc::c_int,
            CLOSE_ON_EXEC,
        )
    };
    if file < 0 { Err(std::io::Error::last_os_error()) } else { Ok(file as libc::c_int) }
}

#[cfg(not(target_os = "linux"))]
fn open(_: u64, _: u64, _: bool) -> std::io::Result<libc::c_int> {
    Err(std::io::Error::from_raw_os_error(libc::ENOSYS))
}

/// Are there counters of events, without branches.
pub fn counters() -> Result<(), Refused> {
    match open(CYCLES, 1 << 40, false) {
        // SAFETY: the file was just opened, and nobody else knows it.
        Ok(file) => drop(unsafe { libc::close(file) }),
        Err(error) => return Err(refused(error)),
    }
    Ok(())
}

fn refused(error: std::io::Error) -> Refused {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::ENOSYS) => Refused::Forbidden(error),
        _ => Refused::NoCounter(error),
    }
}

/// The records of the thread that made this.
#[derive(Debug)]
pub struct BranchRecords {
    file: libc::c_int,
    map: *mut u8,
    page: usize,
}

// SAFETY: the mapping and the file belong to the process; only the counting is bound to the thread.
unsafe impl Send for BranchRecords {}

impl BranchRecords {
    /// Begins to record: a sample every `period` branches.
    pub fn open(period: u64) -> Result<BranchRecords, Refused> {
        let file = open(BRANCHES, period, true).map_err(|error| match counters() {
            Ok(()) => Refused::NoBranches(error),
            Err(refused) => refused,
        })?;
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096);
        let (access, shared) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED);
        // SAFETY: a new mapping, wherever the kernel has room.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), page + RING, access, shared, file, 0) };
        if map == libc::MAP_FAILED {
            let error = std::io::Error::last_os_error();
            // SAFETY: nobody else knows the file.
            unsafe { libc::close(file) };
            return Err(Refused::NoMemory(error));
        }
        Ok(BranchRecords { file, map: map.cast(), page })
    }

    fn position(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page of the mapping is the kernel's control page, which has an aligned word there; it lives as long as `self`.
        unsafe { &*self.map.add(offset).cast::<AtomicU64>() }
    }

    /// All that was written since this was asked last.
    pub fn take(&mut self) -> Vec<u8> {
        let head = self.position(HEAD).load(Ordering::Acquire);
        let tail = self.position(TAIL).load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0).min(RING);
        let mut bytes = Vec::with_capacity(length);
        for at in 0..length {
            let at = (tail as usize).wrapping_add(at) % RING;
            // SAFETY: the ring follows the first page, and the kernel does not write what lies between tail and head.
            bytes.push(unsafe { self.map.add(self.page + at).read() });
        }
        self.position(TAIL).store(head, Ordering::Release);
        bytes
    }
}

impl Drop for BranchRecords {
    fn drop(&mut self) {
        // SAFETY: both are ours, and nothing refers to them any more.
        unsafe {
            libc::munmap(self.map.cast(), self.page + RING);
            libc::close(self.file);
        }
    }
}
