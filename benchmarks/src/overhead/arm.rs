//! One side of a comparison: a virtual machine that runs its program again and again, a sample at a time. Compiled code,
//! counters and heap stay between the runs of a machine ([`Vm::run`]), so that several machines can take turns.

use super::output::Output;
use super::subject::{Subject, Work};
use holloway_vm::adaptive::Advice;
use holloway_vm::compiled::{BlockOrder, CallSource, InlineOptions, ReplayedCode};
use holloway_vm::errors::StopReason;
use holloway_vm::profiling::{Looks, ProfileOptions};
use holloway_vm::signals::InterruptHandle;
use holloway_vm::timer::thread_time;
use holloway_vm::{Outcome, Vm, VmOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// Long enough that nobody sees its end: a machine with a time limit has a timer.
const UNLIMITED: Duration = Duration::from_secs(1 << 30);

/// Who has something measured.
pub trait Host {
    /// The options of a machine whose program sees these arguments and prints there.
    fn options(&self, arguments: Vec<String>, output: Box<dyn Write + Send>) -> VmOptions;
    /// This machine is about to run; it can be interrupted through the handle.
    fn running(&self, handle: InterruptHandle);
    /// Did the user ask for an end.
    fn is_stopped(&self) -> bool;
    /// What is being done.
    fn progress(&self, text: &str);
}

/// Why there is no sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something is wrong with the program, so that no time is to be believed.
    Failed(String),
    /// The user had enough.
    Stopped,
}

/// The time of a sample, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Of the processor, for the thread.
    pub cpu: u64,
    /// Of the clock.
    pub wall: u64,
    /// Ticks that the machine saw.
    pub ticks: u64,
    /// Was there one, or had one begun before what goes on in it: profilers do here what they do at ticks.
    pub ticked: bool,
    /// Yieldpoints that it took.
    pub yieldpoints_taken: u64,
    /// How often profilers looked.
    pub looks: Looks,
}

/// How a machine is configured.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// Its profilers.
    pub profile: ProfileOptions,
    /// By which profile the blocks of its code are ordered.
    pub order: BlockOrder,
    /// Who chooses which calls are inlined.
    pub inlining: InlineOptions,
    /// By which calls its methods are put in order in memory, if they are.
    pub methods: Option<CallSource>,
    /// Does it make code again when the program changes its behaviour; only whole runs can.
    pub continuous: bool,
}

/// What machines replay that are all to run the same code.
#[derive(Clone)]
pub struct Replay {
    /// What to compile.
    pub advice: Arc<Advice>,
    /// And how.
    pub configuration: Configuration,
    /// The code, once one of them has made it, if not each is to compile for itself.
    pub code: Option<Arc<ReplayedCode>>,
}

/// What a machine is made for.
#[derive(Clone)]
pub enum Purpose {
    /// To find out what is worth compiling: repeatably, at once, with this choice of what is inlined.
    Learn(InlineOptions),
    /// To find out what is missing in that, in the same way.
    Rehearse(Arc<Advice>, InlineOptions),
    /// To replay, with code scattered as the number decides.
    Replay(Replay, u64),
    /// The same under a clock that takes, and counts, every yieldpoint.
    Count(Arc<Advice>, ProfileOptions),
    /// To find out for itself what to compile, as machines of users do, with code scattered as the number decides.
    Whole(Configuration, u64),
}

/// The options of code. The profilers of the configuration.
fn configure(options: &mut VmOptions, configuration: Configuration, scatter: u64) -> ProfileOptions {
    let Configuration { profile, order, inlining, methods, continuous: _ } = configuration;
    (options.tiers.scatter, options.tiers.block_order) = (Some(scatter), order);
    (options.tiers.inlining, options.tiers.method_order) = (inlining, methods);
    profile
}

/// A machine that takes samples.
pub struct Arm<'a> {
    subject: &'a Subject,
    host: &'a dyn Host,
    work: Work,
    expected: Option<u64>,
    output: Output,
    vm: Vm,
    /// Are methods put in order in memory.
    orders: bool,
    /// In percent of the time of the last sample: how much longer each is made, to see whether that is found.
    slowdown: f64,
    /// What the last sample took.
    last: Duration,
}

impl<'a> Arm<'a> {
    /// A new machine; `expected` is the digest of what the program must print, if that is known.
    pub fn new(
        subject: &'a Subject,
        host: &'a dyn Host,
        work: Work,
        expected: Option<u64>,
        purpose: Purpose,
    ) -> Result<Arm<'a>, Failure> {
        let output = Output::default();
        let mut options = host.options(subject.arguments(work), Box::new(output.clone()));
        options.time_limit = options.time_limit.or(Some(UNLIMITED));
        options.profile = ProfileOptions::default();
        (options.tiers.method_order, options.tiers.continuous) = (None, false);
        let replayed = match purpose {
            Purpose::Learn(inlining) => {
                options.tiers.synchronous = true;
                options.tiers.inlining = inlining;
                None
            }
            Purpose::Rehearse(advice, inlining) => {
                options.tiers.synchronous = true;
                options.tiers.inlining = inlining;
                Some((advice, ProfileOptions::default()))
            }
            Purpose::Replay(Replay { advice, configuration, code }, scatter) => {
                options.tiers.replayed = code;
                Some((advice, configure(&mut options, configuration, scatter)))
            }
            Purpose::Whole(configuration, scatter) => {
                options.tiers.continuous = configuration.continuous;
                options.profile = configure(&mut options, configuration, scatter);
                None
            }
            Purpose::Count(advice, profile) => {
                options.timer = holloway_vm::timer::TimerSource::Virtual(u64::MAX);
                Some((advice, profile))
            }
        };
        if let Some((advice, profile)) = replayed {
            options.tiers.level = None;
            options.tiers.replay = Some(advice);
            options.profile = profile;
        }
        let orders = options.tiers.method_order.is_some();
        let vm = Vm::new(subject.program.clone(), options).map_err(Failure::Failed)?;
        let (slowdown, last) = (0.0, Duration::ZERO);
        Ok(Arm { subject, host, work, expected, output, vm, orders, slowdown, last })
    }

    /// The machine.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// From now on every sample takes so many percent longer.
    pub fn slow_down(&mut self, percent: f64) {
        self.slowdown = percent;
    }

    /// What it prints is this, in every run.
    pub fn expected(&self) -> Option<u64> {
        self.expected
    }

    /// Moves its code to other places in memory, as the number decides.
    pub fn scatter(&mut self, seed: u64) {
        self.vm.scatter(seed);
    }

    /// Takes a sample.
    pub fn sample(&mut self) -> Result<Sample, Failure> {
        if self.host.is_stopped() {
            return Err(Failure::Stopped);
        }
        self.host.running(self.vm.interrupt_handle());
        let (before, looked, goes_on) = (self.vm.statistics(), self.vm.looks(), self.vm.samples_go_on());
        for _ in 0..self.work.runs {
            let outcome = self.vm.run();
            self.check(outcome)?;
        }
        let after = self.vm.statistics();
        let took = after.cpu_time.saturating_sub(before.cpu_time);
        let extra = self.wait();
        self.last = took;
        // A clock may stand still for a very short sample, and logarithms need something.
        let nanoseconds = |time: Duration| (time + extra).as_nanos().max(1) as u64;
        Ok(Sample {
            cpu: nanoseconds(took),
            wall: nanoseconds(after.wall_time.saturating_sub(before.wall_time)),
            ticks: after.ticks - before.ticks,
            ticked: goes_on || after.ticks > before.ticks,
            yieldpoints_taken: after.yieldpoints_taken - before.yieldpoints_taken,
            looks: self.vm.looks() - looked,
        })
    }

    /// What the last sample took.
    pub fn last_sample(&self) -> Duration {
        self.last
    }

    /// Spends the time by which samples are to be longer. How much it was.
    fn wait(&self) -> Duration {
        if self.slowdown <= 0.0 {
            return Duration::ZERO;
        }
        let (start, extra) = (thread_time(), self.last.mul_f64(self.slowdown / 100.0));
        loop {
            let spent = thread_time().saturating_sub(start);
            if spent >= extra {
                return spent;
            }
            std::hint::spin_loop();
        }
    }

    fn check(&mut self, outcome: Outcome) -> Result<(), Failure> {
        let printed = self.output.take();
        let reason = match outcome {
            Outcome::Finished(errors) => {
                errors.first().map(|error| format!("{}: {}", error.class, error.message))
            }
            Outcome::Failed(error, _) => Some(format!("{}: {}", error.class, error.message)),
            Outcome::Stopped(StopReason::Interrupted, _) => return Err(Failure::Stopped),
            Outcome::Stopped(reason, _) => Some(reason.to_string()),
        };
        if let Some(reason) = reason {
            return Err(Failure::Failed(reason));
        }
        self.subject.check(self.work, &printed, self.expected).map_err(Failure::Failed)?;
        self.expected = Some(printed.digest);
        Ok(())
    }

    /// Changes whenever something is compiled, refused, moved or thrown away.
    pub fn compilations(&self) -> u64 {
        let tiers = self.vm.statistics().tiers;
        tiers.compilations() + tiers.refused + tiers.invalidations + tiers.method_orders
    }

    /// Will the code that it has be put in order at one of the next ticks.
    pub fn is_unordered(&self) -> bool {
        self.orders && self.vm.statistics().tiers.method_orders == 0
    }
}
