//! What one configuration of profilers costs against another, or against none: **paired, in one process**.
//!
//! Two versions of a program are compared whose only difference is the instrumentation. That difference is small, and the
//! machines on which it is measured are shared, so everything else is made the same, or is made to vary:
//!
//! * **The same decisions.** A first run finds out what is worth compiling ([`learn`]); all machines replay its advice.
//! * **The same weather.** Three virtual machines live in one process and on one system thread ([`arm`]): the base, the profiled one, and a
//!   second base, whose distance from the first is the noise that a reader must allow for (A/A). They take turns after every sample, in an
//!   order that is drawn anew each time ([`rounds`]); what is compared are ratios within a turn.
//! * **Other places.** Where code and objects lie changes the speed of the same code by more than what is measured. So
//!   before every sample code is moved, its methods in another order; and every round has new machines, made in another order, with everything at
//!   other pages.
//! * **The same ticks.** All machines have the timer running, as an adaptive system always has, and the clock of the ticks
//!   stands still while a machine waits.
//! * **The steady state.** Samples count when for some turns nothing was compiled or thrown away.
//! * **Right results.** A time counts only if the program's result was right ([`output`]).
//!
//! Time is that of the processor for the thread, which does not go on while somebody else has the processor; the time of the clock is
//! kept, too. Beside the times there are counts, which repeat exactly ([`counts`]).
//!
//! * [`subject`]: what is measured: programs of the suite, or a file
//! * [`learn`], [`arm`], [`output`], [`rounds`], [`counts`]: as above
//! * [`statistics`]: from samples to ratios with intervals, and when to stop
//! * [`results`]: what came of it, as numbers
//! * [`report`], [`record`]: the same for people, and as JSON
//!
//! [`whole`] runs are compared as well, which find out for themselves what to compile: what adapting costs, and what it is worth.
//!
//! Nothing here knows the flags of the command line: the caller makes the options of a virtual machine.

pub mod arm;
pub mod counts;
pub mod learn;
pub mod output;
pub mod record;
pub mod report;
pub mod results;
pub mod rounds;
pub mod statistics;
pub mod subject;
pub mod whole;
