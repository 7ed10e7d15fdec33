//! Numbers that stand for bytes: FNV-1a with 64 bits, stable over versions and machines, unlike the hashes of maps.

use holloway_bytecode::{Function, Program};

/// A fingerprint in the making.
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of nothing yet.
    pub fn new() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// As a number.
    pub fn value(&self) -> u64 {
        self.0
    }

    /// As text.
    pub fn text(&self) -> String {
        format!("{:016x}", self.0)
    }
}

impl From<u64> for Fingerprint {
    /// Continues another one; 0 is that of nothing.
    fn from(value: u64) -> Fingerprint {
        if value == 0 { Fingerprint::new() } else { Fingerprint(value) }
    }
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint::new()
    }
}

/// A number for the code of a function; branch counters in it do not count.
pub fn of_function(function: &Function) -> String {
    Fingerprint::from(number_of_function(function)).text()
}

/// The same as a number.
pub fn number_of_function(function: &Function) -> u64 {
    let mut hash = Fingerprint::new();
    hash.bytes(&(function.registers.len() as u64).to_le_bytes());
    function.code.iter().for_each(|word| hash.bytes(&word.to_le_bytes()));
    hash.value()
}

/// A number for the code of a program and the names in it.
pub fn of_program(program: &Program) -> String {
    let mut hash = Fingerprint::new();
    for function in &program.functions {
        hash.bytes(function.name.as_bytes());
        hash.bytes(of_function(function).as_bytes());
    }
    for class in &program.classes {
        hash.bytes(class.name.as_bytes());
    }
    hash.text()
}

/// Is this the number of the program: for files that were written about one.
pub fn is_of_program(fingerprint: &str, program: &Program) -> Result<(), String> {
    match fingerprint == of_program(program) {
        true => Ok(()),
        false => Err("it is the profile of another program, or the program has changed since".into()),
    }
}
