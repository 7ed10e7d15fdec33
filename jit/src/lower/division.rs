//! Division by a constant, by a multiplication: 3 to 5 instructions for one that takes the machine ten times as long.
//!
//! After Warren, "Hacker's Delight" (second edition), section 10-1 and 10-3: the dividend times 2^p / d, rounded up, over 2^p is the
//! quotient, rounded down, if p is large enough; a negative quotient is one less than that, and gets its one.

use super::function::Lowering;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};

/// By what to multiply, and by how much to shift the upper half of the product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Magic {
    factor: i64,
    shift: u32,
}

impl Magic {
    /// For a divisor that is at least 3 and no power of two.
    fn of(divisor: u64) -> Magic {
        let divisor = u128::from(divisor);
        // The greatest dividend that leaves the greatest remainder.
        let half = 1_u128 << 63;
        let hardest = half - 1 - half % divisor;
        let needed = |p: &u32| (1_u128 << p) > hardest * (divisor - (1_u128 << p) % divisor);
        let p = (64..127).find(needed).unwrap_or(127);
        let factor = ((1_u128 << p) / divisor + 1) as u64;
        Magic { factor: factor as i64, shift: p - 64 }
    }
}

impl Lowering<'_, '_> {
    /// The quotient, or what remains, of division by a constant other than -1, 0 and 1.
    pub(super) fn divide_by(&mut self, quotient: bool, dividend: clif::Value, divisor: i64) -> clif::Value {
        let size = divisor.unsigned_abs();
        if size.is_power_of_two() {
            return self.divide_by_power(quotient, dividend, divisor);
        }
        let Magic { factor, shift } = Magic::of(size);
        let by = self.constant(types::I64, factor as u64);
        let mut result = self.builder.ins().smulhi(dividend, by);
        if factor < 0 {
            // The factor is 2^64 more than the machine takes it for.
            result = self.builder.ins().iadd(result, dividend);
        }
        if shift > 0 {
            result = self.builder.ins().sshr_imm_u(result, i64::from(shift));
        }
        let one = self.builder.ins().ushr_imm_u(dividend, 63);
        result = self.builder.ins().iadd(result, one);
        match (quotient, divisor < 0) {
            (true, false) => result,
            (true, true) => self.builder.ins().ineg(result),
            // What remains is the same for both signs of the divisor.
            (false, _) => {
                let size = self.constant(types::I64, size);
                let whole = self.builder.ins().imul(result, size);
                self.builder.ins().isub(dividend, whole)
            }
        }
    }

    /// A shift rounds down; so a negative dividend gets the divisor less one before.
    fn divide_by_power(&mut self, quotient: bool, dividend: clif::Value, divisor: i64) -> clif::Value {
        let bits = divisor.trailing_zeros();
        let signs = match bits {
            1 => dividend,
            _ => self.builder.ins().sshr_imm_u(dividend, 63),
        };
        let more = self.builder.ins().ushr_imm_u(signs, i64::from(64 - bits));
        let rounded = self.builder.ins().iadd(dividend, more);
        if !quotient {
            let mask = self.constant(types::I64, u64::MAX << bits);
            let whole = self.builder.ins().band(rounded, mask);
            return self.builder.ins().isub(dividend, whole);
        }
        let result = self.builder.ins().sshr_imm_u(rounded, i64::from(bits));
        if divisor < 0 { self.builder.ins().ineg(result) } else { result }
    }
}

#[cfg(test)]
mod tests {
    use super::Magic;

    /// What the instructions compute.
    fn divided(dividend: i64, divisor: u64) -> i64 {
        let Magic { factor, shift } = Magic::of(divisor);
        let high = ((i128::from(dividend) * i128::from(factor)) >> 64) as i64;
        let high = if factor < 0 { high.wrapping_add(dividend) } else { high };
        (high >> shift) + i64::from(dividend < 0)
    }

    #[test]
    fn a_product_is_the_quotient() {
        let numbers = |of: u64| {
            (0..64).flat_map(move |shift| (-2..=2).map(move |add| (of << shift).wrapping_add_signed(add)))
        };
        let divisors: Vec<u64> =
            (3..2000).chain([1, 3, 5, 7, 10, 641, 1_000_003].into_iter().flat_map(numbers)).collect();
        let dividends: Vec<i64> =
            [1, 3, 9, 10, 0x5555_5555].into_iter().flat_map(numbers).map(|number| number as i64).collect();
        let mut tried = 0;
        for divisor in divisors {
            if divisor < 3 || divisor.is_power_of_two() {
                continue;
            }
            let Ok(signed) = i64::try_from(divisor) else { continue };
            // Around multiples quotients change.
            let near = dividends.iter().flat_map(|&dividend| {
                let multiple = dividend - dividend % signed;
                [
                    dividend,
                    dividend.wrapping_neg(),
                    multiple,
                    multiple.wrapping_sub(1),
                    multiple.wrapping_add(1),
                ]
            });
            for dividend in near {
                assert_eq!(divided(dividend, divisor), dividend / signed, "{dividend} / {divisor}");
                tried += 1;
            }
        }
        assert!(tried > 1_000_000, "{tried}");
    }
}
