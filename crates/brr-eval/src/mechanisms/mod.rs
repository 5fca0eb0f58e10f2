//! Mechanisms to compare: Madlib, a baseline, and brr's own at any epsilon.
//!
//! All stand behind [`brr::parts::mechanism::Mechanism`].

#[cfg(feature = "approximate")]
mod approximate;
mod family;
mod madlib;
mod noise;
mod space;

#[cfg(feature = "approximate")]
pub use approximate::{Graph, GraphOptions};
pub use family::{CertifiedFamily, Family, KaryFamily, MadlibFamily, ShippedFamily};
pub use madlib::Madlib;
pub use noise::VectorNoise;
pub use space::{NearestVector, Space};

#[cfg(test)]
pub(crate) use space::tests::space as test_space;
