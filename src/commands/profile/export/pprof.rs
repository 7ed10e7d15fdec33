//! Paths or calls for pprof. The messages are those of its `profile.proto`, as far as they are needed; its text strings are in one table.

use super::super::model::Profile;
use super::stacks::{Frame, Stacks};
use prost::Message;
use std::collections::BTreeMap;

/// `perftools.profiles.Profile`.
#[derive(Clone, PartialEq, Message)]
pub struct ProfileMessage {
    /// What the values of samples are.
    #[prost(message, repeated, tag = "1")]
    pub sample_type: Vec<ValueType>,
    /// The samples.
    #[prost(message, repeated, tag = "2")]
    pub sample: Vec<Sample>,
    /// Frames.
    #[prost(message, repeated, tag = "4")]
    pub location: Vec<Location>,
    /// Names of frames.
    #[prost(message, repeated, tag = "5")]
    pub function: Vec<Function>,
    /// All strings, the empty one first.
    #[prost(string, repeated, tag = "6")]
    pub string_table: Vec<String>,
    /// Remarks.
    #[prost(int64, repeated, tag = "13")]
    pub comment: Vec<i64>,
    /// What is shown first.
    #[prost(int64, tag = "14")]
    pub default_sample_type: i64,
}

/// `perftools.profiles.ValueType`.
#[derive(Clone, PartialEq, Message)]
pub struct ValueType {
    /// A string.
    #[prost(int64, tag = "1")]
    pub kind: i64,
    /// A string.
    #[prost(int64, tag = "2")]
    pub unit: i64,
}

/// `perftools.profiles.Sample`.
#[derive(Clone, PartialEq, Message)]
pub struct Sample {
    /// From the innermost.
    #[prost(uint64, repeated, tag = "1")]
    pub location_id: Vec<u64>,
    /// One for each type.
    #[prost(int64, repeated, tag = "2")]
    pub value: Vec<i64>,
}

/// `perftools.profiles.Location`.
#[derive(Clone, PartialEq, Message)]
pub struct Location {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// Where it is.
    #[prost(message, repeated, tag = "4")]
    pub line: Vec<Line>,
}

/// `perftools.profiles.Line`.
#[derive(Clone, PartialEq, Message)]
pub struct Line {
    /// The function.
    #[prost(uint64, tag = "1")]
    pub function_id: u64,
    /// From 1.
    #[prost(int64, tag = "2")]
    pub line: i64,
}

/// `perftools.profiles.Function`.
#[derive(Clone, PartialEq, Message)]
pub struct Function {
    /// From 1.
    #[prost(uint64, tag = "1")]
    pub id: u64,
    /// A string.
    #[prost(int64, tag = "2")]
    pub name: i64,
    /// A string.
    #[prost(int64, tag = "3")]
    pub system_name: i64,
    /// A string.
    #[prost(int64, tag = "4")]
    pub filename: i64,
    /// Where it starts.
    #[prost(int64, tag = "5")]
    pub start_line: i64,
}

/// The strings of a profile.
struct Strings {
    table: Vec<String>,
    known: BTreeMap<String, i64>,
}

impl Strings {
    fn new() -> Strings {
        Strings { table: vec![String::new()], known: BTreeMap::from([(String::new(), 0)]) }
    }

    fn number(&mut self, text: &str) -> i64 {
        if let Some(&number) = self.known.get(text) {
            return number;
        }
        let number = self.table.len() as i64;
        self.table.push(text.to_string());
        self.known.insert(text.to_string(), number);
        number
    }
}

/// The encoded profile.
pub fn pprof(profile: &Profile, stacks: &Stacks) -> Vec<u8> {
    let mut strings = Strings::new();
    let mut message = ProfileMessage::default();
    for (kind, unit) in stacks.types {
        let value = ValueType { kind: strings.number(kind), unit: strings.number(unit) };
        message.sample_type.push(value);
    }
    message.default_sample_type = strings.number(stacks.types[0].0);
    let remark = format!("{}, counted {}", profile.file.program.main, stacks.origin);
    message.comment.push(strings.number(&remark));
    let mut locations: BTreeMap<&Frame, u64> = BTreeMap::new();
    // A method is one function, whatever lines of it are seen.
    let mut functions: BTreeMap<(&str, u32, u32), u64> = BTreeMap::new();
    for stack in &stacks.stacks {
        let mut location_id = Vec::new();
        for frame in stack.frames.iter().rev() {
            let next = locations.len() as u64 + 1;
            let id = *locations.entry(frame).or_insert(next);
            if id == next {
                let next = functions.len() as u64 + 1;
                let known = (&*frame.name, frame.file, frame.begins);
                let function_id = *functions.entry(known).or_insert(next);
                if function_id == next {
                    let name = strings.number(&frame.name);
                    let filename = strings.number(profile.file_name(frame.file));
                    let start_line = i64::from(frame.begins);
                    let function = Function { id: next, name, system_name: name, filename, start_line };
                    message.function.push(function);
                }
                let line = vec![Line { function_id, line: i64::from(frame.line) }];
                message.location.push(Location { id, line });
            }
            location_id.push(id);
        }
        let value = [stack.count, stack.flow].map(|value| i64::try_from(value).unwrap_or(i64::MAX)).to_vec();
        message.sample.push(Sample { location_id, value });
    }
    message.string_table = strings.table;
    message.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::super::stacks::stacks;
    use super::{ProfileMessage, pprof};
    use crate::commands::profile::tests::example;
    use prost::Message;

    #[test]
    fn what_is_written_can_be_read() {
        let profile = example();
        let stacks = stacks(&profile, &|_| true).unwrap_or_else(|_| panic!("it has paths"));
        let message = ProfileMessage::decode(&*pprof(&profile, &stacks)).expect("a message");
        let text = |at: i64| &*message.string_table[at as usize];
        let kinds: Vec<&str> = message.sample_type.iter().map(|kind| text(kind.kind)).collect();
        assert_eq!(kinds, ["paths", "flow"]);
        assert_eq!(message.sample.iter().map(|sample| sample.value[0]).sum::<i64>(), 35);
        let sample = &message.sample[0];
        let name = |id: u64| {
            let location = message.location.iter().find(|location| location.id == id).expect("it is there");
            let function = location.line[0].function_id;
            text(message.function.iter().find(|of| of.id == function).expect("it is there").name)
        };
        let names: Vec<&str> = sample.location_id.iter().map(|&id| name(id)).collect();
        assert_eq!(names, ["walk:5 taken", "walk:4 cut", "walk"]);
        assert_eq!(sample.value, [30, 60]);
    }
}
