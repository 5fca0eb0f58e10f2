//! Pages with charts and tables in one HTML file that needs no network.
//!
//! Charts are SVG written out in the page; colours follow the reader's light or
//! dark setting; every chart has a title, a description and its numbers in a table
//! beside it, and tells its lines apart by shape as well as by colour.

mod calibration;
mod chart;
mod evaluation;
mod page;

pub use calibration::{calibration, recommendation, solution_text};
pub use chart::{Axis, Chart, Point, Series};
pub use evaluation::{evaluation, evaluation_picture};
pub use page::{Page, Table, escape};
