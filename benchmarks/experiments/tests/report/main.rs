//! Tests of the report: the page and the Markdown form of an invented reproduction, of strange values, and in a real browser.
//!
//! * `xml`: a reader of pages that accepts nothing that is not well-formed
//! * `page`: what the page has and does not have
//! * `strange`: hostile names, nothing at all, numbers that are none
//! * `browser`: opened, looked at and clicked on in Chromium, if there is one
//! * `png`: what a screenshot shows

mod browser;
mod page;
mod png;
mod strange;
#[path = "../../examples/report/value.rs"]
mod value;
mod xml;
