//! What kind of branch an instruction of x86-64 is. Not a disassembler: of other instructions not even the length is known.

/// A branch instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NativeBranch {
    /// Calls.
    Call,
    /// Returns.
    Return,
    /// Always jumps.
    Jump,
    /// Jumps or goes on behind its so many bytes.
    Conditional(usize),
}

/// The longest instruction.
const LONGEST: usize = 15;

/// The branch at the beginning of these bytes, if it is one.
pub fn decode(bytes: &[u8]) -> Option<NativeBranch> {
    decode_with(|at| bytes.get(at).copied())
}

/// The same of bytes that are read when they are needed: only bytes of the instruction are.
pub fn decode_with(byte: impl Fn(usize) -> Option<u8>) -> Option<NativeBranch> {
    let prefix =
        |byte: u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf2 | 0xf3);
    let prefixes = (0..LONGEST).take_while(|&at| byte(at).is_some_and(prefix)).count();
    let second = || byte(prefixes + 1);
    match byte(prefixes)? {
        0xe8 => Some(NativeBranch::Call),
        0xc2 | 0xc3 => Some(NativeBranch::Return),
        0xe9 | 0xeb => Some(NativeBranch::Jump),
        0x70..=0x7f | 0xe0..=0xe3 => Some(NativeBranch::Conditional(prefixes + 2)),
        0x0f => matches!(second()?, 0x80..=0x8f).then_some(NativeBranch::Conditional(prefixes + 6)),
        // The operation is in the middle of the byte that says which operand.
        0xff => match second()? >> 3 & 7 {
            2 | 3 => Some(NativeBranch::Call),
            4 | 5 => Some(NativeBranch::Jump),
            _ => None,
        },
        _ => None,
    }
}

/// Was this branch taken, if control then was so many bytes further on.
pub fn taken(branch: NativeBranch, distance: i64) -> bool {
    !matches!(branch, NativeBranch::Conditional(length) if length as i64 == distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_known_by_their_bytes() {
        let cases: &[(&[u8], Option<NativeBranch>)] = &[
            (&[0xe8, 0, 0, 0, 0], Some(NativeBranch::Call)),
            (&[0xff, 0xd0], Some(NativeBranch::Call)),
            (&[0x41, 0xff, 0x55, 0x08], Some(NativeBranch::Call)),
            (&[0xff, 0xe0], Some(NativeBranch::Jump)),
            (&[0x41, 0xff, 0xe3], Some(NativeBranch::Jump)),
            (&[0xff, 0xc0], None),
            (&[0xff, 0x30], None),
            (&[0xeb, 0xfe], Some(NativeBranch::Jump)),
            (&[0xe9, 0, 0, 0, 0], Some(NativeBranch::Jump)),
            (&[0x74, 5], Some(NativeBranch::Conditional(2))),
            (&[0x0f, 0x8c, 1, 0, 0, 0], Some(NativeBranch::Conditional(6))),
            (&[0x0f, 0xaf, 0xc1], None),
            (&[0xc3], Some(NativeBranch::Return)),
            (&[0xf3, 0xc3], Some(NativeBranch::Return)),
            (&[0x48, 0x89, 0xc1], None),
            (&[], None),
            (&[0x48], None),
            (&[0x0f], None),
            (&[0xff], None),
        ];
        for (bytes, branch) in cases {
            assert_eq!(decode(bytes), *branch, "{bytes:02x?}");
        }
        assert!(!taken(NativeBranch::Conditional(2), 2));
        assert!(taken(NativeBranch::Conditional(2), 7) && taken(NativeBranch::Jump, 2));
    }
}
