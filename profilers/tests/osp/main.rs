//! Online subpath profiling: the vectors, the twins and the statistics.

mod ageing;
mod chance;
mod counting;
mod coverage;
mod describing;
mod exhaustive;
mod many_streams;
mod profiling;
mod streams;
mod vectors;
