//! Mechanisms to compare with: Madlib, and k-ary response, which needs no vectors at all.
//!
//! All stand behind [`brr::parts::mechanism::Mechanism`], as brr's own do.

#[cfg(feature = "approximate")]
mod approximate;
mod family;
mod kary;
mod madlib;
mod noise;
mod space;

#[cfg(feature = "approximate")]
pub use approximate::{Graph, GraphOptions};
pub use family::{CertifiedFamily, Family, KaryFamily, MadlibFamily, ShippedFamily};
pub use kary::Kary;
pub use madlib::Madlib;
pub use noise::VectorNoise;
pub use space::{NearestVector, Space};

use brr::parts::distances::PairDistances;

/// Distances of the discrete metric over `words` words: 1 between any two, the
/// diagonal counted in the average as everywhere.
fn discrete_distances(words: usize) -> PairDistances {
    let apart = f64::from(u8::from(words > 1));
    PairDistances {
        average: 1.0 - 1.0 / words as f64,
        maximum: apart,
        nearest_mean: apart,
        nearest_min: apart,
    }
}
