//! Several windows under one control word.
//!
//! The state machine of Arnold & Grove 2005, sec. 5.1, as a value. A tick sets the word to
//! "all"; the first yieldpoint that is taken after it, of whatever kind, arms the windows and sets the word to what the
//! open windows need; it is itself an opportunity for those windows whose kind it is. When the last window closes, the
//! word goes back to "none" and the thread switch that the tick asked for is due. It is due at the next tick, too, if windows
//! are still open: a window of calls in a thread that only loops would not be done before the end of time.
//!
//! Our addition: any number of clients share the ticks, each with its own countdown and its own kinds of yieldpoints
//! (PEP needs headers and holds the word at 1, CBS alone holds it at -1), and without any client a tick is a thread
//! switch at the first yieldpoint, which is what a machine without profilers does.
//!
//! How a virtual machine uses it: the timer thread stores 1 into the machine's control word and makes its tick
//! visible (a count, a flag). A yieldpoint whose test succeeds calls its slow path, which calls [`Schedule::tick`]
//! for a tick it has not seen, then [`Schedule::yieldpoint`], and stores [`Schedule::word`]. Only the owner of the
//! word calls in here. Nothing is allocated after [`Schedule::new`].

use super::{Kinds, ParameterError, Parameters, Verdict, Window, Word, YieldKind};

/// A sampler that takes part: which yieldpoints are its opportunities, and what its window looks like.
#[derive(Debug, Clone, Copy)]
pub struct Client {
    /// Its opportunities.
    pub kinds: Kinds,
    /// Its window.
    pub parameters: Parameters,
}

/// What is to be done at a yieldpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decision {
    /// Bit i: client i takes a sample.
    takes: u32,
    /// The thread switch is due that a tick asked for.
    pub switch: bool,
}

impl Decision {
    /// What the client is to do, by its position in the list that the schedule was made from.
    #[must_use]
    pub fn verdict(self, client: usize) -> Verdict {
        if self.takes >> client & 1 == 1 { Verdict::Take } else { Verdict::Skip }
    }

    /// Whether any client takes a sample.
    #[must_use]
    pub fn takes_any(self) -> bool {
        self.takes != 0
    }
}

/// The clients of one thread's ticks, and the word they agree on.
#[derive(Debug, Clone)]
pub struct Schedule {
    clients: Box<[(Kinds, Window)]>,
    word: Word,
    /// A tick has come that no yieldpoint has seen.
    ticked: bool,
    /// A thread switch has been asked for that has not happened.
    switch: bool,
    /// Bit i: client i rests.
    resting: u32,
    coalesced: u64,
}

impl Schedule {
    /// How many clients there may be.
    pub const MOST_CLIENTS: usize = 32;

    /// A schedule at rest.
    ///
    /// # Errors
    ///
    /// If there are more than [`Self::MOST_CLIENTS`] clients.
    pub fn new(clients: &[Client]) -> Result<Self, ParameterError> {
        if clients.len() > Self::MOST_CLIENTS {
            let (most, count) = (Self::MOST_CLIENTS, clients.len());
            return Err(ParameterError(format!("{count} samplers on one timer: there may be 0..={most}")));
        }
        let clients = clients.iter().map(|client| (client.kinds, Window::new(client.parameters))).collect();
        Ok(Self { clients, word: Word::None, ticked: false, switch: false, resting: 0, coalesced: 0 })
    }

    /// The timer has ticked: from here on every yieldpoint is taken.
    pub fn tick(&mut self) {
        self.coalesced += u64::from(self.ticked);
        self.ticked = true;
        self.word = Word::All;
    }

    /// A yieldpoint was taken; says who samples and whether the thread is to be switched, and moves the word.
    #[inline]
    pub fn yieldpoint(&mut self, kind: YieldKind) -> Decision {
        self.yieldpoint_for(|_, kinds| kinds.contains(kind))
    }

    /// The same where a yieldpoint's kind does not say all: whether it is an opportunity of the client at a position, which has
    /// these kinds.
    #[inline]
    pub fn yieldpoint_for(&mut self, is_opportunity: impl Fn(usize, Kinds) -> bool) -> Decision {
        let ticked = std::mem::take(&mut self.ticked);
        let overdue = ticked && self.switch;
        self.switch |= ticked;
        let mut takes = 0;
        let mut word = Word::None;
        for (position, (kinds, window)) in self.clients.iter_mut().enumerate() {
            if ticked && self.resting >> position & 1 == 0 {
                window.tick();
            }
            if is_opportunity(position, *kinds) && window.opportunity() == Verdict::Take {
                takes |= 1 << position;
            }
            if window.is_open() {
                word = word.and(kinds.word());
            }
        }
        self.word = word;
        let switch = (overdue || word == Word::None) && std::mem::take(&mut self.switch);
        Decision { takes, switch }
    }

    /// An opportunity of the client at this position where no thread can be switched: the control word, and a switch that is due, wait for the next
    /// yieldpoint.
    pub fn opportunity_of(&mut self, client: usize) -> Verdict {
        self.clients[client].1.opportunity()
    }

    /// How many of the next opportunities need nobody's attention: in the state [`Word::Calls`], if one window is open. Whoever
    /// lets them pass says so to [`Schedule::skip`] before the next yieldpoint that does get attention.
    #[must_use]
    pub fn skippable(&self) -> u32 {
        let mut open = self.clients.iter().filter(|(_, window)| window.is_open());
        match (self.word, open.next(), open.next()) {
            (Word::Calls, Some((_, window)), None) => window.skippable(),
            _ => 0,
        }
    }

    /// So many opportunities passed, see [`Schedule::skippable`].
    pub fn skip(&mut self, opportunities: u32) {
        for (_, window) in &mut self.clients {
            window.skip(opportunities);
        }
    }

    /// A yieldpoint was reached: does what the test of the word and then the slow path do. For simulations.
    #[inline]
    pub fn reach(&mut self, kind: YieldKind) -> Option<Decision> {
        self.word.takes(kind).then(|| self.yieldpoint(kind))
    }

    /// A client rests, or does so no longer: while it does, ticks do not open its window, and an open one is closed. For a client that
    /// can tell that there are no opportunities for it, so that yieldpoints are not taken in vain.
    pub fn rest(&mut self, client: usize, rests: bool) {
        self.resting = self.resting & !(1 << client) | u32::from(rests) << client;
        if rests {
            self.clients[client].1.close();
        }
    }

    /// Is there nothing to be done at a yieldpoint until the next tick.
    #[must_use]
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.word == Word::None && !self.ticked && !self.switch
    }

    /// What the control word must be now.
    #[must_use]
    #[inline]
    pub fn word(&self) -> Word {
        self.word
    }

    /// The window of a client, for its counts.
    #[must_use]
    pub fn window(&self, client: usize) -> &Window {
        &self.clients[client].1
    }

    /// Ticks that came before any yieldpoint had seen the tick before them.
    #[must_use]
    pub fn coalesced(&self) -> u64 {
        self.coalesced
    }
}
