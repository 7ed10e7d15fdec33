//! Numbers from text, and as bits.

use super::{Result, pointer};
use crate::interpreter::machine::Object;
use crate::vm::Machinery;
use holloway_bytecode::ClassId;

fn boxed(vm: &mut Machinery, class: ClassId, bits: Option<u64>) -> Result {
    let Some(bits) = bits else { return Ok(0) };
    let object = vm.allocate_instance(class)?;
    Object(object).set_field(0, bits);
    pointer(object)
}

/// A decimal integer with an optional sign, or null.
pub fn parse_int(vm: &mut Machinery, text: &str) -> Result {
    boxed(vm, ClassId::INT_BOX, text.parse::<i64>().ok().map(|v| v as u64))
}

/// A decimal float, or null.
pub fn parse_float(vm: &mut Machinery, text: &str) -> Result {
    boxed(vm, ClassId::FLOAT_BOX, text.parse::<f64>().ok().map(f64::to_bits))
}

/// The bits of a float; every NaN has the same.
pub fn bits(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}
