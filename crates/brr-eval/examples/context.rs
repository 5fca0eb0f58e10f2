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
    for bound in [50.0, 60.0] {
        let epsilon = Epsilon::new(bound / model.pair_distances().average)?;
        all.push((
            format!("BRR, bound {bound}"),
            Box::new(Brr::new(model.clone(), epsilon)),
        ));
    }
    let options = Options::default().with_budget(Budget::Keep(0.5));
    let exponential = Privatizer::new(model.clone(), options)?.into_mechanism();
    all.push((
        format!("exponential, bound {:.1}", exponential.guarantee().bound()),
        exponential,
    ));
    let words = model.vocabulary().len();
    all.push((
        "k-ary, 10.6".into(),
        Box::new(Kary::new(words, Epsilon::new(10.6)?)),
    ));
    if model.tree().is_some() {
        let options = Options::default()
            .with_mechanism(MechanismKind::Tree)
            .with_budget(Budget::Epsilon(0.9));
        let tree = Privatizer::new(model.clone(), options)?.into_mechanism();
        all.push(("tree, 0.9 a level".into(), tree));
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

impl Setting {
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
        let [mut drawn, mut decoded, mut exact] = [0; 3].map(|_| Sums::default());
        let mut seconds = 0.0;
        for (document, observed) in self.documents.iter().zip(&observed) {
            self.add(&mut drawn, document, &mechanism.words(observed));
            let start = processor_seconds();
            let words = decoder.decode(observed, &document.sentences);
            seconds += processor_seconds() - start;
            self.add(&mut decoded, document, &words);
            let words = decoder.decode_exactly(observed, &document.sentences);
            self.add(&mut exact, document, &words);
        }
        let tokens: usize = self.documents.iter().map(|d| d.words.len()).sum();
        json!({
            "mechanism": name,
            "language": Path::new(path).file_stem().and_then(|name| name.to_str()),
            "drawn": self.summary(&drawn), "decoded": self.summary(&decoded),
            "exact": self.summary(&exact),
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
