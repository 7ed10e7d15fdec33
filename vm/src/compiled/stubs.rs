//! The crossings between compiled code and the rest, in machine language: the only place that knows registers.
//!
//! Compiled code follows the System V convention: `fn(context, depth, arguments …) -> result`. The depth is how many more calls may
//! nest; results are in `rax`, floats as their bits, zero for nothing. Frame pointers are kept, so that frames can be
//! walked from `rbp`.
//!
//! * **Into compiled code** ([`enter_compiled`]): arguments from memory into registers. Its return address,
//!   [`enter_return`], marks the frame below which the interpreter stands.
//! * **A method without code** is called through its thunk ([`thunk`]), which puts the method into `r10` and goes to
//!   [`interpret_stub`]: that saves the argument registers, and lets the interpreter run the method.
//! * **A method that is listened to** is called through its [`listener`], which does the same with [`listen_stub`]: that tells the
//!   profiler and goes on to the code, with the arguments as they were.
//! * **Slow paths** of yieldpoints, allocation and barriers preserve every register, so that compiled code needs to save none.
//! * **Leaving** works by exchanging the return address of a compiled frame, after which that frame returns as usual: to the
//!   caller's landing pad when an error is on its way, or to [`continue_stub`], which goes on in the interpreter
//!   in the name of the frame that has gone.

#![cfg(target_arch = "x86_64")]

use crate::context::{Context, control};
use crate::loader::Method;
use crate::profiling::PathTableCells;
use holloway_profilers::schedule::YieldKind;
use holloway_profilers::stream::TableAddress;
use std::arch::{global_asm, naked_asm};

/// Integer arguments that go in registers, the context and the depth included.
pub const INTEGER_REGISTERS: usize = 6;
/// Float arguments that go in registers.
pub const FLOAT_REGISTERS: usize = 8;

/// The arguments of a call into compiled code.
#[repr(C)]
pub struct Arguments {
    /// The first integer arguments: context, depth, ….
    pub integers: [u64; INTEGER_REGISTERS],
    /// The first float arguments.
    pub floats: [f64; FLOAT_REGISTERS],
    /// All that are left, in order.
    pub stack: *const u64,
    /// How many; even, so that the stack stays aligned (one more word does no harm).
    pub stack_words: usize,
}

impl Arguments {
    /// No arguments.
    pub const NONE: Arguments = Arguments {
        integers: [0; INTEGER_REGISTERS],
        floats: [0.0; FLOAT_REGISTERS],
        stack: std::ptr::null(),
        stack_words: 0,
    };
}

global_asm!(
    ".hidden holloway_enter_compiled",
    ".globl holloway_enter_compiled",
    ".hidden holloway_enter_return",
    ".globl holloway_enter_return",
    "holloway_enter_compiled:",
    // rdi: the code, rsi: the arguments.
    "push rbp",
    "mov rbp, rsp",
    "mov rax, rdi",
    "mov r11, rsi",
    "mov rcx, [r11 + 120]",
    "mov r10, [r11 + 112]",
    "2: test rcx, rcx",
    "jz 3f",
    "push qword ptr [r10 + rcx * 8 - 8]",
    "dec rcx",
    "jmp 2b",
    "3:",
    "mov rdi, [r11]",
    "mov rsi, [r11 + 8]",
    "mov rdx, [r11 + 16]",
    "mov rcx, [r11 + 24]",
    "mov r8, [r11 + 32]",
    "mov r9, [r11 + 40]",
    "movsd xmm0, [r11 + 48]",
    "movsd xmm1, [r11 + 56]",
    "movsd xmm2, [r11 + 64]",
    "movsd xmm3, [r11 + 72]",
    "movsd xmm4, [r11 + 80]",
    "movsd xmm5, [r11 + 88]",
    "movsd xmm6, [r11 + 96]",
    "movsd xmm7, [r11 + 104]",
    "call rax",
    "holloway_enter_return:",
    "mov rsp, rbp",
    "pop rbp",
    "ret",
);

unsafe extern "C" {
    #[link_name = "holloway_enter_compiled"]
    fn enter_compiled_raw(code: *const u8, arguments: *const Arguments) -> u64;
    #[link_name = "holloway_enter_return"]
    static ENTER_RETURN: u8;
}

/// Calls compiled code.
///
/// # Safety
/// `code` is the entry of installed, valid code, and the arguments are those of its signature.
pub unsafe fn enter_compiled(code: *const u8, arguments: &Arguments) -> u64 {
    // SAFETY: by the caller's promise.
    unsafe { enter_compiled_raw(code, arguments) }
}

/// The return address of code that [`enter_compiled`] called.
pub fn enter_return() -> *const u8 {
    &raw const ENTER_RETURN
}

/// What [`interpret_stub`] saves.
#[repr(C)]
pub struct Saved {
    /// Integer argument registers.
    pub integers: [u64; INTEGER_REGISTERS],
    /// Float argument registers.
    pub floats: [u64; FLOAT_REGISTERS],
}

/// A frame with the arguments of this call, as [`Saved`] has them.
macro_rules! save_arguments {
    () => {
        concat!(
            "push rbp\n",
            "mov rbp, rsp\n",
            "sub rsp, 112\n",
            "mov [rsp], rdi\n",
            "mov [rsp + 8], rsi\n",
            "mov [rsp + 16], rdx\n",
            "mov [rsp + 24], rcx\n",
            "mov [rsp + 32], r8\n",
            "mov [rsp + 40], r9\n",
            "movsd [rsp + 48], xmm0\n",
            "movsd [rsp + 56], xmm1\n",
            "movsd [rsp + 64], xmm2\n",
            "movsd [rsp + 72], xmm3\n",
            "movsd [rsp + 80], xmm4\n",
            "movsd [rsp + 88], xmm5\n",
            "movsd [rsp + 96], xmm6\n",
            "movsd [rsp + 104], xmm7\n",
        )
    };
}

/// Runs the method in `r10` in the interpreter, with the arguments of this call.
#[unsafe(naked)]
pub unsafe extern "C" fn interpret_stub() {
    naked_asm!(
        save_arguments!(),
        "mov rdi, r10",
        "mov rsi, rsp",
        "lea rdx, [rbp + 16]",
        "mov rcx, rbp",
        "call {interpret}",
        "mov rsp, rbp",
        "pop rbp",
        "ret",
        interpret = sym super::enter::interpret_from_compiled,
    )
}

/// Tells the profiler that the method in `r10` is entered, and goes on to its code as if it had been called there.
#[unsafe(naked)]
pub unsafe extern "C" fn listen_stub() {
    naked_asm!(
        save_arguments!(),
        "mov rsi, r10",
        "mov rdx, rbp",
        "call {listen}",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movsd xmm0, [rsp + 48]",
        "movsd xmm1, [rsp + 56]",
        "movsd xmm2, [rsp + 64]",
        "movsd xmm3, [rsp + 72]",
        "movsd xmm4, [rsp + 80]",
        "movsd xmm5, [rsp + 88]",
        "movsd xmm6, [rsp + 96]",
        "movsd xmm7, [rsp + 104]",
        "mov rsp, rbp",
        "pop rbp",
        "jmp rax",
        listen = sym super::helpers::listen,
    )
}

/// Stubs around helpers that preserve all registers, so that compiled code needs to save none on their account. Arguments are passed on;
/// the fourth is the caller's frame pointer. Results go through the context.
macro_rules! preserving {
    ($($(#[$doc:meta])* $stub:ident => $helper:path;)*) => {$(
        $(#[$doc])*
        #[unsafe(naked)]
        pub unsafe extern "C" fn $stub() {
            naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "push rax",
                "push rcx",
                "push rdx",
                "push rsi",
                "push rdi",
                "push r8",
                "push r9",
                "push r10",
                "push r11",
                "sub rsp, 264",
                "movups [rsp], xmm0",
                "movups [rsp + 16], xmm1",
                "movups [rsp + 32], xmm2",
                "movups [rsp + 48], xmm3",
                "movups [rsp + 64], xmm4",
                "movups [rsp + 80], xmm5",
                "movups [rsp + 96], xmm6",
                "movups [rsp + 112], xmm7",
                "movups [rsp + 128], xmm8",
                "movups [rsp + 144], xmm9",
                "movups [rsp + 160], xmm10",
                "movups [rsp + 176], xmm11",
                "movups [rsp + 192], xmm12",
                "movups [rsp + 208], xmm13",
                "movups [rsp + 224], xmm14",
                "movups [rsp + 240], xmm15",
                "mov rcx, [rbp]",
                "call {helper}",
                "movups xmm0, [rsp]",
                "movups xmm1, [rsp + 16]",
                "movups xmm2, [rsp + 32]",
                "movups xmm3, [rsp + 48]",
                "movups xmm4, [rsp + 64]",
                "movups xmm5, [rsp + 80]",
                "movups xmm6, [rsp + 96]",
                "movups xmm7, [rsp + 112]",
                "movups xmm8, [rsp + 128]",
                "movups xmm9, [rsp + 144]",
                "movups xmm10, [rsp + 160]",
                "movups xmm11, [rsp + 176]",
                "movups xmm12, [rsp + 192]",
                "movups xmm13, [rsp + 208]",
                "movups xmm14, [rsp + 224]",
                "movups xmm15, [rsp + 240]",
                "add rsp, 264",
                "pop r11",
                "pop r10",
                "pop r9",
                "pop r8",
                "pop rdi",
                "pop rsi",
                "pop rdx",
                "pop rcx",
                "pop rax",
                "pop rbp",
                "ret",
                helper = sym $helper,
            )
        }
    )*};
}

preserving! {
    /// A yieldpoint that is taken, of the kind that the context says.
    yieldpoint_stub => super::helpers::yieldpoint;
    /// An allocation that does not fit its run.
    allocate_stub => super::helpers::allocate;
    /// An allocation of an array.
    allocate_array_stub => super::helpers::allocate_array;
    /// A store into an old object.
    remember_stub => super::helpers::remember;
    /// A store into an old array.
    remember_element_stub => super::helpers::remember_element;
    /// A native, where it is called seldom.
    native_stub => super::helpers::native_seldom;
    /// Two texts that are not the same object.
    same_text_stub => super::helpers::same_text;
    /// The end of a path that is not where [`count_path_stub`] looks.
    count_new_path_stub => crate::profiling::count_new_path;
    /// The end of a path that does not usually follow those before it.
    grow_forest_stub => crate::profiling::grow_forest;
    /// The end of a path where there is no yieldpoint.
    sample_path_stub => crate::profiling::sample_path;
    /// The beginning of a block of which the virtual machine is to hear.
    told_block_stub => crate::profiling::enter_block;
}

/// The yieldpoint of a loop that is taken.
#[unsafe(naked)]
pub unsafe extern "C" fn loop_stub() {
    naked_asm!(
        "mov dword ptr [rdi + {kind}], {header}",
        "jmp {slow}",
        kind = const std::mem::offset_of!(Context, kind),
        header = const YieldKind::Header as u32,
        slow = sym yieldpoint_stub,
    )
}

/// The yieldpoint of a method's entry that is taken. While calls are sampled and nothing else is to be done, most of them are only
/// counted down, which takes no more than this.
#[unsafe(naked)]
pub unsafe extern "C" fn prologue_stub() {
    naked_asm!(
        "cmp dword ptr [rdi + {control}], {calls}",
        "jne 2f",
        "dec dword ptr [rdi + {skips}]",
        "js 2f",
        "mov qword ptr [rdi + {leave}], 0",
        "ret",
        "2:",
        "mov dword ptr [rdi + {kind}], {prologue}",
        "jmp {slow}",
        control = const std::mem::offset_of!(Context, control),
        calls = const control::CALLS,
        skips = const std::mem::offset_of!(Context, skips),
        leave = const std::mem::offset_of!(Context, leave),
        kind = const std::mem::offset_of!(Context, kind),
        prologue = const YieldKind::Prologue as u32,
        slow = sym yieldpoint_stub,
    )
}

/// The yieldpoint of a method's exit that is taken: likewise, if anybody samples there; else there is nothing to do.
#[unsafe(naked)]
pub unsafe extern "C" fn epilogue_stub() {
    naked_asm!(
        "cmp dword ptr [rdi + {control}], {calls}",
        "jne 2f",
        "cmp dword ptr [rdi + {epilogues}], 0",
        "je 3f",
        "dec dword ptr [rdi + {skips}]",
        "js 2f",
        "3:",
        "mov qword ptr [rdi + {leave}], 0",
        "ret",
        "2:",
        "mov dword ptr [rdi + {kind}], {epilogue}",
        "jmp {slow}",
        control = const std::mem::offset_of!(Context, control),
        calls = const control::CALLS,
        epilogues = const std::mem::offset_of!(Context, epilogues),
        skips = const std::mem::offset_of!(Context, skips),
        leave = const std::mem::offset_of!(Context, leave),
        kind = const std::mem::offset_of!(Context, kind),
        epilogue = const YieldKind::Epilogue as u32,
        slow = sym yieldpoint_stub,
    )
}

/// The beginning of a block: those of a sample but its last are only noted, which takes no more than this.
#[unsafe(naked)]
pub unsafe extern "C" fn block_stub() {
    naked_asm!(
        // rdi: the context, rsi: the number of the block.
        "push rax",
        "mov eax, [rdi + {told}]",
        "cmp eax, [rdi + {room}]",
        "jae 2f",
        "mov [rdi + rax * 4 + {sampled}], esi",
        "inc dword ptr [rdi + {told}]",
        "mov qword ptr [rdi + {left}], 1",
        "pop rax",
        "ret",
        "2:",
        "pop rax",
        "jmp {slow}",
        told = const std::mem::offset_of!(Context, blocks.told),
        room = const std::mem::offset_of!(Context, blocks.room),
        sampled = const std::mem::offset_of!(Context, blocks.sampled),
        left = const std::mem::offset_of!(Context, blocks.left),
        slow = sym told_block_stub,
    )
}

/// Counts a path in a hash table, like the stubs above, but called so often that it does the frequent thing itself: the slot where the
/// number is looked for first has it already.
#[unsafe(naked)]
pub unsafe extern "C" fn count_path_stub() {
    naked_asm!(
        // rdi: the context, rsi: where the cells are among the counters, rdx: the number.
        "push rax",
        "push rcx",
        "push rsi",
        "add rsi, [rdi + {counters}]",
        "movabs rax, {golden}",
        "imul rax, rdx",
        "mov rcx, [rsi + {shift}]",
        "shr rax, cl",
        "shl rax, 4",
        "add rax, [rsi + {slots}]",
        "cmp [rax], rdx",
        "jne 2f",
        "cmp qword ptr [rax + 8], 0",
        "je 2f",
        "inc qword ptr [rax + 8]",
        "pop rsi",
        "pop rcx",
        "pop rax",
        "ret",
        "2:",
        "call {slow}",
        "pop rsi",
        "pop rcx",
        "pop rax",
        "ret",
        counters = const std::mem::offset_of!(Context, counters),
        slots = const std::mem::offset_of!(PathTableCells, slots),
        shift = const std::mem::offset_of!(PathTableCells, shift),
        golden = const TableAddress::GOLDEN,
        slow = sym count_new_path_stub,
    )
}

/// Counts the class of a receiver in the inline cache of its site: the entry that has it, the first that is empty, or what is lost.
#[unsafe(naked)]
pub unsafe extern "C" fn count_cached_stub() {
    naked_asm!(
        // rdi: the context, rsi: where the cache is among the counters, rdx: the class, and in the high half the number of entries.
        "push rax",
        "push rcx",
        "push rsi",
        "add rsi, [rdi + {counters}]",
        "mov rcx, rdx",
        "shr rcx, 32",
        "mov eax, edx",
        "push rsi",
        "add rsi, 8",
        "2:",
        "cmp qword ptr [rsi + 8], 0",
        "je 3f",
        "cmp [rsi], rax",
        "je 4f",
        "add rsi, 16",
        "dec rcx",
        "jnz 2b",
        "mov rsi, [rsp]",
        "inc qword ptr [rsi]",
        "jmp 5f",
        "3:",
        "mov [rsi], rax",
        "4:",
        "inc qword ptr [rsi + 8]",
        "5:",
        "add rsp, 8",
        "pop rsi",
        "pop rcx",
        "pop rax",
        "ret",
        counters = const std::mem::offset_of!(Context, counters),
    )
}

/// Where a frame returns to that is to go on in the interpreter: with the context in `rax`, and its real return address
/// in the context.
#[unsafe(naked)]
pub unsafe extern "C" fn continue_stub() {
    naked_asm!(
        "push qword ptr [rax + {continue_at}]",
        "push rbp",
        "mov rbp, rsp",
        "mov rdi, rax",
        "mov rsi, rbp",
        "call {resume}",
        "pop rbp",
        "ret",
        continue_at = const std::mem::offset_of!(Context, continue_at),
        resume = sym super::leave::resume_from_compiled,
    )
}

/// Bytes of a thunk.
pub const THUNK: usize = 32;

/// The thunk of a method: puts it into `r10` and goes to [`interpret_stub`].
pub fn thunk(method: *const Method) -> [u8; THUNK] {
    with_method(method, interpret_stub as *const () as u64)
}

/// The listener of a method: puts it into `r10` and goes to [`listen_stub`].
pub fn listener(method: *const Method) -> [u8; THUNK] {
    with_method(method, listen_stub as *const () as u64)
}

fn with_method(method: *const Method, stub: u64) -> [u8; THUNK] {
    let mut bytes = [0xcc; THUNK];
    bytes[0..2].copy_from_slice(&[0x49, 0xba]);
    bytes[2..10].copy_from_slice(&(method as u64).to_le_bytes());
    bytes[10..12].copy_from_slice(&[0x49, 0xbb]);
    bytes[12..20].copy_from_slice(&stub.to_le_bytes());
    bytes[20..23].copy_from_slice(&[0x41, 0xff, 0xe3]);
    bytes
}
