//! What the attacker who reads context names of words that any program privatized.
//!
//!     cargo run --release -p brr-eval --example attack_pairs -- JOBS
//!
//! JOBS has a line of JSON for each attack: `model`, a model file; `his`, the attacker's texts, a document per line, or
//! null for one who has the built-in language model; `pairs`, a file with a line for every token: its original, a tab, what came out,
//! a tab, and the column of the channel, with an empty line behind every sentence; and the channel, either `columns`, a
//! file with a column of Pr[output | word] for each number in `pairs`, or `mechanism`, one of ours such as `brr=0.47`, whose column
//! the output has. A column is -ln p of each word of the model in units of 1/512, as little-endian
//! 16-bit integers; the largest stands for impossible. `-` instead of a number: the token came out as it was, and the attacker
//! knows that. A line of JSON comes out for each, with the word named for each token, and null for tokens that the model does
//! not know. `experiments/field/run` makes the table.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use brr::parts::language::{Sentence, State};
use brr::parts::parallel::cores;
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Choice, MechanismKind, Model, Options, Privatizer};
use brr_estimate::posterior::{Estimation, Seen, stretches};
use brr_eval::attack::{Chain, Evidence, Target, most_probable};
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// -ln p in a unit of a column.
const STEPS: f32 = 512.0;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [jobs] = &args[..] else {
        return Err("usage: attack_pairs JOBS".into());
    };
    let mut open: HashMap<String, (Arc<Model>, Chain)> = HashMap::new();
    for line in std::fs::read_to_string(jobs)?.lines() {
        let job: Value = serde_json::from_str(line)?;
        let key = format!("{} {}", job["model"], job["his"]);
        if !open.contains_key(&key) {
            open.insert(key.clone(), reader(&job)?);
        }
        let (model, chain) = &open[&key];
        println!("{}", attack(&job, model, chain)?);
    }
    Ok(())
}

fn path<'j>(job: &'j Value, name: &str) -> Result<&'j Path, Failure> {
    let found = job[name].as_str().map(Path::new);
    found.ok_or_else(|| format!("a job has no `{name}`").into())
}

/// A model, and what an attacker knows of the language.
fn reader(job: &Value) -> Result<(Arc<Model>, Chain), Failure> {
    let model = Arc::new(Model::open(path(job, "model")?)?);
    model.check(cores(), &|_| {})?;
    let chain = match &job["his"] {
        Value::Null => Chain::from_language(&brr_english::language()?),
        _ => Chain::from_texts(&model, std::fs::read_to_string(path(job, "his")?)?.lines()),
    };
    Ok((model, chain))
}

fn attack(job: &Value, model: &Arc<Model>, chain: &Chain) -> Result<Value, Failure> {
    let pairs = Pairs::read(model, &std::fs::read_to_string(path(job, "pairs")?)?)?;
    let boundary = chain.boundary();
    let verbatim = |token: usize| match pairs.columns[token] {
        None => Some(pairs.words[token].unwrap_or(boundary + 1) as State),
        Some(_) => None,
    };
    let stretches = stretches(&pairs.sentences, boundary, verbatim);
    let hidden = || (0..pairs.words.len()).filter(|&token| pairs.columns[token].is_some());
    let started = Instant::now();
    let found = match job["mechanism"].as_str() {
        None => {
            let columns = Columns {
                steps: read_columns(path(job, "columns")?)?,
                of_token: hidden().filter_map(|token| pairs.columns[token]).collect(),
                words: chain.words(),
            };
            most_probable(chain, &columns, &stretches, cores(), &|_| {})
        }
        Some(named) => {
            let privatizer = privatizer(named, model)?;
            let outputs: Option<Vec<WordId>> = hidden().map(|t| pairs.outputs[t]).collect();
            let outputs = outputs.ok_or("a word came out that the model does not have")?;
            let seen = Seen::new(&Target::of(&privatizer), outputs, &estimation())?;
            let seen = seen.ok_or("the channel is not known")?;
            most_probable(chain, &seen, &stretches, cores(), &|_| {})
        }
    };
    let mut named = pairs.words.clone();
    let places: Vec<usize> = hidden().collect();
    for (place, word) in found {
        named[places[place]] = Some(word);
    }
    let named = named.iter().zip(&pairs.words);
    let named: Vec<Option<&str>> = named
        .map(|(named, word)| word.and(*named).map(|id| model.vocabulary().word(id)))
        .collect();
    Ok(json!({"named": named, "seconds": started.elapsed().as_secs_f64()}))
}

fn privatizer(named: &str, model: &Arc<Model>) -> Result<Privatizer, Failure> {
    let (kind, number) = named.split_once('=').ok_or("`mechanism` is NAME=EPSILON")?;
    let options = Options::default()
        .with_mechanism(MechanismKind::parse(kind)?)
        .with_budget(Budget::Epsilon(number.parse()?));
    Ok(Privatizer::new(model.clone(), options)?)
}

/// By seeded noise: an evaluation can be repeated.
fn estimation() -> Estimation {
    Estimation {
        noise: Arc::new(|stream| Ok(Noise::numbered(1).with_stream(stream))),
        ..Estimation::default()
    }
}

/// Tokens before and after, sentence by sentence.
#[derive(Default)]
struct Pairs {
    words: Vec<Option<WordId>>,
    outputs: Vec<Option<WordId>>,
    columns: Vec<Option<usize>>,
    sentences: Vec<Sentence>,
}

impl Pairs {
    fn read(model: &Model, text: &str) -> Result<Pairs, Failure> {
        let mut pairs = Pairs::default();
        let mut first = 0;
        for line in text.lines() {
            if line.is_empty() {
                let tokens = first..pairs.words.len();
                first = tokens.end;
                pairs.sentences.push(Sentence { tokens, ends: true });
                continue;
            }
            let fields: Vec<&str> = line.split('\t').collect();
            let [word, output, column] = fields[..] else {
                return Err("a line of `pairs` has no three fields".into());
            };
            let id = |word: &str| model.vocabulary().id(word);
            pairs.words.push(id(word));
            pairs.outputs.push(id(output));
            let column = (column != "-").then(|| column.parse()).transpose()?;
            pairs.columns.push(column);
        }
        Ok(pairs)
    }
}

/// A channel from a file.
struct Columns {
    steps: Vec<u16>,
    of_token: Vec<usize>,
    words: usize,
}

fn read_columns(path: &Path) -> Result<Vec<u16>, Failure> {
    let bytes = std::fs::read(path)?;
    let pairs = bytes.chunks_exact(2);
    Ok(pairs
        .map(|two| u16::from_le_bytes([two[0], two[1]]))
        .collect())
}

impl Evidence for Columns {
    fn likelihoods(&self, token: usize, out: &mut [f32]) {
        let start = self.of_token[token] * self.words;
        let column = &self.steps[start..start + self.words];
        let least = column.iter().copied().min().unwrap_or(0);
        let share = |&steps: &u16| match steps {
            u16::MAX => 0.0,
            steps => (-f32::from(steps - least) / STEPS).exp(),
        };
        let (words, others) = out.split_at_mut(self.words);
        words
            .iter_mut()
            .zip(column)
            .for_each(|(w, steps)| *w = share(steps));
        // Of a token without a word nothing is known: what words have on average.
        let mean = words.iter().sum::<f32>() / self.words as f32;
        others.copy_from_slice(&[0.0, mean]);
    }
}
