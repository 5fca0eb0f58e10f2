//! Tree response whose losses rise with the level in several ways, each where an attacker who reads context names as many
//! content words: what its losses are, and what its output is worth, as drawn and decoded.
//!
//!     cargo run --release -p brr-eval --example tree_shapes -- FOLDER VECTORS WANTED WORDS
//!
//! FOLDER has `his.txt` (the attacker's texts), `judge.lm` (a language model that takes no part) and `texts.txt` (what is
//! attacked and measured). Every word is private. `experiments/shapes/run` makes the table.

use std::path::Path;
use std::sync::Arc;

use brr::parts::distances::PairDistances;
use brr::parts::language::{Decoder, sentences};
use brr::parts::mechanism::{Mechanism, TreeResponse};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Language, Layout, Model};
use brr_build::language::perplexity;
use brr_build::vectors::{LoadOptions, load};
use brr_eval::attack::{Chain, Classes, Passage, Plan, Target, attack, epsilon_for_success};
use brr_eval::channel::Similarity;
use brr_eval::mechanisms::Space;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

/// Halvings of the range of scales.
const HALVINGS: usize = 6;
/// Words whose pairs with all others tell the mean losses: one in so many.
const EVERY: usize = 64;

/// A name, the loss of a level at scale 1, and the range in which the scale is looked for.
type Shape = (&'static str, fn(f64) -> f64, (f64, f64));
const SHAPES: [Shape; 3] = [
    ("even", |level| level, (0.25, 2.0)),
    (
        "none in groups of 16, then even",
        |level| (level - 4.0).max(0.0),
        (0.25, 2.5),
    ),
    (
        "even, twice as steep from level 11",
        |level| level + (level - 10.0).max(0.0),
        (0.2, 1.6),
    ),
];

struct Setting {
    model: Arc<Model>,
    built_in: Language,
    judge: Language,
    chain: Chain,
    passage: Passage,
    similarity: Similarity,
    texts: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, vectors, wanted, words] = &args[..] else {
        return Err("usage: tree_shapes FOLDER VECTORS WANTED WORDS".into());
    };
    let path = |name: &str| Path::new(folder).join(name);
    let read = |name: &str| std::fs::read_to_string(path(name));
    let model = Arc::new(brr_english::model()?);
    let loaded = load(Path::new(vectors), &LoadOptions::default())?.vectors;
    let vectors = loaded.of_words(model.vocabulary().iter());
    let vectors = vectors.ok_or("a word of the model has no vector")?;
    // How far they lie apart is not asked.
    let space = Space::with_distances(vectors, PairDistances::discrete(model.vocabulary().len()));
    let (mut taken, most) = (0, words.parse()?);
    let within = |text: &String| {
        taken += model.tokens(text).len();
        taken <= most
    };
    let texts = read("texts.txt")?;
    let texts: Vec<String> = texts
        .lines()
        .map(str::to_owned)
        .take_while(within)
        .collect();
    let setting = Setting {
        built_in: brr_english::language()?,
        judge: Language::open(path("judge.lm"))?,
        chain: Chain::from_texts(&model, read("his.txt")?.lines()),
        passage: Passage::read(&model, texts.iter().map(String::as_str), most),
        similarity: Similarity {
            model: None,
            space: Some(Arc::new(space)),
        },
        texts,
        model,
    };
    let wanted = wanted.parse()?;
    for shape in &SHAPES {
        println!("{}", setting.row(shape, wanted)?);
        eprintln!("{}: done", shape.0);
    }
    Ok(())
}

impl Setting {
    fn mechanism(&self, shape: &Shape, scale: f64) -> brr::Result<TreeResponse> {
        let levels = self.model.tree().ok_or(brr::Error::NoTree)?.levels();
        let loss = |level: u32| scale * (shape.1)(f64::from(level));
        let losses: Vec<f64> = (1..=levels).map(loss).collect();
        TreeResponse::with_losses(self.model.clone(), &losses)
    }

    fn function_words(&self) -> brr::Result<brr::WordList> {
        brr_english::list("function-words", &self.model)
    }

    /// The share of content words that the attacker names who reads context and sees the draws.
    fn named(&self, mechanism: &TreeResponse) -> brr_eval::Result<f64> {
        let target = Target::new(mechanism, &self.model);
        let plan = Plan::default();
        let guesses = attack(&self.chain, &target, &self.passage, &plan, &|_| {})?;
        let function = self.function_words()?;
        let classes = Classes::new(&self.model, &self.chain, Some(&function), None);
        let success = classes.score(&guesses, &self.similarity);
        let content = success.iter().find(|s| s.class == "content");
        let content = content.expect("content words");
        // He does not know which words are content words; whoever does takes the output itself where that is better.
        Ok(content.context.max(content.output))
    }

    fn row(&self, shape: &Shape, wanted: f64) -> Result<Value, Failure> {
        let named = |scale: f64| self.named(&self.mechanism(shape, scale)?);
        let scale = epsilon_for_success(shape.2, HALVINGS, wanted, named)?;
        let mechanism = self.mechanism(shape, scale)?;
        let losses = mechanism.guarantee().losses;
        let [nearest, average] = self.mean_losses(&losses);
        let mut row = json!({"shape": shape.0, "scale": scale, "named": self.named(&mechanism)?,
            "nearest": nearest, "average": average, "worst": losses.last(),
            "group_of_16": losses[4]});
        for decoded in [false, true] {
            let name = if decoded { "decoded" } else { "drawn" };
            row[name] = self.worth(&mechanism, decoded)?;
        }
        Ok(row)
    }

    /// The mean loss between a word and the nearest one by its vector, and between any two.
    fn mean_losses(&self, losses: &[f64]) -> [f64; 2] {
        let tree = self.model.tree().expect("a model with a tree");
        let words = self.model.vocabulary().len() as WordId;
        let (mut nearest, mut average, mut seen) = (0.0, 0.0, 0.0);
        for word in (0..words).step_by(EVERY) {
            let others = (0..words).filter(|&other| other != word);
            let cosine = |other: WordId| self.similarity.cosine(word, other).unwrap_or(-1.0);
            let near = others.max_by(|&a, &b| cosine(a).total_cmp(&cosine(b)));
            let loss = |other: WordId| losses[tree.level(word, other) as usize];
            nearest += near.map_or(0.0, loss);
            average += (0..words).map(loss).sum::<f64>() / f64::from(words);
            seen += 1.0;
        }
        [nearest / seen, average / seen]
    }

    /// What the output of every text is worth: of content words the share kept and the mean similarity, and how it reads.
    fn worth(&self, mechanism: &TreeResponse, decoded: bool) -> Result<Value, Failure> {
        let (model, function) = (&self.model, self.function_words()?);
        let decoder = Decoder::new(&self.built_in, mechanism);
        let (mut pairs, mut written) = (Vec::new(), Vec::new());
        for (number, text) in self.texts.iter().enumerate() {
            let words: Vec<Option<WordId>> = model.tokens(text).into_iter().map(|t| t.0).collect();
            let observed = mechanism.observe(&words, &mut Noise::numbered(number as u64));
            let out = match decoded {
                true => decoder.decode(&observed, &sentences(&model.pieces(text), Layout::Keep)),
                false => mechanism.words(&observed),
            };
            let spelled: Vec<&str> = out.iter().map(|&w| model.vocabulary().word(w)).collect();
            written.push(spelled.join(" "));
            let both = words
                .iter()
                .zip(&out)
                .filter_map(|(a, b)| Some(((*a)?, *b)));
            pairs.extend(both.filter(|(word, _)| !function.contains(*word)));
        }
        let changed: Vec<_> = pairs.iter().copied().filter(|(a, b)| a != b).collect();
        let cosine = |&(a, b): &(WordId, WordId)| self.similarity.cosine(a, b).unwrap_or(0.0);
        let mean = |pairs: &[(WordId, WordId)]| {
            pairs.iter().map(cosine).sum::<f64>() / pairs.len().max(1) as f64
        };
        Ok(json!({
            "kept": 1.0 - changed.len() as f64 / pairs.len() as f64,
            "similarity": mean(&pairs),
            "of_changed": mean(&changed),
            "perplexity": perplexity(&self.judge, model, &written).0,
        }))
    }
}
