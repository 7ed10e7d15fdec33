//! What a call profile makes an inliner do: three policies as pure functions, each decision with its reason.
//!
//! Arnold and Grove 2005, section 5. Let w be an edge's share of all weight of the call graph.
//! * *Old* (the Jikes RVM's before): an edge with w > 1 % is hot and gets a larger size limit; all others are decided
//!   statically, their profile is ignored.
//! * *New*: the limit is a line, limit(w) = S + (M - S) · min(1, w/CP), from the static S to the maximum M, which is
//!   reached at the control point CP. At a site with several targets, only those with more than 40 % of the site's
//!   samples are inlined under a guard: two at most.
//! * *J9's* (section 5.2): a cold site is not inlined, whatever static heuristics say; the required weight grows linearly with the size
//!   of the callee: required(size) = CP · (size - S) / (M - S), and at least the weight below which a site is cold. It is
//!   the same line, read from the other axis. This is the policy that a bad profile hurts. How often something is called
//!   does not tell how long it works, nor what it costs around it. A call's only target, within S, is not cold if it makes many calls
//!   itself (ours). And where objects are made, the methods around that place count, if they are called more often (ours): inlined,
//!   objects need perhaps not be made. One that a call is given must be made for it, on all ways if there is a loop around; one that a
//!   call gives makes all that it meets. So where static heuristics test for all targets, each is judged as if all calls of the site were
//!   its own, though it was seldom seen, or never (ours): as a call it would cost what the others gain, and whether it was seen is chance. Where there are
//!   more targets than static heuristics would test for, only one with more than 60 % of the site's samples gets a guard (ours): without,
//!   `richards` had three copies of four tasks, twice as much to compile for nothing, and with half of them it is chance whether one of two
//!   that share a site is above.
//!
//! J9's policy is there twice: [`Policy::J9Plain`] is what the paper has, and [`Policy::J9`] adds what is marked as ours above.
//!
//! The paper gives no constants but 1 % and 40 %; the others are ours, with the form that the Jikes RVM made public.
//! Sizes are in bytecodes. Budgets for the growth of a whole compilation and for recursion belong to the compiler.

use super::graph::CallEdge;
use super::share::{Invalid, Share};
use std::fmt;

/// What is known of a call and one of its targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Candidate {
    /// The call.
    pub edge: CallEdge,
    /// The weight of this edge.
    pub weight: u64,
    /// The weight of all edges of the site.
    pub site_weight: u64,
    /// The weight of all calls that the callee makes itself, from wherever it is called.
    pub inside: u64,
    /// If the callee makes objects: the weight of all calls of the methods around the call, of that one which is called most: the
    /// compiled method, and those that were inlined down to the call. 0 if the call is not worth a thought there.
    pub makes: u64,
    /// If the callee is given an object that is made there, too: the same for the place where it is made, or how often that is by the
    /// loops around it, if that is more.
    pub given: u64,
    /// The weight of the call graph.
    pub total: u64,
    /// How many bytecodes the callee has.
    pub size: u32,
    /// Whether the call can have no other target: then no guard is needed.
    pub is_static: bool,
    /// Whether the call has so few possible targets that static heuristics would test for all of them.
    pub has_few: bool,
}

impl Candidate {
    /// By which calls J9's policy judges: where all targets are tested for, by those of the site, else by those of the edge.
    fn judged_weight(&self) -> u64 {
        if self.has_few && !self.is_static { self.site_weight } else { self.weight }
    }

    /// What counts beside its own weight for J9's policy: of its own calls, of making objects, of being given some. What is larger than
    /// static heuristics allow must be called often itself if it makes no difference to objects, and so must what needs a guard; where all
    /// targets are tested for, what one makes meets what the others make.
    fn weights_beside(&self, limits: &Limits) -> [u64; 3] {
        let counts = |weight, does_count| if does_count { weight } else { 0 };
        [
            counts(self.inside, self.is_static && self.size <= limits.base),
            counts(self.makes, self.is_static || self.has_few),
            counts(self.given, self.is_static),
        ]
    }
}

/// How sizes are limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The limit without a profile, S, in bytecodes.
    pub base: u32,
    /// The limit for the hottest calls, M, in bytecodes.
    pub maximum: u32,
    /// The share of all weight at which the maximum is reached, CP.
    pub control_point: Share,
}

impl Limits {
    /// S = 20 bytecodes, M = 120 bytecodes, CP = 2 %: ours, November 2026.
    pub const DEFAULT: Self = Self { base: 20, maximum: 120, control_point: Share::percent(2) };

    /// Limits that make sense.
    ///
    /// # Errors
    ///
    /// If the maximum is not above the base, or the control point is 0.
    pub fn new(base: u32, maximum: u32, control_point: Share) -> Result<Self, Invalid> {
        if maximum <= base {
            return Err(Invalid::new("maximum", maximum, "more than the base"));
        }
        if control_point.as_millionths() == 0 {
            return Err(Invalid::new("control point", control_point, "above 0 %"));
        }
        Ok(Self { base, maximum, control_point })
    }

    /// S + (M - S) · min(1, w/CP) for w = weight/total, rounded down; S if there is no weight at all.
    #[must_use]
    pub fn limit(&self, weight: u64, total: u64) -> u32 {
        let span = u128::from(self.maximum.saturating_sub(self.base));
        let full = u128::from(total) * u128::from(self.control_point.as_millionths());
        if full == 0 {
            return self.base;
        }
        let more = (span * u128::from(weight) * 1_000_000 / full).min(span);
        self.base + u32::try_from(more).expect("at most the span")
    }

    /// CP · (size - S) / (M - S), rounded up: the share from which on a callee of this size is within the limit. `None`
    /// if it never is.
    #[must_use]
    pub fn required(&self, size: u32) -> Option<Share> {
        if size > self.maximum {
            return None;
        }
        let over = u64::from(size.saturating_sub(self.base)) * u64::from(self.control_point.as_millionths());
        let span = u64::from(self.maximum.saturating_sub(self.base)).max(1);
        Share::millionths(u32::try_from(over.div_ceil(span)).ok()?).ok()
    }
}

/// How decisions are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Hot or not.
    Old {
        /// The limits; between the base and the maximum there is nothing.
        limits: Limits,
        /// The share above which an edge is hot.
        hot: Share,
    },
    /// A line.
    New {
        /// The line.
        limits: Limits,
        /// The share of a site's samples that a target must exceed to be inlined under a guard.
        guard: Share,
        /// The weight below which a site's profile is not trusted, and is taken for none.
        trusted: u64,
    },
    /// Cold sites are not inlined.
    J9 {
        /// The line, read as a requirement.
        limits: Limits,
        /// The share below which a site is cold.
        cold: Share,
        /// The share of a site's samples that a target must exceed to be inlined under a guard, where static heuristics
        /// would test for none.
        guard: Share,
    },
    /// The same as the paper has it: an edge's own weight decides, and nothing beside it.
    J9Plain {
        /// The line, read as a requirement.
        limits: Limits,
        /// The share below which a site is cold.
        cold: Share,
    },
}

impl Policy {
    /// The old policy, with 1 %.
    pub const OLD: Self = Self::Old { limits: Limits::DEFAULT, hot: Share::percent(1) };

    /// The limits of the new policy: S = 35, M = 180, ours. Larger ones than the old policy's cost less where only the hottest
    /// calls have the maximum.
    pub const NEW_LIMITS: Limits = Limits { base: 35, maximum: 180, ..Limits::DEFAULT };

    /// The new policy, with 40 %; every sample is trusted.
    pub const NEW: Self = Self::New { limits: Self::NEW_LIMITS, guard: Share::percent(40), trusted: 1 };

    /// Where J9's policy begins to call a site cold: 0.03 %, ours, November 2026.
    pub const J9_COLD: Share = Share::percent(3).tenth().tenth();

    /// The limits of J9's policy: S = 23, M = 75, CP = 0.3 %, ours. With S = 20 the call by which a full list grows stays where it
    /// hardly runs, and `cd` spills registers around it (2 % of its time); with 25 `richards` compiles a tenth more for nothing.
    /// More for the hottest (M = 90) makes code that is larger and no faster, and so does S = 60, from which on its static
    /// heuristics inline nothing: a callee of that size is worth it from a quarter of a percent of all calls on.
    pub const J9_LIMITS: Limits = Limits { base: 23, maximum: 75, control_point: Share::percent(3).tenth() };

    /// Which part of a site's samples J9's policy wants for a guard: 60 %, ours.
    pub const J9_GUARD: Share = Share::percent(60);

    /// J9's policy.
    pub const J9: Self = Self::J9 { limits: Self::J9_LIMITS, cold: Self::J9_COLD, guard: Self::J9_GUARD };

    /// J9's policy without what we added to it, with the same numbers.
    pub const J9_PLAIN: Self = Self::J9Plain { limits: Self::J9_LIMITS, cold: Self::J9_COLD };

    /// The name of the policy in tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Old { .. } => "old",
            Self::New { .. } => "new",
            Self::J9 { .. } => "j9",
            Self::J9Plain { .. } => "j9-plain",
        }
    }

    /// How sizes are limited.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        match self {
            Self::Old { limits, .. }
            | Self::New { limits, .. }
            | Self::J9 { limits, .. }
            | Self::J9Plain { limits, .. } => limits,
        }
    }

    /// Decides about one target of a call.
    #[must_use]
    pub fn decide(&self, candidate: &Candidate) -> Decision {
        let (limit, refusal) = match *self {
            Self::Old { limits, hot } => {
                let is_hot = hot.is_exceeded_by(candidate.weight, candidate.total);
                let limit = if is_hot { limits.maximum } else { limits.base };
                (limit, (!is_hot && !candidate.is_static).then_some(Reason::NotHot { hot }))
            }
            Self::New { limits, guard, trusted } => {
                let weight = if candidate.site_weight < trusted { 0 } else { candidate.weight };
                let refusal = if candidate.is_static {
                    None
                } else if weight == 0 {
                    Some(Reason::NoSamples)
                } else {
                    let dominates = guard.is_exceeded_by(weight, candidate.site_weight);
                    (!dominates).then_some(Reason::NotDominant { guard })
                };
                (limits.limit(weight, candidate.total), refusal)
            }
            Self::J9 { limits, cold, guard } => {
                let required = limits.required(candidate.size).map(|share| share.max(cold));
                let total = candidate.total;
                let more = candidate.weights_beside(&limits).into_iter().max().unwrap_or(0);
                let (weight, of_site) =
                    (candidate.judged_weight().max(more), candidate.site_weight.max(more));
                let many = !candidate.is_static && !candidate.has_few;
                let refusal = if weight == 0 || below(cold, of_site, total) {
                    Some(Reason::Cold { cold })
                } else if many && !guard.is_exceeded_by(candidate.weight, candidate.site_weight) {
                    Some(Reason::NotDominant { guard })
                } else {
                    required
                        .filter(|&required| below(required, weight, total))
                        .map(|required| Reason::TooLight { required })
                };
                (limits.maximum, refusal)
            }
            Self::J9Plain { limits, cold } => {
                let Candidate { weight, site_weight, total, size, .. } = *candidate;
                let required = limits.required(size).map(|share| share.max(cold));
                let refusal = if weight == 0 || below(cold, site_weight, total) {
                    Some(Reason::Cold { cold })
                } else {
                    let missed = required.filter(|&required| below(required, weight, total));
                    missed.map(|required| Reason::TooLight { required })
                };
                (limits.maximum, refusal)
            }
        };
        let too_large = (candidate.size > limit).then_some(Reason::TooLarge { limit });
        let reason = refusal.or(too_large).unwrap_or_else(|| match candidate.is_static {
            true => self.fits(candidate, limit),
            false => Reason::FitsGuarded { limit },
        });
        Decision { candidate: *candidate, reason }
    }

    /// Why the only target of a call is inlined.
    fn fits(&self, candidate: &Candidate, limit: u32) -> Reason {
        let Self::J9 { limits, cold, .. } = self else { return Reason::Fits { limit } };
        let required = limits.required(candidate.size).map_or(*cold, |share| share.max(*cold));
        let is_enough = |weight| weight > 0 && !below(required, weight, candidate.total);
        let [inside, _, given] = candidate.weights_beside(limits);
        if is_enough(candidate.weight) {
            Reason::Fits { limit }
        } else if is_enough(inside) {
            Reason::MakesCalls { limit }
        } else if is_enough(given) {
            Reason::GivenObjects { limit }
        } else {
            Reason::MakesObjects { limit }
        }
    }
}

/// Whether a part is less than a share of the whole.
fn below(share: Share, part: u64, whole: u64) -> bool {
    u128::from(part) * 1_000_000 < u128::from(whole) * u128::from(share.as_millionths())
}

/// Why a call is inlined or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Inlined: the only target, and within the limit.
    Fits {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// Inlined: the only target, within the limit, and seldom called, but it makes many calls.
    MakesCalls {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// Inlined: the only target, within the limit, and seldom called, but it makes objects where much happens.
    MakesObjects {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// Inlined: the only target, within the limit, and seldom called, but it is given an object that is made where much happens.
    GivenObjects {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// Inlined under a guard: within the limit.
    FitsGuarded {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// Beyond the limit.
    TooLarge {
        /// The limit in bytecodes.
        limit: u32,
    },
    /// A call with several possible targets, and the edge is not hot.
    NotHot {
        /// What hot means.
        hot: Share,
    },
    /// A call with several possible targets, and nothing is known of this one.
    NoSamples,
    /// A target with too small a part of its site's samples.
    NotDominant {
        /// What it must exceed.
        guard: Share,
    },
    /// The site is cold.
    Cold {
        /// What cold means.
        cold: Share,
    },
    /// The edge is too light for a callee of this size.
    TooLight {
        /// What is required.
        required: Share,
    },
}

/// What is done about one target of a call, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// The target.
    pub candidate: Candidate,
    /// The reason.
    pub reason: Reason,
}

impl Decision {
    /// Whether it is inlined.
    #[must_use]
    pub fn is_inlined(&self) -> bool {
        use Reason::{Fits, FitsGuarded, GivenObjects, MakesCalls, MakesObjects};
        matches!(
            self.reason,
            Fits { .. } | FitsGuarded { .. } | GivenObjects { .. } | MakesCalls { .. } | MakesObjects { .. }
        )
    }

    /// Whether it is inlined under a guard.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        matches!(self.reason, Reason::FitsGuarded { .. })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fits { limit } | Self::FitsGuarded { limit } => {
                write!(f, "within the limit of {limit} bytecodes")
            }
            Self::MakesCalls { limit } => {
                write!(f, "seldom called, but makes many calls, and within the limit of {limit} bytecodes")
            }
            Self::MakesObjects { limit } => {
                write!(f, "seldom called, but makes objects, and within the limit of {limit} bytecodes")
            }
            Self::GivenObjects { limit } => {
                write!(f, "seldom called, but given new objects, and within the limit of {limit} bytecodes")
            }
            Self::TooLarge { limit } => write!(f, "beyond the limit of {limit} bytecodes"),
            Self::NotHot { hot } => {
                write!(f, "several targets, and the edge has no more than {hot} of all weight")
            }
            Self::NoSamples => f.write_str("several targets, and no samples of this one"),
            Self::NotDominant { guard } => {
                write!(f, "no more than {guard} of the samples of its site")
            }
            Self::Cold { cold } => write!(f, "the site has less than {cold} of all weight"),
            Self::TooLight { required } => {
                write!(f, "for its size the edge needs {required} of all weight")
            }
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Candidate { edge, weight, site_weight, total, size, .. } = self.candidate;
        let done = match self.reason {
            Reason::FitsGuarded { .. } => "inlined under a guard",
            _ if self.is_inlined() => "inlined",
            _ => "not inlined",
        };
        write!(
            f,
            "{edge} ({size} bytecodes, weight {weight} of {site_weight} of {total}): {done}: {}",
            self.reason
        )
    }
}
