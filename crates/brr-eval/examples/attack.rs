//! What the attacker who reads context names, beside Bayes' attacker who sees one word alone.
//!
//!     cargo run --release -p brr-eval --example attack -- HIS TEXTS WORDS MODEL VECTORS MECHANISM...
//!
//! HIS and TEXTS have a document per line; WORDS tokens of TEXTS, in whole sentences, are attacked by one who has
//! learned from HIS, and by one who has the built-in language model if it is for the model's words. VECTORS has vectors of
//! the model's words, for similarities and for what needs them. A MECHANISM is a name and a number: `k-ary=9.6`, `tree=0.9`,
//! `brr=0.45` and `madlib=10` with their epsilons, `cosine-tree=0.9` over a tree made by cosine alone, `exponential=0.085`
//! with its scale; with `,public` behind it, function words are public. A line of JSON for each; `experiments/attack/run` makes the table.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use brr::parts::certify::Weights;
use brr::parts::distances::PairDistances;
use brr::parts::epsilon::Epsilon;
use brr::parts::mechanism::{Exponential, Mechanism};
use brr::parts::parallel::cores;
use brr::{Budget, Choice, MechanismKind, Model, Options, Policy, Privatizer};
use brr_build::tree::{TreeOptions, grow};
use brr_build::vectors::{LoadOptions, load};
use brr_eval::attack::{Chain, Classes, Passage, Plan, Released, Target};
use brr_eval::channel::Similarity;
use brr_eval::mechanisms::{Madlib, Space};
use serde_json::json;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [his, texts, words, model, vectors, mechanisms @ ..] = &args[..] else {
        return Err("usage: attack HIS TEXTS WORDS MODEL VECTORS MECHANISM...".into());
    };
    let model = Arc::new(Model::open(model)?);
    model.check(cores(), &|_| {})?;
    let (his, texts) = (
        std::fs::read_to_string(his)?,
        std::fs::read_to_string(texts)?,
    );
    let started = Instant::now();
    let strong = Chain::from_texts(&model, his.lines());
    let learned = started.elapsed().as_secs_f64();
    let public = brr_english::language()?;
    let fits = public.check_vocabulary(model.vocabulary()).is_ok();
    let weak = fits.then(|| Chain::from_language(&public));
    let passage = Passage::read(&model, texts.lines(), words.parse()?);
    let space = Arc::new(space(&model, Path::new(vectors))?);
    let similarity = Similarity {
        model: None,
        space: Some(space.clone()),
    };
    let function = brr_english::list("function-words", &model).ok();
    let names = brr_english::proper_nouns(&model).ok();
    // Rare words are the same for both.
    let classes = Classes::new(&model, &strong, function.as_ref(), names.as_ref());
    let head = json!({"pairs": strong.pairs(), "seconds_to_learn": learned, "tokens": passage.words.len(),
        "threads": cores()});
    println!("{head}");
    let mut cosine = None;
    for named in mechanisms {
        let (name, public) = match named.strip_suffix(",public") {
            Some(name) => (name, true),
            None => (&named[..], false),
        };
        let (kind, number) = parse(name)?;
        let (privatizer, mechanism);
        let target = if public {
            let list = function.clone().ok_or("no function words in the model")?;
            let options = Options::default()
                .with_mechanism(MechanismKind::parse(kind)?)
                .with_budget(Budget::Epsilon(number))
                .with_policy(Policy::AllBut(Arc::new(list)));
            privatizer = Privatizer::new(model.clone(), options)?;
            Target::of(&privatizer)
        } else if kind == "cosine-tree" {
            let model = match &cosine {
                Some(model) => model,
                None => cosine.insert(by_cosine(&model, &space)?),
            };
            mechanism = shipped("tree", number, model)?;
            Target::new(&*mechanism, model)
        } else {
            mechanism = match kind {
                "madlib" => Box::new(Madlib::new(space.clone(), Epsilon::new(number)?)),
                "exponential" => {
                    let weights = Weights::exponential(model.bits(), number, None);
                    Box::new(Exponential::textbook(model.clone(), weights))
                }
                kind => shipped(kind, number, &model)?,
            };
            Target::new(&*mechanism, &model)
        };
        let started = Instant::now();
        let released = Released::new(&target, &passage, &Plan::default())?;
        let drawn = started.elapsed().as_secs_f64();
        for (who, chain) in [("strong", Some(&strong)), ("weak", weak.as_ref())] {
            let Some(chain) = chain else { continue };
            let started = Instant::now();
            let guesses = released.attack(chain, &|_| {});
            let seconds = started.elapsed().as_secs_f64();
            let success = classes.score(&guesses, &similarity);
            let row = json!({"mechanism": named, "attacker": who, "attacked": guesses.len(),
                "seconds": seconds, "words_per_minute": 60.0 * guesses.len() as f64 / seconds,
                "seconds_for_channel": drawn, "success": success});
            println!("{row}");
        }
    }
    Ok(())
}

fn parse(named: &str) -> Result<(&str, f64), Failure> {
    let (kind, number) = named.split_once('=').ok_or("MECHANISM is NAME=NUMBER")?;
    Ok((kind, number.parse()?))
}

fn shipped(kind: &str, epsilon: f64, model: &Arc<Model>) -> Result<Box<dyn Mechanism>, Failure> {
    let options = Options::default()
        .with_mechanism(MechanismKind::parse(kind)?)
        .with_budget(Budget::Epsilon(epsilon));
    Ok(Privatizer::new(model.clone(), options)?.into_mechanism())
}

/// The model with a tree in which nothing counts but how alike words are.
fn by_cosine(model: &Model, space: &Space) -> Result<Arc<Model>, Failure> {
    let options = TreeOptions {
        frequency: 0.0,
        tags: 0.0,
        threads: cores(),
    };
    let tree = grow(space.vectors(), None, &options, &mut |_| {})?;
    Ok(Arc::new(model.with_tree(&tree)?))
}

/// The vectors of the model's words, in its order. How far they lie apart is not asked here.
fn space(model: &Model, path: &Path) -> Result<Space, Failure> {
    let loaded = load(path, &LoadOptions::default())?.vectors;
    let vectors = loaded.of_words(model.vocabulary().iter());
    let vectors = vectors.ok_or("a word of the model has no vector")?;
    let distances = PairDistances::discrete(model.vocabulary().len());
    Ok(Space::with_distances(vectors, distances))
}
