//! On-device text privatization with binary randomized response (BRR).

pub mod codes;
pub mod epsilon;
pub mod error;
pub mod guarantee;
pub mod mechanism;
pub mod model;
pub mod nearest;
pub mod privatizer;
pub mod random;
pub mod response;
pub mod text;
pub mod vocabulary;

pub use epsilon::Epsilon;
pub use error::{Error, Result};
pub use guarantee::{Budget, Guarantee, Metric};
pub use model::Model;
pub use privatizer::{MechanismKind, Options, Privatized, Privatizer};
pub use text::{Layout, Unknown};
