//! What each instruction does, once. Dispatchers generate their handlers from the opcode table and call the body with the
//! opcode's name; a body moves the machine on and says how to go on. Whatever is rare (errors, full runs, barriers that must
//! record) leaves to [`super::slow`], so that a body never calls anything that is not inlined: that is what lets the
//! compiler keep the machine in registers and turn the last call into a jump.
#![allow(non_snake_case)]

use super::machine::{Flow, Machine, Object, Slow};
use crate::loader::Method;

/// Bodies of the shape `a = f(b, c)` on integers, floats or anything else that `Machine` reads and writes.
macro_rules! binary {
    ($($name:ident: $read:ident $write:ident |$x:ident, $y:ident| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.$read(m.b()), m.$read(m.c()));
            m.$write(m.a(), $value);
            m.next(1)
        }
    )*};
}

/// Bodies of the shape `a = f(b, c, d)` on floats.
macro_rules! ternary {
    ($($name:ident |$x:ident, $y:ident, $z:ident| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(m: &mut Machine) -> Flow {
            let ($x, $y, $z) = (m.float(m.b()), m.float(m.c()), m.float(m.n()));
            m.set_float(m.a(), $value);
            m.next(1)
        }
    )*};
}

/// Bodies of the shape `a = f(b, constant)`.
macro_rules! immediate {
    ($($name:ident |$x:ident, $y:ident| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.int(m.b()), m.c_int());
            m.set_int(m.a(), $value);
            m.next(1)
        }
    )*};
}

/// Bodies of the shape `a = f(b)`.
macro_rules! unary {
    ($($name:ident: $read:ident $write:ident |$x:ident| $value:expr;)*) => {$(
        #[inline(always)]
        pub fn $name(m: &mut Machine) -> Flow {
            let $x = m.$read(m.b());
            m.$write(m.a(), $value);
            m.next(1)
        }
    )*};
}

/// A forward branch and its back edge, on two registers.
macro_rules! branches {
    ($($forward:ident $backward:ident: $read:ident |$x:ident, $y:ident| $condition:expr;)*) => {$(
        #[inline(always)]
        pub fn $forward(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.$read(m.a()), m.$read(m.b()));
            m.branch($condition)
        }
        #[inline(always)]
        pub fn $backward(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.$read(m.a()), m.$read(m.b()));
            m.loop_branch($condition)
        }
    )*};
}

/// The same on a register and a constant.
macro_rules! branches_immediate {
    ($($forward:ident $backward:ident |$x:ident, $y:ident| $condition:expr;)*) => {$(
        #[inline(always)]
        pub fn $forward(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.int(m.a()), m.b_int());
            m.branch($condition)
        }
        #[inline(always)]
        pub fn $backward(m: &mut Machine) -> Flow {
            let ($x, $y) = (m.int(m.a()), m.b_int());
            m.loop_branch($condition)
        }
    )*};
}

/// The same on one register.
macro_rules! branches_unary {
    ($($forward:ident $backward:ident |$x:ident| $condition:expr;)*) => {$(
        #[inline(always)]
        pub fn $forward(m: &mut Machine) -> Flow {
            let $x = m.bits(m.a());
            m.branch($condition)
        }
        #[inline(always)]
        pub fn $backward(m: &mut Machine) -> Flow {
            let $x = m.bits(m.a());
            m.loop_branch($condition)
        }
    )*};
}

/// Counted loops: step, compare, branch.
macro_rules! counted {
    ($($name:ident: $bound:ident |$m:ident| $limit:expr;)*) => {$(
        #[inline(always)]
        pub fn $name($m: &mut Machine) -> Flow {
            let $bound = $limit;
            let i = $m.int($m.a()).wrapping_add(1);
            $m.set_int($m.a(), i);
            $m.loop_branch(i < $bound)
        }
    )*};
}

/// Counted loops to an inclusive bound: compare before the step, so that nothing wraps.
macro_rules! counted_inclusive {
    ($($name:ident: $bound:ident |$m:ident| $limit:expr;)*) => {$(
        #[inline(always)]
        pub fn $name($m: &mut Machine) -> Flow {
            let $bound = $limit;
            let i = $m.int($m.a());
            if i < $bound {
                $m.set_int($m.a(), i + 1);
            }
            $m.loop_branch(i < $bound)
        }
    )*};
}

binary! {
    Add: int set_int |x, y| x.wrapping_add(y);
    Sub: int set_int |x, y| x.wrapping_sub(y);
    Mul: int set_int |x, y| x.wrapping_mul(y);
    And: int set_int |x, y| x & y;
    Or: int set_int |x, y| x | y;
    Xor: int set_int |x, y| x ^ y;
    Shl: int set_int |x, y| x.wrapping_shl(y as u32);
    Shr: int set_int |x, y| x.wrapping_shr(y as u32);
    Ushr: int set_int |x, y| (x as u64).wrapping_shr(y as u32) as i64;
    FAdd: float set_float |x, y| x + y;
    FSub: float set_float |x, y| x - y;
    FMul: float set_float |x, y| x * y;
    FDiv: float set_float |x, y| x / y;
    SetEq: bits set |x, y| (x == y) as u64;
    SetNe: bits set |x, y| (x != y) as u64;
    SetLt: int set |x, y| (x < y) as u64;
    SetLe: int set |x, y| (x <= y) as u64;
    FSetEq: float set |x, y| (x == y) as u64;
    FSetNe: float set |x, y| (x != y) as u64;
    FSetLt: float set |x, y| (x < y) as u64;
    FSetLe: float set |x, y| (x <= y) as u64;
    RSetEq: bits set |x, y| (x == y) as u64;
    RSetNe: bits set |x, y| (x != y) as u64;
    SSetEq: object set |x, y| x.same_text(y) as u64;
    SSetNe: object set |x, y| !x.same_text(y) as u64;
}

ternary! {
    FAddAdd |x, y, z| (x + y) + z;
    FAddSub |x, y, z| (x + y) - z;
    FAddMul |x, y, z| (x + y) * z;
    FSubAdd |x, y, z| (x - y) + z;
    FSubSub |x, y, z| (x - y) - z;
    FSubMul |x, y, z| (x - y) * z;
    FMulAdd |x, y, z| (x * y) + z;
    FMulSub |x, y, z| (x * y) - z;
    FMulMul |x, y, z| (x * y) * z;
    FMulRSub |x, y, z| z - (x * y);
}

immediate! {
    AddI |x, y| x.wrapping_add(y);
    RSubI |x, y| y.wrapping_sub(x);
    MulI |x, y| x.wrapping_mul(y);
    AndI |x, y| x & y;
    OrI |x, y| x | y;
    XorI |x, y| x ^ y;
    ShlI |x, y| x.wrapping_shl(y as u32);
    ShrI |x, y| x.wrapping_shr(y as u32);
    UshrI |x, y| (x as u64).wrapping_shr(y as u32) as i64;
}

unary! {
    Mov: bits set |x| x;
    FNeg: float set_float |x| -x;
    FAbs: float set_float |x| x.abs();
    FSqrt: float set_float |x| x.sqrt();
    IntToFloat: int set_float |x| x as f64;
    FloatToInt: float set_int |x| x as i64;
    Not: bits set |x| x ^ 1;
    SetNull: bits set |x| (x == 0) as u64;
    SetNonNull: bits set |x| (x != 0) as u64;
}

branches! {
    BrEq LoopEq: bits |x, y| x == y;
    BrNe LoopNe: bits |x, y| x != y;
    BrLt LoopLt: int |x, y| x < y;
    BrLe LoopLe: int |x, y| x <= y;
    FBrEq FLoopEq: float |x, y| x == y;
    FBrNe FLoopNe: float |x, y| x != y;
    FBrLt FLoopLt: float |x, y| x < y;
    FBrLe FLoopLe: float |x, y| x <= y;
    FBrNlt FLoopNlt: float |x, y| !matches!(x.partial_cmp(&y), Some(std::cmp::Ordering::Less));
    FBrNle FLoopNle: float |x, y| !matches!(x.partial_cmp(&y), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal));
    RBrEq RLoopEq: bits |x, y| x == y;
    RBrNe RLoopNe: bits |x, y| x != y;
    SBrEq SLoopEq: object |x, y| x.same_text(y);
    SBrNe SLoopNe: object |x, y| !x.same_text(y);
}

branches_immediate! {
    BrEqI LoopEqI |x, y| x == y;
    BrNeI LoopNeI |x, y| x != y;
    BrLtI LoopLtI |x, y| x < y;
    BrLeI LoopLeI |x, y| x <= y;
    BrGtI LoopGtI |x, y| x > y;
    BrGeI LoopGeI |x, y| x >= y;
}

branches_unary! {
    BrTrue LoopTrue |x| x != 0;
    BrFalse LoopFalse |x| x == 0;
    BrNull LoopNull |x| x == 0;
    BrNonNull LoopNonNull |x| x != 0;
}

counted! {
    ForLt: bound |m| m.int(m.b());
    ForLtI: bound |m| m.b_int();
}

counted_inclusive! {
    ForLe: bound |m| m.int(m.b());
    ForLeI: bound |m| m.b_int();
}

#[inline(always)]
pub fn LoadInt(m: &mut Machine) -> Flow {
    m.set_int(m.a(), m.bc() as i64);
    m.next(1)
}

#[inline(always)]
pub fn LoadBool(m: &mut Machine) -> Flow {
    m.set_int(m.a(), m.bc() as i64);
    m.next(1)
}

#[inline(always)]
pub fn LoadInt64(m: &mut Machine) -> Flow {
    m.set(m.a(), m.x());
    m.next(2)
}

#[inline(always)]
pub fn LoadFloat(m: &mut Machine) -> Flow {
    m.set(m.a(), m.x());
    m.next(2)
}

#[inline(always)]
pub fn LoadNull(m: &mut Machine) -> Flow {
    m.set(m.a(), 0);
    m.next(1)
}

#[inline(always)]
pub fn LoadString(m: &mut Machine) -> Flow {
    m.set_object(m.a(), m.string(m.bc() as usize));
    m.next(1)
}

#[inline(always)]
pub fn LoadGlobal(m: &mut Machine) -> Flow {
    m.set(m.a(), m.global(m.bc() as usize));
    m.next(1)
}

/// The form of `LoadGlobal` for globals of a non-null reference type.
#[inline(always)]
pub fn LoadGlobalSet(m: &mut Machine) -> Flow {
    let bits = m.global(m.bc() as usize);
    if bits == 0 {
        return Flow::Slow(Slow::Unset);
    }
    m.set(m.a(), bits);
    m.next(1)
}

#[inline(always)]
pub fn StoreGlobal(m: &mut Machine) -> Flow {
    m.set_global(m.bc() as usize, m.bits(m.a()));
    m.next(1)
}

#[inline(always)]
pub fn Div(m: &mut Machine) -> Flow {
    let (x, y) = (m.int(m.b()), m.int(m.c()));
    if y == 0 {
        return Flow::Slow(Slow::Division);
    }
    // The processor's 32-bit division is several times as fast.
    let quotient = if (x | y) as u64 >> 32 == 0 { (x as u32 / y as u32) as i64 } else { x.wrapping_div(y) };
    m.set_int(m.a(), quotient);
    m.next(1)
}

#[inline(always)]
pub fn Rem(m: &mut Machine) -> Flow {
    let (x, y) = (m.int(m.b()), m.int(m.c()));
    if y == 0 {
        return Flow::Slow(Slow::Division);
    }
    let remainder = if (x | y) as u64 >> 32 == 0 { (x as u32 % y as u32) as i64 } else { x.wrapping_rem(y) };
    m.set_int(m.a(), remainder);
    m.next(1)
}

#[inline(always)]
pub fn DivI(m: &mut Machine) -> Flow {
    let (x, y) = (m.int(m.b()), m.c_int());
    let quotient = if (x | y) as u64 >> 32 == 0 && y != 0 {
        (x as u32 / y as u32) as i64
    } else {
        x.checked_div(y).unwrap_or(x)
    };
    m.set_int(m.a(), quotient);
    m.next(1)
}

#[inline(always)]
pub fn RemI(m: &mut Machine) -> Flow {
    let (x, y) = (m.int(m.b()), m.c_int());
    let remainder = if (x | y) as u64 >> 32 == 0 && y != 0 {
        (x as u32 % y as u32) as i64
    } else {
        x.checked_rem(y).unwrap_or(0)
    };
    m.set_int(m.a(), remainder);
    m.next(1)
}

#[inline(always)]
pub fn Jump(m: &mut Machine) -> Flow {
    m.jump(m.bc() as i64);
    Flow::Next
}

#[inline(always)]
pub fn LoopJump(m: &mut Machine) -> Flow {
    m.jump(m.bc() as i64);
    m.loop_yieldpoint()
}

#[inline(always)]
pub fn Switch(m: &mut Machine) -> Flow {
    let index = m.int(m.a()).wrapping_sub(m.x() as i64) as u64;
    m.switch_to((index as usize).min(m.c()))
}

/// `new` of a class whose instances come from a size class: b holds the bytes of a cell, the second word the class (low) and
/// the number of the size class (high).
#[inline(always)]
pub fn New(m: &mut Machine) -> Flow {
    let x = m.x();
    match m.bump((x >> 32) as usize, m.b(), x << 32) {
        Some(object) => {
            m.set_object(m.a(), object);
            m.next(2)
        }
        None => Flow::Slow(Slow::Execute),
    }
}

/// `new` that was never executed.
#[inline(always)]
pub fn NewFirst(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::NewFirst)
}

/// Before the first instruction of a function that has compiled code.
#[inline(always)]
pub fn EnterCompiled(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Compiled)
}

/// `new` of a class with very large instances.
#[inline(always)]
pub fn NewLarge(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Execute)
}

#[inline(always)]
pub fn GetField(m: &mut Machine) -> Flow {
    let bits = m.object(m.b()).field(m.c());
    m.set(m.a(), bits);
    m.next(1)
}

#[inline(always)]
pub fn PutField(m: &mut Machine) -> Flow {
    m.object(m.b()).set_field(m.c(), m.bits(m.a()));
    m.next(1)
}

#[inline(always)]
pub fn PutRef(m: &mut Machine) -> Flow {
    let object = m.object(m.b());
    if object.is_unlogged() {
        return Flow::Slow(Slow::Execute);
    }
    object.set_field(m.c(), m.bits(m.a()));
    m.next(1)
}

#[inline(always)]
pub fn NonNull(m: &mut Machine) -> Flow {
    let bits = m.bits(m.b());
    if bits == 0 {
        return Flow::Slow(Slow::Null);
    }
    m.set(m.a(), bits);
    m.next(1)
}

/// Is the object an instance of the class whose subclasses' offsets begin at the low half of the second word and span
/// the high half.
#[inline(always)]
fn instance_of(m: &Machine, object: Object) -> bool {
    let range = m.x();
    !object.is_null() && object.class().wrapping_sub(range as u32) <= (range >> 32) as u32
}

#[inline(always)]
fn implements(m: &Machine, object: Object) -> bool {
    let interface = m.x() as usize;
    !object.is_null() && m.class_record(object).implements(interface)
}

#[inline(always)]
pub fn Is(m: &mut Machine) -> Flow {
    let result = instance_of(m, m.object(m.b()));
    m.set(m.a(), result as u64);
    m.next(2)
}

#[inline(always)]
pub fn IsInterface(m: &mut Machine) -> Flow {
    let result = implements(m, m.object(m.b()));
    m.set(m.a(), result as u64);
    m.next(2)
}

#[inline(always)]
pub fn Cast(m: &mut Machine) -> Flow {
    let object = m.object(m.b());
    if !instance_of(m, object) {
        return Flow::Slow(Slow::Cast);
    }
    m.set_object(m.a(), object);
    m.next(2)
}

#[inline(always)]
pub fn CastInterface(m: &mut Machine) -> Flow {
    let object = m.object(m.b());
    if !implements(m, object) {
        return Flow::Slow(Slow::Cast);
    }
    m.set_object(m.a(), object);
    m.next(2)
}

#[inline(always)]
fn make_box(m: &mut Machine, which: usize) -> Flow {
    const SIZE: usize = 16;
    match m.bump(crate::heap::size_class(SIZE), SIZE, m.box_header(which)) {
        Some(object) => {
            object.set_field(0, m.bits(m.b()));
            m.set_object(m.a(), object);
            m.next(1)
        }
        None => Flow::Slow(Slow::Execute),
    }
}

#[inline(always)]
pub fn BoxInt(m: &mut Machine) -> Flow {
    make_box(m, 0)
}

#[inline(always)]
pub fn BoxFloat(m: &mut Machine) -> Flow {
    make_box(m, 1)
}

#[inline(always)]
pub fn BoxBool(m: &mut Machine) -> Flow {
    make_box(m, 2)
}

#[inline(always)]
pub fn NewArray(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Execute)
}

#[inline(always)]
pub fn Length(m: &mut Machine) -> Flow {
    let length = m.object(m.b()).length();
    m.set_int(m.a(), length as i64);
    m.next(1)
}

/// The array in b and the index in c, if the one has the other.
#[inline(always)]
fn element(m: &Machine) -> Option<(Object, usize)> {
    let array = m.object(m.b());
    let index = m.bits(m.c()) as usize;
    (index < array.length()).then_some((array, index))
}

#[inline(always)]
pub fn GetByte(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    // SAFETY: the index is inside; see `Object::byte`.
    let value = unsafe { *array.byte(index) };
    m.set(m.a(), value as u64);
    m.next(1)
}

#[inline(always)]
pub fn PutByte(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    // SAFETY: as GetByte.
    unsafe { *array.byte(index) = m.bits(m.a()) as u8 };
    m.next(1)
}

#[inline(always)]
pub fn GetWord(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    // SAFETY: the index is inside; see `Object::word`.
    let value = unsafe { *array.word(index) };
    m.set(m.a(), value);
    m.next(1)
}

#[inline(always)]
pub fn PutWord(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    // SAFETY: as GetWord.
    unsafe { *array.word(index) = m.bits(m.a()) };
    m.next(1)
}

#[inline(always)]
pub fn GetElem(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    // SAFETY: as GetWord.
    let value = unsafe { *array.word(index) };
    if value == 0 {
        return Flow::Slow(Slow::Unset);
    }
    m.set(m.a(), value);
    m.next(1)
}

#[inline(always)]
pub fn PutElem(m: &mut Machine) -> Flow {
    let Some((array, index)) = element(m) else { return Flow::Slow(Slow::Index) };
    if array.is_unlogged() {
        return Flow::Slow(Slow::Execute);
    }
    // SAFETY: as GetWord.
    unsafe { *array.word(index) = m.bits(m.a()) };
    m.next(1)
}

#[inline(always)]
pub fn Unset(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Execute)
}

/// Calls the method that the receiver's class has at the displacement in the low half of the second word; the high half
/// numbers the cell in which receivers are counted.
#[inline(always)]
fn through_table(m: &mut Machine, count: usize) -> Flow {
    let receiver = m.object(m.arg(0));
    let x = m.x();
    m.count_receiver(receiver, (x >> 32) as usize);
    let method = m.lookup(receiver, x as i32);
    m.enter(method, count)
}

/// Calls of any argument count; the loader picks one of the forms below where it can.
#[inline(always)]
pub fn Call(m: &mut Machine) -> Flow {
    let count = (m.word(0) >> 8) as u8 as usize;
    m.enter(m.x() as *mut Method, count)
}

#[inline(always)]
pub fn CallVirtual(m: &mut Machine) -> Flow {
    let count = (m.word(0) >> 8) as u8 as usize;
    through_table(m, count)
}

/// The loader makes it a `CallVirtual` with the interface's displacement.
#[inline(always)]
pub fn CallInterface(m: &mut Machine) -> Flow {
    CallVirtual(m)
}

macro_rules! calls {
    ($($direct:ident $by_table:ident $count:literal;)*) => {$(
        #[inline(always)]
        pub fn $direct(m: &mut Machine) -> Flow {
            m.enter(m.x() as *mut Method, $count)
        }
        #[inline(always)]
        pub fn $by_table(m: &mut Machine) -> Flow {
            through_table(m, $count)
        }
    )*};
}

calls! {
    Call1 CallVirtual1 1;
    Call2 CallVirtual2 2;
    Call3 CallVirtual3 3;
    Call4 CallVirtual4 4;
}

#[inline(always)]
pub fn Call0(m: &mut Machine) -> Flow {
    m.enter(m.x() as *mut Method, 0)
}

#[inline(always)]
pub fn CallNative(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Native)
}

#[inline(always)]
pub fn Return(m: &mut Machine) -> Flow {
    if m.epilogue_yieldpoint() {
        return Flow::Slow(Slow::EpilogueYieldpoint);
    }
    m.leave(Some(m.bits(m.a())))
}

#[inline(always)]
pub fn ReturnUnit(m: &mut Machine) -> Flow {
    if m.epilogue_yieldpoint() {
        return Flow::Slow(Slow::EpilogueYieldpoint);
    }
    m.leave(None)
}

#[inline(always)]
pub fn Throw(_: &mut Machine) -> Flow {
    Flow::Slow(Slow::Throw)
}

/// Below the first frame of a thread.
#[inline(always)]
pub fn Halt(_: &mut Machine) -> Flow {
    Flow::Halt
}
