//! The policy: what is private, how it is drawn, and what becomes of each role. Read from TOML.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::{Budget, Case, Choice, MechanismKind, Model, Numbers, Options, Privatizer};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::fields::Pattern;

/// The policy if none is named, and the documentation of its keys.
pub const DEFAULT: &str = include_str!("../policy.toml");

/// A policy as it is written. What a file leaves out is as in [`DEFAULT`], but for the loss
/// and the list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    name: Option<String>,
    model: Option<PathBuf>,
    mechanism: Option<String>,
    epsilon: Option<f64>,
    bound: Option<f64>,
    keep: Option<f64>,
    public: Option<String>,
    public_file: Option<PathBuf>,
    private: Option<String>,
    private_file: Option<PathBuf>,
    case: Option<String>,
    numbers: Option<Integers>,
    roles: Roles,
    json: Json,
    limits: Limits,
}

/// What becomes of a text.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Treatment {
    /// Each private word is drawn.
    #[default]
    Privatize,
    /// It is sent as it is, and the guarantee says nothing about it.
    Public,
    /// The request is refused.
    Refuse,
}

/// Whose text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the application.
    System,
    /// The person.
    User,
    /// The language model, in earlier answers that the client sends back restored.
    Assistant,
    /// What a tool returned.
    Tool,
    /// Descriptions of tools, their parameters and of answers' forms.
    Definitions,
}

/// What becomes of the text of each role.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Roles {
    system: Treatment,
    user: Treatment,
    assistant: Treatment,
    tool: Treatment,
    definitions: Treatment,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Json {
    keys: Vec<String>,
}

/// The range of integers that become integers, and the units that a loss of 1 is for.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Integers {
    low: i64,
    high: i64,
    scale: u32,
}

/// What a request and a conversation may take.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of a request.
    pub body: usize,
    /// Conversations in memory.
    pub conversations: usize,
    /// Minutes for which a conversation is kept after its last request.
    pub expiry_minutes: f64,
    /// Distinct words that a conversation remembers: private ones, and those of public text.
    pub words: u64,
    /// Bytes of all sessions.
    pub memory: usize,
    /// Largest loss of a conversation; 0 sets no limit.
    pub loss: f64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body: 4_000_000,
            conversations: 1000,
            expiry_minutes: 60.0,
            words: 100_000,
            memory: 1_000_000_000,
            loss: 0.0,
        }
    }
}

/// A policy that holds together. Which words are private is in the [privatizer](Policy::load).
#[derive(Clone, Debug)]
pub struct Policy {
    written: Written,
    identity: String,
}

impl Policy {
    /// Reads a policy. Messages name keys and lines, and no values.
    pub fn parse(text: &str) -> Result<Policy, String> {
        let mut written: Written = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..before]
                .iter()
                .filter(|b| **b == b'\n')
                .count()
                + 1;
            format!(
                "line {line}: not a key or value that a policy has (docs/prompts.md lists them)"
            )
        })?;
        let named = written.name.get_or_insert_with(|| "unnamed".into());
        if !Pattern::Name.fits(named) {
            return Err("name has to be 1 to 64 of A-Z a-z 0-9 . _ -".into());
        }
        if !written.json.keys.iter().all(|key| Pattern::Name.fits(key)) {
            return Err("each of json.keys has to be 1 to 64 of A-Z a-z 0-9 . _ -".into());
        }
        let loss = written.limits.loss;
        if loss.is_nan() || loss < 0.0 || written.limits.conversations == 0 {
            return Err("limits.loss has to be 0 or more, limits.conversations 1 or more".into());
        }
        if !(0.0..=1e6).contains(&written.limits.expiry_minutes) {
            return Err("limits.expiry_minutes has to be 0 to 1,000,000".into());
        }
        let digest = Sha256::digest(text);
        let identity = digest.iter().take(6).map(|b| format!("{b:02x}")).collect();
        Ok(Policy { written, identity })
    }

    /// What becomes of a role's text.
    pub fn treatment(&self, role: Role) -> Treatment {
        let roles = self.written.roles;
        match role {
            Role::System => roles.system,
            Role::User => roles.user,
            Role::Assistant => roles.assistant,
            Role::Tool => roles.tool,
            Role::Definitions => roles.definitions,
        }
    }

    /// Names of JSON fields that leave as they are.
    pub fn keys(&self) -> &[String] {
        &self.written.json.keys
    }

    /// What may be taken.
    pub fn limits(&self) -> Limits {
        self.written.limits
    }

    /// Its name and the beginning of its SHA-256: what receipts say.
    pub fn label(&self) -> String {
        let name = self.written.name.as_deref().unwrap_or_default();
        format!("{name}:{}", self.identity)
    }

    /// Opens the model, checks what the guarantee rests on, and sets the mechanism up.
    pub fn load(&self) -> Result<Arc<Privatizer>, String> {
        let written = &self.written;
        let told = |error: brr::Error| error.to_string();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let model = Arc::new(match &written.model {
            Some(path) => Model::open(path).map_err(told)?,
            None => brr_english::model().map_err(told)?,
        });
        let mechanism = match &written.mechanism {
            Some(name) => MechanismKind::parse(name).map_err(told)?,
            None => MechanismKind::Tree,
        };
        if !matches!(mechanism, MechanismKind::Tree | MechanismKind::KAry) {
            model.check(threads, &|_| {}).map_err(told)?;
        }
        let case = match &written.case {
            Some(name) => Case::parse(name).map_err(told)?,
            None => Case::Sentence,
        };
        let words = brr_english::policy(
            list(&written.public, &written.public_file)?.as_deref(),
            list(&written.private, &written.private_file)?.as_deref(),
            &model,
        );
        let options = Options::default()
            .with_mechanism(mechanism)
            .with_budget(self.budget()?)
            .with_policy(words.map_err(told)?);
        let options = brr_english::with_case(options, case, &model);
        let privatizer = Privatizer::certified(model, options, threads, &|_| {}).map_err(told)?;
        Ok(Arc::new(match written.numbers {
            None => privatizer,
            Some(Integers { low, high, scale }) => {
                privatizer.with_numbers(Numbers::new(low..=high, scale).map_err(told)?)
            }
        }))
    }

    fn budget(&self) -> Result<Budget, String> {
        let Written {
            epsilon,
            bound,
            keep,
            ..
        } = self.written;
        match (epsilon, bound, keep) {
            (Some(x), None, None) => Ok(Budget::Epsilon(x)),
            (None, Some(x), None) => Ok(Budget::Bound(x)),
            (None, None, Some(x)) => Ok(Budget::Keep(x)),
            _ => Err("state the loss by one of epsilon, bound and keep".into()),
        }
    }
}

/// A list by the name of a built-in one, or the words of a file, each with a line feed after it.
fn list(name: &Option<String>, file: &Option<PathBuf>) -> Result<Option<String>, String> {
    match (name, file) {
        (Some(_), Some(_)) => Err("give a list by name or by file, not both".into()),
        (Some(name), None) if name.contains('\n') => Err("a list's name is one line".into()),
        (name, None) => Ok(name.clone()),
        (None, Some(path)) => read(path).map(|words| Some(words + "\n")),
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {}", path.display(), error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_says_what_is_left_out_of_a_file() {
        let (whole, empty) = (Policy::parse(DEFAULT).unwrap(), Policy::parse("").unwrap());
        assert_eq!(
            format!("{:?}", whole.limits()),
            format!("{:?}", empty.limits())
        );
        for role in [
            Role::System,
            Role::User,
            Role::Assistant,
            Role::Tool,
            Role::Definitions,
        ] {
            assert_eq!(whole.treatment(role), Treatment::Privatize);
            assert_eq!(empty.treatment(role), Treatment::Privatize);
        }
        assert!(whole.label().starts_with("default:"));
    }

    #[test]
    fn faults_are_told_without_values() {
        for (text, told) in [
            ("mechanism = 'tree'\nsecret = 'qwxzv'", "line 2"),
            ("[roles]\nuser = 'qwxzv'", "line 2"),
            ("name = 'qwxzv qwxzv'", "name"),
            ("[json]\nkeys = ['qwxzv!']", "json.keys"),
            ("[numbers]\nlow = 'qwxzv'", "line "),
            ("[limits]\nexpiry_minutes = -1.0", "limits.expiry_minutes"),
        ] {
            let fault = Policy::parse(text).unwrap_err();
            assert!(fault.contains(told) && !fault.contains("qwxzv"), "{fault}");
        }
        for text in [
            "",
            "epsilon = 1.0\nmechanism = 'qwxzv'",
            "epsilon = 1.0\npublic = 'qwxzv'",
            "epsilon = 1.0\nkeep = 0.5",
            "epsilon = 1.0\nnumbers = { low = 5, high = 5, scale = 1 }",
        ] {
            let fault = Policy::parse(text).unwrap().load().err().unwrap();
            assert!(!fault.contains("qwxzv"), "{fault}");
        }
    }

    #[test]
    fn a_model_that_does_not_load_is_an_error() {
        let policy = Policy::parse("epsilon = 1.0\nmodel = '/nowhere/model.brr'").unwrap();
        assert!(policy.load().is_err());
    }
}
