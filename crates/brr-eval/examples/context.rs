//! What decoding with context brings: words as in the original, similarity, perplexity, speed.
//!
//!     cargo run --release -p brr-eval --example context -- TEXT MODEL VECTORS JUDGE LANGUAGE...
//!
//! TEXT has a document per line, JUDGE is a language model that takes no part in decoding.
//! `experiments/context/run` makes the table.

mod clock;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use brr::parts::epsilon::Epsilon;
use brr::parts::language::{Decoder, Sentence, sentences};
use brr::parts::mechanism::{Brr, Kary, Mechanism, Observations};
use brr::parts::random::Noise;
use brr::parts::vocabulary::WordId;
use brr::{Budget, Language, Layout, MechanismKind, Model, Options, Privatizer};
use brr_build::language::perplexity;
use brr_build::vectors::{LoadOptions, load};
use clock::processor_seconds;
use serde_json::{Value, json};

/// Texts shown side by side.
const SHOWN: usize = 10;

struct Document {
    words: Vec<Option<WordId>>,
    sentences: Vec<Sentence>,
}

struct Setting {
    model: Arc<Model>,
    judge: Language,
    documents: Vec<Document>,
    /// Unit vectors, by word.
    vectors: Vec<Vec<f32>>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [text, model, vectors, judge, languages @ ..] = &args[..] else {
        return Err("usage: context TEXT MODEL VECTORS JUDGE LANGUAGE...".into());
    };
    let model = Arc::new(Model::open(model)?);
    model.check(brr::parts::parallel::cores(), &|_| {})?;
    let text = std::fs::read_to_string(text)?;
    let documents = text.lines().map(|line| Document {
        words: model
            .tokens(line)
            .into_iter()
            .map(|(word, _)| word)
            .collect(),
        sentences: sentences(&model.pieces(line), Layout::Keep),
    });
    let setting = Setting {
        documents: documents.collect(),
        vectors: unit_vectors(&model, Path::new(vectors))?,
        judge: Language::open(judge)?,
        model: model.clone(),
    };
    let lines: Vec<&str> = text.lines().collect();
    let (original, tokens) = perplexity(&setting.judge, &model, &lines);
    let mut rows = Vec::new();
    for (name, mechanism) in mechanisms(&model)? {
        for path in languages {
            let row = setting.measure(&name, &*mechanism, &Language::open(path)?, path);
            eprintln!(
                "{}",
                json!({"mechanism": row["mechanism"], "decoded": row["decoded"]})
            );
            rows.push(row);
        }
    }
    let facts = json!({"tokens": tokens, "perplexity": original, "rows": rows, "original": lines[..SHOWN.min(lines.len())]});
    println!("{facts}");
    Ok(())
}

type Named = (String, Box<dyn Mechanism>);

fn mechanisms(model: &Arc<Model>) -> Result<Vec<Named>, brr::Error> {
    let mut all: Vec<Named> = Vec::new();
    for bound in [40.0, 50.0, 60.0] {
        let epsilon = Epsilon::new(bound / model.pair_distances().average)?;
        all.push((
            format!("BRR, bound {bound}"),
            Box::new(Brr::new(model.clone(), epsilon)),
        ));
    }
    for keep in [0.25, 0.5] {
        let options = Options::default().with_budget(Budget::Keep(keep));
        let exponential = Privatizer::new(model.clone(), options)?.into_mechanism();
        all.push((
            format!("exponential, bound {:.1}", exponential.guarantee().bound()),
            exponential,
        ));
    }
    let words = model.vocabulary().len();
    for epsilon in [9.2, 10.6] {
        all.push((
            format!("k-ary, {epsilon}"),
            Box::new(Kary::new(words, Epsilon::new(epsilon)?)),
        ));
    }
    if model.tree().is_some() {
        for epsilon in [0.7, 0.9] {
            let options = Options::default()
                .with_mechanism(MechanismKind::Tree)
                .with_budget(Budget::Epsilon(epsilon));
            let tree = Privatizer::new(model.clone(), options)?.into_mechanism();
            all.push((format!("tree, {epsilon} a level"), tree));
        }
    }
    Ok(all)
}

fn unit_vectors(model: &Model, path: &Path) -> Result<Vec<Vec<f32>>, Box<dyn std::error::Error>> {
    let loaded = load(path, &LoadOptions::default())?.vectors;
    let places = loaded
        .words
        .iter()
        .enumerate()
        .map(|(i, word)| (word.as_str(), i));
    let places: HashMap<&str, usize> = places.collect();
    let unit = |word: &str| {
        let row = places
            .get(word)
            .map_or(vec![0.0; loaded.dim], |&i| loaded.row(i).to_vec());
        let length = row.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-9);
        row.iter().map(|x| x / length).collect()
    };
    Ok(model.vocabulary().iter().map(unit).collect())
}

/// Sums over known tokens.
#[derive(Default)]
struct Sums {
    known: f64,
    same: f64,
    similarity: f64,
    texts: Vec<String>,
}

/// Words that are weighed against each other.
const WEIGHED: usize = 64;

/// How a word is chosen by the probabilities of all.
type Way = (&'static str, fn(&Setting, &[f64], &mut Noise) -> WordId);

/// The first is the decoder's.
const WAYS: [Way; 5] = [
    ("the most probable word", |_, posterior, _| {
        most(posterior.iter().copied())
    }),
    (
        "the word of highest expected similarity",
        |setting, posterior, _| setting.most_similar(posterior),
    ),
    ("a draw", |_, posterior, noise| draw(posterior, noise)),
    (
        "frequency toned down by its fourth root",
        |setting, posterior, _| setting.toned_down(posterior, 0.25),
    ),
    (
        "frequency toned down by its square root",
        |setting, posterior, _| setting.toned_down(posterior, 0.5),
    ),
];

/// The first of the largest.
fn most(numbers: impl Iterator<Item = f64>) -> WordId {
    let mut best = (0, f64::NEG_INFINITY);
    for (word, number) in numbers.enumerate() {
        if number > best.1 {
            best = (word, number);
        }
    }
    best.0 as WordId
}

fn draw(posterior: &[f64], noise: &mut Noise) -> WordId {
    let uniform = (noise.limb() >> 11) as f64 / (1u64 << 53) as f64;
    let mut left = uniform * posterior.iter().sum::<f64>();
    let mut words = posterior.iter();
    words
        .position(|p| {
            left -= p;
            left < 0.0
        })
        .unwrap_or(0) as WordId
}

impl Setting {
    /// Of the most probable words, that with the largest similarity to the right one, on average over these.
    fn most_similar(&self, posterior: &[f64]) -> WordId {
        let mut words: Vec<usize> = (0..posterior.len()).collect();
        words.select_nth_unstable_by(WEIGHED, |&a, &b| posterior[b].total_cmp(&posterior[a]));
        words.truncate(WEIGHED);
        words.sort_unstable();
        let mut mean = vec![0.0; self.vectors[0].len()];
        for &word in &words {
            let vector = self.vectors[word].iter();
            let terms = mean.iter_mut().zip(vector);
            terms.for_each(|(m, x)| *m += posterior[word] as f32 * x);
        }
        let similarity = |&word: &usize| {
            let terms = mean.iter().zip(&self.vectors[word]);
            f64::from(terms.map(|(m, x)| m * x).sum::<f32>())
        };
        words[most(words.iter().map(similarity)) as usize] as WordId
    }

    /// The most probable word if frequent words were less frequent. (Words are in order of their frequency, which falls
    /// as one over the rank.)
    fn toned_down(&self, posterior: &[f64], power: f64) -> WordId {
        let numbers = posterior.iter().enumerate();
        most(numbers.map(|(rank, p)| p * (1.0 + rank as f64).powf(power)))
    }

    fn measure(
        &self,
        name: &str,
        mechanism: &dyn Mechanism,
        language: &Language,
        path: &str,
    ) -> Value {
        let emission = mechanism.emission().expect("an emission");
        let decoder = Decoder::new(language, emission);
        let mut noise = Noise::numbered(1);
        let observe = |document: &Document| mechanism.observe(&document.words, &mut noise);
        let observed: Vec<Observations> = self.documents.iter().map(observe).collect();
        // What is computed once is not timed.
        decoder.decode(&observed[0], &self.documents[0].sentences);
        let [mut drawn, mut decoded] = [0; 2].map(|_| Sums::default());
        let mut ways = WAYS.map(|_| Sums::default());
        let mut lots = Noise::numbered(2);
        let mut seconds = 0.0;
        for (document, observed) in self.documents.iter().zip(&observed) {
            self.add(&mut drawn, document, &mechanism.words(observed));
            let start = processor_seconds();
            let words = decoder.decode(observed, &document.sentences);
            seconds += processor_seconds() - start;
            self.add(&mut decoded, document, &words);
            let posteriors = decoder.posteriors(observed, &document.sentences);
            for ((_, choose), sums) in WAYS.iter().zip(&mut ways) {
                let words = posteriors.iter();
                let words: Vec<WordId> = words
                    .map(|posterior| choose(self, &posterior[..language.words()], &mut lots))
                    .collect();
                self.add(sums, document, &words);
            }
        }
        let ways = WAYS.iter().zip(&ways);
        let ways: Vec<Value> = ways
            .map(|((way, _), sums)| json!({"way": way, "of": self.summary(sums)}))
            .collect();
        let tokens: usize = self.documents.iter().map(|d| d.words.len()).sum();
        json!({
            "mechanism": name,
            "language": Path::new(path).file_stem().and_then(|name| name.to_str()),
            "drawn": self.summary(&drawn), "decoded": self.summary(&decoded),
            "exact": ways[0]["of"], "ways": ways,
            "words_per_second": tokens as f64 / seconds,
            "shown": {"drawn": drawn.texts[..SHOWN.min(drawn.texts.len())],
                      "decoded": decoded.texts[..SHOWN.min(decoded.texts.len())]},
        })
    }

    fn add(&self, sums: &mut Sums, document: &Document, out: &[WordId]) {
        for (word, &out) in document.words.iter().zip(out) {
            let Some(word) = *word else { continue };
            let [a, b] = [word, out].map(|w| &self.vectors[w as usize]);
            sums.known += 1.0;
            sums.same += f64::from(u8::from(word == out));
            sums.similarity += f64::from(a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>());
        }
        let mut text = String::new();
        for sentence in &document.sentences {
            let words = out[sentence.tokens.clone()].iter();
            let words: Vec<&str> = words.map(|&w| self.model.vocabulary().word(w)).collect();
            text += &words.join(" ");
            text += if sentence.ends { ". " } else { " " };
        }
        sums.texts.push(text.trim_end().to_owned());
    }

    fn summary(&self, sums: &Sums) -> Value {
        let (perplexity, _) = perplexity(&self.judge, &self.model, &sums.texts);
        json!({"same": sums.same / sums.known, "similarity": sums.similarity / sums.known, "perplexity": perplexity})
    }
}
