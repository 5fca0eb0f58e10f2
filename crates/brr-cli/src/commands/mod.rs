//! One file per verb.

#[cfg(feature = "workstation")]
mod audit;
#[cfg(feature = "workstation")]
mod build;
#[cfg(feature = "workstation")]
mod calibrate;
#[cfg(feature = "workstation")]
mod certify;
#[cfg(feature = "workstation")]
mod decode;
#[cfg(feature = "workstation")]
mod estimate;
#[cfg(feature = "workstation")]
mod evaluate;
#[cfg(feature = "workstation")]
mod explain;
#[cfg(feature = "workstation")]
mod inspect;
#[cfg(feature = "workstation")]
mod language;
pub mod privatize;
#[cfg(feature = "workstation")]
mod ratio;

/// The verbs that build, explain and measure, beside the one that privatizes.
#[cfg(feature = "workstation")]
#[derive(clap::Subcommand)]
pub enum Workstation {
    Build(build::Args),
    Certify(certify::Args),
    Inspect(inspect::Args),
    Language(language::Args),
    Calibrate(calibrate::Args),
    Explain(explain::Args),
    Estimate(estimate::Args),
    Decode(decode::Args),
    Ratio(ratio::Args),
    Evaluate(evaluate::Args),
    Audit(audit::Args),
}

#[cfg(feature = "workstation")]
impl Workstation {
    pub fn run(self) -> crate::failure::Result {
        match self {
            Workstation::Build(args) => build::run(args),
            Workstation::Certify(args) => certify::run(args),
            Workstation::Inspect(args) => inspect::run(args),
            Workstation::Language(args) => language::run(args),
            Workstation::Calibrate(args) => calibrate::run(args),
            Workstation::Explain(args) => explain::run(args),
            Workstation::Estimate(args) => estimate::run(args),
            Workstation::Decode(args) => decode::run(args),
            Workstation::Ratio(args) => ratio::run(args),
            Workstation::Evaluate(args) => evaluate::run(args),
            Workstation::Audit(args) => audit::run(args),
        }
    }
}
