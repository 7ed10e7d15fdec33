//! Arnold and Grove 2005, table 2: the cells of its two grids, what was printed in them, and how often accuracy falls from one to the next.
//!
//! The grids have rows of samples for each tick and columns of strides. Where windows would last longer than the paper's authors waited for, cells
//! are empty: those are not measured here either. Rows of the paper go on beyond an overhead of 1000 %, so nothing else ends one.

use crate::papers;
use crate::plan::Plan;

/// Samples for each tick, and the stride between them.
pub type Point = (u32, u32);

/// Numbers by row and column; nothing in cells that are empty.
pub type Numbers = Vec<Vec<Option<f64>>>;

/// One of the two tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// Table 2A, of Jikes RVM.
    Jikes,
    /// Table 2B, of J9. It has all cells of the other one, and more rows.
    J9,
}

/// A fall, in percent, that whole percents show more often than not: the paper prints these, and what falls by less is mostly none there.
const SHOWN: f64 = 0.5;

/// A few of everything, when time is short: a five by five subset of both tables.
const LITTLE: [[u32; 5]; 2] = [[1, 4, 16, 64, 256], [1, 3, 7, 31, 127]];

/// What a table has, as far as it is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Grid {
    /// The rows: samples for each tick.
    pub samples: Vec<u32>,
    /// The columns.
    pub strides: Vec<u32>,
    /// The paper's accuracy, in percent.
    pub accuracy: Numbers,
    /// The paper's overhead, in percent.
    pub overhead: Numbers,
}

impl Table {
    /// Where the papers' numbers have it.
    pub fn key(self, what: &str) -> String {
        format!("cbs.{}.{what}", if self == Table::Jikes { "table2a" } else { "table2b" })
    }

    /// A number that the paper has of it.
    pub fn number(self, what: &str) -> f64 {
        papers::number(&self.key(what))
    }
}

impl Grid {
    /// What is to be measured of a table.
    pub fn of(plan: &Plan, table: Table) -> Grid {
        let axis = |name: &str, little: &[u32]| -> Vec<(usize, u32)> {
            let all = papers::numbers(&table.key(name)).into_iter().flatten().map(|of| of as u32);
            all.enumerate().filter(|(_, of)| plan.pick(little.contains(of), true)).collect()
        };
        let (rows, columns) = (axis("samples", &LITTLE[0]), axis("strides", &LITTLE[1]));
        let printed = |what: &str| -> Numbers {
            let all = papers::grid(&table.key(what));
            rows.iter().map(|row| columns.iter().map(|column| all[row.0][column.0]).collect()).collect()
        };
        let values = |of: &[(usize, u32)]| of.iter().map(|of| of.1).collect();
        Grid {
            accuracy: printed("accuracy"),
            overhead: printed("overhead"),
            samples: values(&rows),
            strides: values(&columns),
        }
    }

    /// The cells that are not empty, row by row.
    pub fn points(&self) -> Vec<Point> {
        let rows = self.samples.iter().zip(&self.accuracy);
        let all = rows.flat_map(|(&samples, row)| {
            self.strides.iter().zip(row).map(move |(&stride, printed)| printed.map(|_| (samples, stride)))
        });
        all.flatten().collect()
    }

    /// The number of a cell.
    pub fn at(&self, numbers: &Numbers, (samples, stride): Point) -> Option<f64> {
        let row = self.samples.iter().position(|&of| of == samples)?;
        let column = self.strides.iter().position(|&of| of == stride)?;
        numbers[row][column]
    }

    /// A number for each cell that is not empty.
    pub fn fill(&self, number: impl Fn(Point) -> Option<f64>) -> Numbers {
        let rows = self.samples.iter().zip(&self.accuracy);
        let row = |(&samples, printed): (&u32, &Vec<Option<f64>>)| {
            let cells = self.strides.iter().zip(printed);
            cells.map(|(&stride, printed)| printed.and_then(|_| number((samples, stride)))).collect()
        };
        rows.map(row).collect()
    }

    /// How often the accuracy falls from one cell that counts to the next, by at least [`SHOWN`] and, of those steps, as the other function says.
    pub fn falls(
        &self,
        accuracy: &Numbers,
        counts: impl Fn(Point) -> bool,
        is_fall: impl Fn(Point, Point) -> bool,
    ) -> Falls {
        let at = |row: usize, column: usize| {
            let point = (*self.samples.get(row)?, *self.strides.get(column)?);
            Some((point, accuracy[row][column].filter(|_| counts(point))?))
        };
        let mut falls = Falls::default();
        for row in 0..self.samples.len() {
            for column in 0..self.strides.len() {
                let Some((point, here)) = at(row, column) else { continue };
                for (next, of) in
                    [(at(row, column + 1), &mut falls.strides), (at(row + 1, column), &mut falls.samples)]
                {
                    if let Some((to, next)) = next {
                        *of = (of.0 + usize::from(here - next >= SHOWN && is_fall(point, to)), of.1 + 1);
                    }
                }
            }
        }
        falls
    }
}

/// Steps from one cell to the next in which accuracy falls, and all steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Falls {
    /// Along a row, to a longer stride.
    pub strides: (usize, usize),
    /// Along a column, to more samples.
    pub samples: (usize, usize),
}

impl Falls {
    /// Both together.
    pub fn all(&self) -> (usize, usize) {
        (self.strides.0 + self.samples.0, self.strides.1 + self.samples.1)
    }

    /// Are they no larger a part of the steps than they are in the other.
    pub fn are_as_few_as(&self, other: &Falls) -> bool {
        let ((own, all_own), (others, all_others)) = (self.all(), other.all());
        own * all_others <= others * all_own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Mode;

    fn below_a_hundred(grid: &Grid) -> Falls {
        let is_cheap = |(samples, stride): Point| {
            let row = grid.samples.iter().position(|of| *of == samples).expect("a row");
            let column = grid.strides.iter().position(|of| *of == stride).expect("a column");
            grid.overhead[row][column].is_some_and(|overhead| overhead < 100.0)
        };
        grid.falls(&grid.accuracy, is_cheap, |_, _| true)
    }

    /// As they were counted in the catalogue, by another program.
    #[test]
    fn the_papers_own_grids_fall_rarely() {
        let full = Plan::new(Mode::Full);
        let jikes = Grid::of(&full, Table::Jikes);
        assert_eq!(below_a_hundred(&jikes), Falls { strides: (2, 102), samples: (0, 103) });
        let j9 = Grid::of(&full, Table::J9);
        assert_eq!(below_a_hundred(&j9), Falls { strides: (16, 153), samples: (0, 158) });
        assert!(below_a_hundred(&jikes).are_as_few_as(&below_a_hundred(&j9)));
        assert!(!below_a_hundred(&j9).are_as_few_as(&below_a_hundred(&jikes)));
    }

    #[test]
    fn cells_are_those_that_the_paper_has() {
        let full = Plan::new(Mode::Full);
        let [jikes, j9] = [Table::Jikes, Table::J9].map(|table| Grid::of(&full, table).points());
        assert_eq!((jikes.len(), j9.len()), (162, 206));
        assert!(jikes.iter().all(|of| j9.contains(of)));
        let quick = Plan::new(Mode::Quick);
        for table in [Table::Jikes, Table::J9] {
            assert_eq!(Grid::of(&quick, table).points().len(), 25);
        }
    }

    #[test]
    fn a_fall_by_less_than_is_shown_is_none() {
        let grid = Grid {
            samples: vec![1, 2],
            strides: vec![1, 3],
            accuracy: vec![vec![Some(0.0); 2]; 2],
            overhead: vec![vec![Some(0.0); 2]; 2],
        };
        let accuracy = vec![vec![Some(39.6), Some(39.2)], vec![Some(50.0), Some(49.4)]];
        let all = |_, _| true;
        assert_eq!(grid.falls(&accuracy, |_| true, all), Falls { strides: (1, 2), samples: (0, 2) });
        assert_eq!(grid.falls(&accuracy, |of| of.0 == 1, all), Falls { strides: (0, 1), samples: (0, 0) });
        assert_eq!(
            grid.falls(&accuracy, |_| true, |_, to| to.0 != 2),
            Falls { strides: (0, 2), samples: (0, 2) }
        );
    }
}
