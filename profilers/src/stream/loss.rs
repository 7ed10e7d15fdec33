//! Paths that were begun and never came to an end that could be seen, by reason.
//!
//! PEP loses paths by design (Bond & McKinley 2005, sec. 4.3) and any virtual machine loses them to exceptions and
//! changes of code. The count of each reason belongs into the report beside the accuracy.

use super::Consumer;
use crate::ids::VersionId;
use crate::stream::Event;
use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// Why a path was lost.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Lost { $($(#[$doc])* $variant,)* }

        impl Lost {
            /// Every reason, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The reason in reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }

        /// How many paths were lost for each reason. As a consumer it counts them and does nothing else.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub struct Losses([u64; Lost::ALL.len()]);
    };
}

reasons! {
    /// An exception left the method, or went to a handler in it.
    Unwound = "unwound by an exception",
    /// On-stack replacement moved the invocation into other code, with numbers of its own.
    Replaced = "replaced on the stack",
    /// A guard failed and the invocation went on in the interpreter.
    Deoptimized = "deoptimized",
    /// The thread ended, or the program did.
    ThreadEnd = "end of the thread",
    /// It ended where there is no yieldpoint.
    Silent = "end without a yieldpoint",
}

impl Losses {
    /// One more path.
    pub fn add(&mut self, reason: Lost) {
        self.0[reason as usize] += 1;
    }

    /// Paths lost for this reason.
    #[must_use]
    pub fn of(&self, reason: Lost) -> u64 {
        self.0[reason as usize]
    }

    /// Paths lost for any reason.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Adds another thread's losses.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own += other;
        }
    }
}

impl Consumer for Losses {
    type Activation = ();

    fn path(&mut self, (): &mut (), event: Event) {
        if event.end.yieldpoint().is_none() {
            self.add(Lost::Silent);
        }
    }

    fn lost(&mut self, (): &mut (), _version: VersionId, reason: Lost) {
        self.add(reason);
    }
}
