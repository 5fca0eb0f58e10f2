//! Every mechanism at the budget where the attacker who reads context names as many content words:
//! what its output is worth, as drawn and decoded, with every word private and with function words public.
//!
//!     cargo run --release -p brr-eval --example readable -- FOLDER VECTORS TAGS WANTED WORDS
//!
//! FOLDER has `his.txt` (the attacker's texts), `his.lm` (a language model of them), `judge.lm` (one that takes
//! no part), `texts.txt` (what is attacked and measured), `train.txt` and `test.txt` in fastText's format, and
//! `64.brr`, the built-in model's words in 64 bits. TAGS has a word and its parts of speech on each line.
//! `experiments/readable/run` makes the table.

mod clock;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use brr::parts::distances::PairDistances;
use brr::parts::parallel::cores;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Language, MechanismKind, Model, Options, Policy, Privatizer};
use brr_build::language::perplexity;
use brr_build::vectors::{LoadOptions, load};
use brr_eval::attack::{Chain, Classes, Passage, Plan, Target, attack, epsilon_for_success};
use brr_eval::channel::Similarity;
use brr_eval::classifier::{Classifier, Settings, accuracy};
use brr_eval::mechanisms::Space;
use clock::processor_seconds;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Texts shown side by side.
const SHOWN: usize = 10;
/// Halvings of the range of epsilons.
const HALVINGS: usize = 8;
/// Classifiers whose accuracies are averaged.
const CLASSIFIERS: i32 = 3;
/// Seconds for which a mechanism is timed at least.
const TIMED: f64 = 0.5;

/// A mechanism, the range in which its epsilon is looked for, and the bytes that it needs of each word.
const MECHANISMS: [(&str, MechanismKind, (f64, f64), usize); 5] = [
    ("BRR, 64 bits", MechanismKind::Brr, (0.3, 6.0), 8),
    ("BRR, 256 bits", MechanismKind::Brr, (0.1, 2.0), 32),
    ("exponential", MechanismKind::Exponential, (0.02, 0.5), 32),
    ("k-ary", MechanismKind::KAry, (6.0, 16.0), 0),
    ("tree", MechanismKind::Tree, (0.25, 2.0), 2),
];

struct Setting {
    models: [Arc<Model>; 2],
    built_in: Arc<Language>,
    his: Arc<Language>,
    judge: Language,
    chain: Chain,
    passage: Passage,
    similarity: Similarity,
    tags: HashMap<String, HashSet<String>>,
    texts: Vec<String>,
    train: Vec<(String, usize)>,
    test: Vec<(String, usize)>,
    wanted: f64,
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, vectors, tags, wanted, words] = &args[..] else {
        return Err("usage: readable FOLDER VECTORS TAGS WANTED WORDS".into());
    };
    let path = |name: &str| Path::new(folder).join(name);
    let read = |name: &str| std::fs::read_to_string(path(name));
    let model = Arc::new(brr_english::model()?);
    let small = Model::open(path("64.brr"))?;
    small.check(cores(), &|_| {})?;
    if !small.vocabulary().iter().eq(model.vocabulary().iter()) {
        return Err("64.brr has other words than the built-in model".into());
    }
    let loaded = load(Path::new(vectors), &LoadOptions::default())?.vectors;
    let vectors = loaded.of_words(model.vocabulary().iter());
    let vectors = vectors.ok_or("a word of the model has no vector")?;
    // How far they lie apart is not asked.
    let space = Space::with_distances(vectors, PairDistances::discrete(model.vocabulary().len()));
    let texts: Vec<String> = read("texts.txt")?.lines().map(str::to_owned).collect();
    let (mut taken, most) = (0, words.parse()?);
    let within = |text: &&String| {
        taken += model.tokens(text).len();
        taken <= most
    };
    let texts: Vec<String> = texts.iter().take_while(within).cloned().collect();
    let setting = Setting {
        built_in: Arc::new(brr_english::language()?),
        his: Arc::new(Language::open(path("his.lm"))?),
        judge: Language::open(path("judge.lm"))?,
        chain: Chain::from_texts(&model, read("his.txt")?.lines()),
        passage: Passage::read(&model, texts.iter().map(String::as_str), most),
        similarity: Similarity {
            model: None,
            space: Some(Arc::new(space)),
        },
        tags: read_tags(&std::fs::read_to_string(tags)?),
        train: labelled(&model, &read("train.txt")?)?,
        test: labelled(&model, &read("test.txt")?)?,
        texts,
        wanted: wanted.parse()?,
        models: [Arc::new(small), model],
    };
    let shown = &setting.texts[..SHOWN.min(setting.texts.len())];
    let original = perplexity(&setting.judge, &setting.models[1], &setting.texts).0;
    let plain = setting.accuracy(&setting.train)?;
    println!(
        "{}",
        json!({"words": taken, "perplexity": original, "accuracy": plain, "shown": shown})
    );
    for public in [false, true] {
        for mechanism in &MECHANISMS {
            setting.rows(mechanism, public)?;
        }
    }
    Ok(())
}

/// `word tag tag ...` on each line.
fn read_tags(text: &str) -> HashMap<String, HashSet<String>> {
    let line = |line: &str| {
        let mut parts = line.split(' ').map(str::to_owned);
        Some((parts.next()?, parts.collect()))
    };
    text.lines().filter_map(line).collect()
}

/// Texts with their labels' numbers, in words with spaces between.
fn labelled(model: &Model, text: &str) -> Result<Vec<(String, usize)>, Failure> {
    let parse = |line: &str| {
        let (label, text) = line.split_once(' ')?;
        let label = label.strip_prefix("__label__")?.parse().ok()?;
        Some((plain(model, text), label))
    };
    let rows: Option<Vec<_>> = text.lines().map(parse).collect();
    Ok(rows.ok_or("lines must be `__label__NUMBER words`")?)
}

fn plain(model: &Model, text: &str) -> String {
    let tokens = model.tokens(text);
    let words: Vec<String> = tokens.iter().map(|(_, t)| t.to_lowercase()).collect();
    words.join(" ")
}

impl Setting {
    fn privatizer(
        &self,
        (name, kind, ..): &(&str, MechanismKind, (f64, f64), usize),
        epsilon: f64,
        public: bool,
        context: Option<&Arc<Language>>,
    ) -> Result<Privatizer, Failure> {
        let model = &self.models[usize::from(*name != "BRR, 64 bits")];
        let policy = match public {
            true => Policy::AllBut(Arc::new(brr_english::list("function-words", model)?)),
            false => Policy::All,
        };
        let options = Options::default()
            .with_mechanism(*kind)
            .with_budget(Budget::Epsilon(epsilon))
            .with_policy(policy)
            .with_context(context.cloned());
        // Under a policy, too, the exponential mechanism at its best.
        let privatizer = Privatizer::certified(model.clone(), options, cores(), &|_| {});
        Ok(privatizer?)
    }

    fn function_words(&self) -> Result<brr::WordList, Failure> {
        Ok(brr_english::list("function-words", &self.models[1])?)
    }

    /// The share of content words that the attacker names who reads context and sees the draws.
    fn named(&self, privatizer: &Privatizer) -> Result<f64, Failure> {
        let target = Target::of(privatizer);
        let guesses = attack(
            &self.chain,
            &target,
            &self.passage,
            &Plan::default(),
            &|_| {},
        )?;
        let function = self.function_words()?;
        let classes = Classes::new(&self.models[1], &self.chain, Some(&function), None);
        let success = classes.score(&guesses, &self.similarity);
        let content = success.iter().find(|s| s.class == "content");
        let content = content.ok_or("no content words")?;
        // He does not know which words are content words; whoever does takes the output itself where that is better.
        Ok(content.context.max(content.output))
    }

    /// The same for BRR's noisy codes, by decoding them with a language model of his texts.
    fn named_by_codes(&self, privatizer: &Privatizer) -> Result<f64, Failure> {
        Ok(self
            .compare(&self.privatize(privatizer, &self.texts)?)?
            .same)
    }

    fn rows(
        &self,
        mechanism: &(&str, MechanismKind, (f64, f64), usize),
        public: bool,
    ) -> Result<(), Failure> {
        let (name, kind, range, bytes) = *mechanism;
        let is_brr = kind == MechanismKind::Brr;
        let mut epsilon = 0.0;
        for decoded in [false, true] {
            // What decodes the words of the others knows what was drawn, and no more; BRR's decoder sees codes.
            let codes = decoded && is_brr;
            let context = codes.then_some(&self.his);
            let success = |epsilon: f64| -> Result<f64, Failure> {
                let privatizer = self.privatizer(mechanism, epsilon, public, context)?;
                match codes {
                    true => self.named_by_codes(&privatizer),
                    false => self.named(&privatizer),
                }
            };
            if !decoded || codes {
                let inner = |epsilon| {
                    success(epsilon).map_err(|e| brr_eval::Error::Settings(e.to_string()))
                };
                epsilon = epsilon_for_success(range, HALVINGS, self.wanted, inner)?;
            }
            let named = success(epsilon)?;
            let context = decoded.then_some(&self.built_in);
            let privatizer = self.privatizer(mechanism, epsilon, public, context)?;
            let guarantee = privatizer.guarantee();
            let mut row = json!({"mechanism": name, "public": public, "decoded": decoded, "epsilon": epsilon,
                "named": named, "nearest": guarantee.nearest(), "bound": guarantee.bound(),
                "worst": guarantee.worst(), "bytes": bytes});
            self.measure(&privatizer, &mut row)?;
            println!("{row}");
            eprintln!("{name}: named {named:.3} at epsilon {epsilon:.3}");
        }
        Ok(())
    }

    fn privatize(&self, privatizer: &Privatizer, texts: &[String]) -> Result<Vec<String>, Failure> {
        let private = privatizer.privatize_parallel(texts, cores(), || true)?;
        let private = private.expect("nobody said no");
        Ok(private.into_iter().map(|private| private.text).collect())
    }

    fn measure(&self, privatizer: &Privatizer, row: &mut Value) -> Result<(), Failure> {
        privatizer.privatize_batch(&self.texts[..1])?;
        // The system counts processor time in ticks: some hundredths of a second say nothing.
        let (start, mut rounds, mut seconds) = (processor_seconds(), 0.0, 0.0);
        while seconds < TIMED {
            std::hint::black_box(privatizer.privatize_batch(&self.texts)?);
            rounds += 1.0;
            seconds = processor_seconds() - start;
        }
        let private = privatizer.privatize_batch(&self.texts)?;
        let tokens: u64 = private.iter().map(|private| private.tokens).sum();
        let private: Vec<String> = private.into_iter().map(|private| private.text).collect();
        let alike = self.compare(&private)?;
        let texts: Vec<String> = self.train.iter().map(|(text, _)| text.clone()).collect();
        let trained = self.privatize(privatizer, &texts)?;
        let model = &self.models[1];
        let trained = trained.iter().zip(&self.train);
        let trained: Vec<_> = trained
            .map(|(text, (_, label))| (plain(model, text), *label))
            .collect();
        row["words_per_second"] = json!(rounds * tokens as f64 / seconds);
        row["same"] = json!(alike.same);
        row["similarity"] = json!(alike.similarity);
        row["similarity_of_changed"] = json!(alike.of_changed);
        row["same_part_of_speech"] = json!(alike.part_of_speech);
        row["perplexity"] = json!(perplexity(&self.judge, model, &private).0);
        row["accuracy"] = json!(self.accuracy(&trained)?);
        row["shown"] = json!(private[..SHOWN.min(private.len())]);
        Ok(())
    }

    fn accuracy(&self, train: &[(String, usize)]) -> Result<f64, Failure> {
        let labels = 1 + self.train.iter().map(|row| row.1).max().unwrap_or(0);
        let mut sum = 0.0;
        for seed in 1..=CLASSIFIERS {
            let rows = train.iter().map(|(text, label)| (text.as_str(), *label));
            let classifier = Classifier::train(rows, labels, &Settings::default(), seed)?;
            let tests = self.test.iter();
            let found: Vec<_> = tests
                .map(|(text, _)| classifier.probabilities(text))
                .collect();
            sum += accuracy(&found, self.test.iter().map(|row| row.1));
        }
        Ok(sum / f64::from(CLASSIFIERS))
    }

    /// Content words of the original beside what stands in their places.
    fn compare(&self, private: &[String]) -> Result<Alike, Failure> {
        let (model, function) = (&self.models[1], self.function_words()?);
        let mut pairs: Vec<(WordId, WordId)> = Vec::new();
        for (text, private) in self.texts.iter().zip(private) {
            let (before, after) = (model.tokens(text), model.tokens(private));
            if before.len() != after.len() {
                return Err("a text has another number of words than before".into());
            }
            let both = before.iter().zip(&after);
            let known = both.filter_map(|((a, _), (b, _))| Some(((*a)?, (*b)?)));
            pairs.extend(known.filter(|(word, _)| !function.contains(*word)));
        }
        let changed: Vec<_> = pairs.iter().copied().filter(|(a, b)| a != b).collect();
        let tags = |word: WordId| self.tags.get(model.vocabulary().word(word));
        let tagged = changed
            .iter()
            .filter_map(|&(a, b)| Some((tags(a)?, tags(b)?)));
        let agree: Vec<bool> = tagged.map(|(a, b)| !a.is_disjoint(b)).collect();
        let cosine = |&(a, b): &(WordId, WordId)| self.similarity.cosine(a, b).unwrap_or(0.0);
        let mean = |pairs: &[(WordId, WordId)]| {
            pairs.iter().map(cosine).sum::<f64>() / pairs.len().max(1) as f64
        };
        let share = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        Ok(Alike {
            same: share(pairs.len() - changed.len(), pairs.len()),
            similarity: mean(&pairs),
            of_changed: mean(&changed),
            part_of_speech: share(agree.iter().filter(|a| **a).count(), agree.len()),
        })
    }
}

/// Means over content words.
struct Alike {
    same: f64,
    similarity: f64,
    of_changed: f64,
    part_of_speech: f64,
}
