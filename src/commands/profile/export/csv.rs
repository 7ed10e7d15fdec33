//! All counts as one table of comma-separated values, so that a spreadsheet or a script need not know the file format.

use super::super::model::Profile;
use super::super::subpaths;
use super::super::text::{is_wanted, outcome, path};
use super::super::traces::name;
use crate::report::Stop;
use holloway_vm::profiling::CallRecord;
use holloway_vm::profiling::file::{RegionPathRecord, SubpathRecords};

/// The columns. Those that a row has no use for are empty.
const COLUMNS: [&str; 11] =
    ["what", "source", "method", "file", "line", "position", "way", "version", "numbers", "path", "count"];

/// The table.
pub fn csv(profile: &Profile, wanted: &impl Fn(u32) -> bool) -> Result<Vec<u8>, Stop> {
    let mut table = Table { profile, rows: vec![COLUMNS.map(str::to_string)] };
    let edges = &profile.file.edges;
    table.edges("baseline", &edges.baseline, wanted);
    table.edges("exact", edges.exact.as_deref().unwrap_or_default(), wanted);
    table.edges("sampled", edges.sampled.as_deref().unwrap_or_default(), wanted);
    table.edges("subpaths", edges.subpaths.as_deref().unwrap_or_default(), wanted);
    for count in profile.file.exact.iter().flatten() {
        table.path("exact", count.version, &[count.number], count.count, wanted);
    }
    for count in profile.file.sampled.iter().flat_map(|sampled| &sampled.paths) {
        table.path("sampled", count.version, &[count.number], count.count, wanted);
    }
    for sequence in profile.file.iterated.iter().flat_map(|forest| &forest.sequences) {
        table.path("forest", sequence.version, &sequence.numbers, sequence.count, wanted);
    }
    for sequence in profile.file.windowed.iter().flat_map(|windows| &windows.sequences) {
        table.path("windows", sequence.version, &sequence.numbers, sequence.count, wanted);
    }
    let calls = &profile.file.calls;
    table.calls("exact", calls.exact.as_deref().unwrap_or_default(), wanted);
    table.calls("sampled", calls.sampled.as_ref().map_or(&[], |sampled| &sampled.calls), wanted);
    table.calls("credited", calls.credited.as_ref().map_or(&[], |credited| &credited.calls), wanted);
    table.calls("heard", calls.heard.as_ref().map_or(&[], |heard| &heard.calls), wanted);
    table.calls("cached", calls.cached.as_ref().map_or(&[], |cached| &cached.calls), wanted);
    for path in profile.file.traces.iter().flat_map(|traces| &traces.paths) {
        table.trace("btb", path, format!("{:.3}", path.weight), wanted);
        if let Some(count) = path.count {
            table.trace("btb exact", path, count.to_string(), wanted);
        }
    }
    if let Some(of) = &profile.file.subpaths {
        for path in of.exact.iter().flat_map(|exact| &exact.paths) {
            table.subpath("subpaths", of, &path.blocks, path.count.to_string(), wanted);
        }
        for path in of.sampled.iter().flat_map(|sampled| &sampled.paths) {
            let blocks = path.blocks.as_deref().unwrap_or_default();
            table.subpath("osp", of, blocks, format!("{:.1}", path.estimate), wanted);
        }
    }
    for (reason, &count) in &profile.file.dropped {
        let mut row = table.row("dropped", reason);
        row[10] = count.to_string();
        table.rows.push(row);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in &table.rows {
        writer.write_record(row).map_err(Stop::failure)?;
    }
    writer.into_inner().map_err(Stop::failure)
}

struct Table<'p> {
    profile: &'p Profile,
    rows: Vec<[String; 11]>,
}

impl Table<'_> {
    fn row(&self, what: &str, source: &str) -> [String; 11] {
        let mut row: [String; 11] = Default::default();
        row[0] = what.to_string();
        row[1] = source.to_string();
        row
    }

    fn edges(&mut self, source: &str, rows: &[(u32, Vec<u64>)], wanted: &impl Fn(u32) -> bool) {
        for (number, arms) in rows {
            let branch = &self.profile.file.branches[*number as usize];
            let place = &branch.place;
            for (arm, count) in arms.iter().enumerate().filter(|_| wanted(place.method)) {
                let mut row = self.row("edge", source);
                row[2] = self.profile.method(place.method).to_string();
                row[3] = self.profile.file_name(place.file).to_string();
                row[4] = place.line.to_string();
                row[5] = place.position.to_string();
                row[6] = outcome(arm, branch.arms);
                row[10] = count.to_string();
                self.rows.push(row);
            }
        }
    }

    /// The way of a call is the method that is called.
    fn calls(&mut self, source: &str, records: &[CallRecord], wanted: &impl Fn(u32) -> bool) {
        for of in records.iter().filter(|of| wanted(of.site.method) || wanted(of.callee)) {
            let mut row = self.row("call", source);
            row[2] = self.profile.method(of.site.method).to_string();
            row[3] = self.profile.file_name(of.site.file).to_string();
            row[4] = of.site.line.to_string();
            row[5] = of.site.position.to_string();
            row[6] = self.profile.method(of.callee).to_string();
            row[10] = of.count.to_string();
            self.rows.push(row);
        }
    }

    fn trace(&mut self, source: &str, path: &RegionPathRecord, count: String, wanted: &impl Fn(u32) -> bool) {
        if wanted(path.owner()) {
            let mut row = self.row("path", source);
            row[2] = self.profile.method(path.begin.method).to_string();
            row[3] = self.profile.file_name(path.begin.file).to_string();
            row[4] = path.begin.line.to_string();
            row[5] = path.begin.position.to_string();
            row[9] = name(self.profile, path);
            row[10] = count;
            self.rows.push(row);
        }
    }

    /// The numbers are those of its blocks, in the whole program. What was not described is left out.
    fn subpath(
        &mut self,
        source: &str,
        of: &SubpathRecords,
        blocks: &[u32],
        count: String,
        wanted: &impl Fn(u32) -> bool,
    ) {
        let records = || blocks.iter().map(|&at| &of.blocks[at as usize]);
        let Some(first) = records().next().map(|block| block.place) else { return };
        if records().any(|block| wanted(block.place.method)) {
            let mut row = self.row("subpath", source);
            row[2] = self.profile.method(first.method).to_string();
            row[3] = self.profile.file_name(first.file).to_string();
            row[4] = first.line.to_string();
            row[5] = first.position.to_string();
            row[8] = records().map(|block| block.number.to_string()).collect::<Vec<_>>().join(" ");
            row[9] = subpaths::name(self.profile, of, blocks);
            row[10] = count;
            self.rows.push(row);
        }
    }

    fn path(
        &mut self,
        source: &str,
        version: u32,
        numbers: &[u64],
        count: u64,
        wanted: &impl Fn(u32) -> bool,
    ) {
        let known: Vec<usize> =
            numbers.iter().filter_map(|&number| self.profile.path_of(version, number)).collect();
        let Some(&first) = known.first() else { return };
        let paths = &self.profile.paths;
        if !is_wanted(&paths[first], wanted) {
            return;
        }
        let begin = &paths[first].places[0];
        let mut row = self.row("path", source);
        row[2] = self.profile.method(begin.method).to_string();
        row[3] = self.profile.file_name(begin.file).to_string();
        row[4] = begin.line.to_string();
        row[5] = begin.position.to_string();
        row[7] = version.to_string();
        row[8] = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
        row[9] = known.iter().map(|&at| path(self.profile, &paths[at])).collect::<Vec<_>>().join(" | ");
        row[10] = count.to_string();
        self.rows.push(row);
    }
}
