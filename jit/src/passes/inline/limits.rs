//! The constants of inlining. They start from those of HotSpot's server compiler (whose sizes are bytes of bytecode; a word of
//! ours holds an instruction, about two and a half of theirs, but our methods are fewer and larger): what they are worth
//! was measured there, and that inlining beyond getters and below depth 2 pays on our programs is known.

use crate::options::Level;

/// Limits of a level.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Callees of at most so many words, without calls and loops, are always inlined: the call takes as much code.
    pub tiny: usize,
    /// Callees of at most so many words are inlined unless the call is cold.
    pub small: usize,
    /// Callees of at most so many words are inlined where the call is hot.
    pub hot: usize,
    /// A call that runs at least so often for each entry of the region is hot.
    pub hot_frequency: f64,
    /// A call that runs less often than this is cold.
    pub cold_frequency: f64,
    /// So is one that takes less of what the region does.
    pub cold_share: f64,
    /// How many nodes a call is worth.
    pub call_nodes: f64,
    /// The most calls between an inlined method and the root.
    pub depth: u32,
    /// How often a method may be inlined into itself.
    pub recursion: usize,
    /// No more is inlined into regions with so many nodes.
    pub nodes: usize,
    /// The same for calls that run not more often than the region itself: compiling takes time for each node, and what is outside of
    /// loops gives little of it back.
    pub nodes_outside_loops: usize,
    /// No more is inlined where callees have so many words together: of many hardly a node is left, but each was built and
    /// worked on.
    pub words: usize,
    /// What was compiled to so many words of its own, with what is inlined there, is called where the call is not in a loop: there is nothing
    /// to be won, and within another region its calls would have less room.
    pub own_code: usize,
    /// A call that runs more often than this is in a loop.
    pub loop_frequency: f64,
    /// A round ends when it has added so many nodes: what comes next is decided with fresh knowledge.
    pub growth_of_round: usize,
    /// The most rounds.
    pub rounds: usize,
    /// Calls through tables may become tests and direct calls.
    pub guards: bool,
    /// The past decides what is tested for.
    pub profile: bool,
    /// Receivers seen before their classes mean anything.
    pub least_receivers: u64,
    /// The share of receivers for one method to be the only one that is inlined.
    pub monomorphic: f64,
    /// The share of receivers for two methods to be the only ones that are inlined.
    pub bimorphic: f64,
    /// So many possible methods are tested for without asking the profile.
    pub few_targets: usize,
}

impl Limits {
    /// The limits of a level.
    pub fn of(level: Level) -> Limits {
        let full = Limits {
            tiny: 8,
            // MaxInlineSize is 35, FreqInlineSize is 325.
            small: 35,
            hot: 325,
            // InlineFrequencyRatio and MinInlineFrequencyRatio.
            hot_frequency: 0.25,
            cold_frequency: 0.0085,
            // With a loop around it everything runs often, so that this alone tells what matters there: DeltaBlue compiles in half
            // the time.
            cold_share: 0.000_1,
            call_nodes: 10.0,
            // MaxInlineLevel was 9 for long; MaxRecursiveInlineLevel is 1.
            depth: 9,
            recursion: 1,
            nodes: 4_000,
            // DesiredMethodLimit is 8,000 bytes of bytecode.
            words: 3_200,
            nodes_outside_loops: 1_500,
            // Half of what a region may have. (InlineSmallCode is 2,500 bytes of machine code, in loops too.)
            own_code: 1_600,
            loop_frequency: 1.5,
            growth_of_round: 2_000,
            rounds: 16,
            guards: true,
            profile: true,
            least_receivers: 10,
            // TypeProfileMajorReceiverPercent is 90. Where nine of ten receivers are of one class, what was counted of them is above or
            // below that by chance, and phases in which a class gives way to another are over before it is.
            monomorphic: 0.8,
            bimorphic: 0.95,
            few_targets: 3,
        };
        match level {
            Level::O0 => Limits { small: 0, hot: 0, guards: false, profile: false, ..full },
            // Without a profile, what is inlined is half a guess, and this level is for methods that may not stay hot: what
            // compiling costs goes with the size.
            Level::O1 => Limits {
                hot: 60,
                hot_frequency: 2.0,
                nodes: 600,
                nodes_outside_loops: 200,
                words: 500,
                growth_of_round: 300,
                rounds: 4,
                profile: false,
                few_targets: 2,
                ..full
            },
            Level::O2 => full,
        }
    }
}
