//! The program, as its users run it. One binary: what is linked once is linked quickly.

#[cfg(unix)]
mod audit_claim;
mod build;
mod canaries;
mod corpus;
mod decode;
mod estimate;
mod evaluate;
mod faults;
mod inspect;
mod language;
mod mechanisms;
mod modules;
mod options;
mod outputs;
#[cfg(unix)]
mod ownership;
mod policy;
mod privatize;
mod resume;
mod streams;
mod support;
mod tree;
mod units;
mod values;
