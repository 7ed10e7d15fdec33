//! Numbers that stand for bytes: FNV-1a with 64 bits, stable over versions and machines, unlike the hashes of maps.

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
