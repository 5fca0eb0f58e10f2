//! `brr inspect`: what a model is and what is known about it.

use std::path::{Path, PathBuf};

use brr::parts::nearest::Scan;
use brr::{MechanismKind, Model};
use brr_build::quality::real_neighbors;
use brr_build::vectors::Vectors;
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::output::{self, write_whole};
use crate::usage::whole;
use crate::{families, losses, model_source, npy};

/// Show a model: size, distances, standing, quality and provenance; list neighbours; export codes
///
/// Checks what the file claims before it shows it, unless only neighbours are asked for.
#[derive(clap::Args)]
pub struct Args {
    /// Model file [default: built-in English]
    #[arg(value_name = "MODEL")]
    model: Option<PathBuf>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Show the words with the nearest codes to this word
    #[arg(long, value_name = "WORD")]
    neighbors: Vec<String>,
    /// Show the groups of the tree around this word, from near to far
    #[arg(long, value_name = "WORD", conflicts_with = "neighbors")]
    tree: Vec<String>,
    /// Number of neighbours to show
    #[arg(long, value_name = "K", default_value_t = 10, requires = "neighbors", value_parser = whole::<usize, 1, 1_000_000_000>)]
    count: usize,
    /// Also show the nearest words by the real vectors in this file
    #[arg(long, value_name = "FILE", requires = "neighbors")]
    vectors: Option<PathBuf>,
    /// Folder to write codes.npy (unsigned bytes, one row per word), words.txt and, if the model has a
    /// tree, tree.npy (the place of each word, unsigned integers) to
    #[arg(long, value_name = "DIR")]
    export: Option<PathBuf>,
    /// Replace exported files that exist
    #[arg(long)]
    force: bool,
}

pub fn run(args: Args) -> Result {
    let model = model_source::open(args.model.as_deref())?;
    output::want_folder("--export", args.export.as_deref())?;
    if let Some(folder) = &args.export {
        export(&model, folder, args.force)?;
    }
    if !args.neighbors.is_empty() {
        return show_neighbors(&args, &model);
    }
    if !args.tree.is_empty() {
        return show_tree(&args, &model);
    }
    model_source::check(&model, args.model.as_deref())?;
    let facts = facts(&model);
    if args.json {
        println!("{facts:#}");
    } else {
        print_facts(&facts);
    }
    Ok(())
}

/// Everything there is to say, in the order in which it is shown.
fn facts(model: &Model) -> Value {
    let (d, p) = (model.code_distances(), model.pair_distances());
    let meta = model.meta().iter().map(|(k, v)| (k.clone(), json!(v)));
    let certificates = model.certificates().iter();
    let certificates = certificates
        .map(|c| json!({"epsilon": c.epsilon(), "scale": c.scale(), "keep": c.keep().weighted}));
    let points = model.calibration().map_or(&[][..], |table| table.points());
    let calibration = points.iter().map(
        |c| json!({"epsilon": c.epsilon, "keep": c.keep.weighted, "keep_plain": c.keep.plain}),
    );
    let words = model.vocabulary().len();
    json!({
        "words": words,
        "bits": model.bits().get(),
        "bytes": model.bytes().len(),
        "bytes_per_word": model.bytes().len() as f64 / words as f64,
        "lowercase": model.lowercase(),
        "language": language(model),
        "p_avg": p.average,
        "p_max": d.maximum,
        "nearest_mean": p.nearest_mean,
        "nearest_min": d.nearest_min,
        "duplicate_codes": d.duplicates,
        "tree_levels": model.tree().map(|tree| tree.levels()),
        "mechanisms": MechanismKind::offered_by(model),
        "identity": model.identity().to_string(),
        "file_identity": model.file_identity().to_string(),
        "standing": model.standing().name(),
        "meta": meta.collect::<serde_json::Map<_, _>>(),
        "certificates": certificates.collect::<Vec<_>>(),
        "calibration": calibration.collect::<Vec<_>>(),
    })
}

/// What the file says of how its language is written; nothing of English.
fn language(model: &Model) -> Value {
    let table = model.orthography();
    match model.has_orthography() {
        false => Value::Null,
        true => json!({
            "code": table.code(),
            "name": table.name(),
            "script": table.script(),
            "words": table.words_name(),
            "contractions": table.contractions(),
            "function_words": table.function_words().len(),
        }),
    }
}

fn print_facts(facts: &Value) {
    let line = |label: &str, value: String| println!("{label:<22} {value}");
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let number = |key: &str| facts[key].as_f64().unwrap_or(f64::NAN);
    line("words", text(&facts["words"]));
    line("bits", text(&facts["bits"]));
    let a_word = number("bytes_per_word");
    line(
        "file",
        format!("{} bytes, {a_word:.2} a word", facts["bytes"]),
    );
    line("P_avg", format!("{:.4}  (all pairs)", number("p_avg")));
    line("P_max", format!("{}  (all pairs)", facts["p_max"]));
    let (mean, least) = (number("nearest_mean"), &facts["nearest_min"]);
    line(
        "nearest neighbour",
        format!("{mean:.2} mean, {least} least"),
    );
    line("duplicate codes", text(&facts["duplicate_codes"]));
    let case = match facts["lowercase"] == true {
        true => "lower case",
        false => "the case given",
    };
    line("looked up in", case.into());
    let language = &facts["language"];
    if language.is_object() {
        let said = |key: &str| text(&language[key]);
        line(
            "language",
            format!(
                "{} ({}), script {}, words by {}, {} contractions, {} function words",
                said("name"),
                said("code"),
                said("script"),
                said("words"),
                said("contractions"),
                said("function_words")
            ),
        );
    }
    line(
        "tree levels",
        facts["tree_levels"]
            .as_u64()
            .map_or("no tree".into(), |l| l.to_string()),
    );
    let offered = facts["mechanisms"].as_array().into_iter().flatten();
    let offered: Vec<&str> = offered.filter_map(Value::as_str).collect();
    line("mechanisms", offered.join(", "));
    line("identity", text(&facts["identity"]));
    line("file identity", text(&facts["file_identity"]));
    line("standing", text(&facts["standing"]));
    for (key, value) in facts["meta"].as_object().into_iter().flatten() {
        line(key, text(value));
    }
    for c in facts["certificates"].as_array().into_iter().flatten() {
        let [epsilon, keep] = ["epsilon", "keep"].map(|key| c[key].as_f64().unwrap_or(f64::NAN));
        let bound = epsilon * number("p_avg");
        let all = format!(
            "epsilon {}  bound {:>6}  keeps {keep:.3}",
            losses::epsilon(epsilon),
            losses::bound(bound)
        );
        line("certificate", all);
    }
}

/// Words that are printed of a level.
const SHOWN: usize = 12;

/// The groups around words, level by level.
fn show_tree(args: &Args, model: &Model) -> Result {
    let tree = model.tree().ok_or(brr::Error::NoTree)?;
    let named = |&id: &u32| model.vocabulary().word(id).to_owned();
    let mut all = Vec::new();
    for word in &args.tree {
        let id = model.find(word).ok_or_else(|| {
            Failure::Usage("--tree: the model does not know that word; try another".into())
        })?;
        let levels = (0..=tree.levels()).map(|level| tree.at_level(id, level));
        let levels: Vec<Vec<String>> = levels.map(|w| w.iter().map(named).collect()).collect();
        all.push((named(&id), levels));
    }
    if args.json {
        let one =
            |(word, levels): &(String, Vec<Vec<String>>)| json!({"word": word, "levels": levels});
        println!(
            "{:#}",
            Value::from(all.iter().map(one).collect::<Vec<Value>>())
        );
        return Ok(());
    }
    for (word, levels) in &all {
        println!("{word}");
        for (level, words) in levels.iter().enumerate() {
            let more = words.len().saturating_sub(SHOWN);
            let shown = words.iter().take(SHOWN).map(String::as_str);
            let shown = shown.collect::<Vec<&str>>().join(" ");
            let more = if more > 0 {
                format!(" ... ({more} more)")
            } else {
                String::new()
            };
            println!("  {level:>2}  {shown}{more}");
        }
    }
    Ok(())
}

/// A word with its nearest words: by code, and by the real vectors if given.
struct Neighborhood {
    word: String,
    codes: Vec<(String, u16)>,
    vectors: Option<Vec<(String, f32)>>,
}

fn show_neighbors(args: &Args, model: &Model) -> Result {
    let real = args.vectors.as_deref().map(families::load).transpose()?;
    let mut all = Vec::new();
    for word in &args.neighbors {
        let id = model.find(word).ok_or_else(|| {
            Failure::Usage("--neighbors: the model does not know that word; try another".into())
        })?;
        let word = model.vocabulary().word(id).to_owned();
        let codes = code_neighbors(model, id, args.count);
        all.push(Neighborhood {
            codes: codes
                .iter()
                .map(|&(id, d)| (model.vocabulary().word(id).to_owned(), d))
                .collect(),
            vectors: real
                .as_ref()
                .map(|real| vector_neighbors(real, &word, args.count)),
            word,
        });
    }
    if args.json {
        let list: Vec<Value> = all.iter().map(neighborhood_json).collect();
        println!("{:#}", Value::from(list));
    } else {
        all.iter().for_each(print_neighborhood);
    }
    Ok(())
}

fn vector_neighbors(vectors: &Vectors, word: &str, count: usize) -> Vec<(String, f32)> {
    let Some(id) = vectors.words.iter().position(|w| w == word) else {
        return Vec::new();
    };
    let near = real_neighbors(vectors, &[id], count, brr::parts::parallel::cores());
    let named = |&(id, cosine): &(usize, f32)| (vectors.words[id].clone(), cosine);
    near.first()
        .map_or(Vec::new(), |near| near.iter().map(named).collect())
}

fn neighborhood_json(n: &Neighborhood) -> Value {
    let codes: Vec<Value> = n
        .codes
        .iter()
        .map(|(w, d)| json!({"word": w, "distance": d}))
        .collect();
    let vectors = n.vectors.as_ref().map(|near| {
        let near = near
            .iter()
            .map(|(w, cosine)| json!({"word": w, "cosine": cosine}));
        near.collect::<Vec<Value>>()
    });
    json!({"word": n.word, "codes": codes, "vectors": vectors})
}

/// A column of code neighbours and, beside it, one of real neighbours; a star
/// marks words that stand in both.
fn print_neighborhood(n: &Neighborhood) {
    let Some(real) = &n.vectors else {
        println!("{}", n.word);
        n.codes
            .iter()
            .for_each(|(word, d)| println!("  {d:>4}  {word}"));
        return;
    };
    println!(
        "{:<32}  vectors (cosine)",
        format!("{}: codes (bits)", n.word)
    );
    let star = |both: bool| if both { '*' } else { ' ' };
    for i in 0..n.codes.len().max(real.len()) {
        let left = n.codes.get(i).map_or(String::new(), |(word, d)| {
            let star = star(real.iter().any(|(w, _)| w == word));
            format!("{d:>4} {star}{word}")
        });
        let right = real.get(i).map_or(String::new(), |(word, cosine)| {
            let star = star(n.codes.iter().any(|(w, _)| w == word));
            format!("{cosine:.3} {star}{word}")
        });
        println!("  {left:<30}  {right}");
    }
}

/// The nearest other words by code, nearest first, lowest id among equals.
fn code_neighbors(model: &Model, id: u32, count: usize) -> Vec<(u32, u16)> {
    let codes = model.codes();
    let mut code = vec![0; codes.bits().limbs()];
    codes.read(id as usize, &mut code);
    let mut distances = vec![0; codes.len()];
    Scan::new(codes).distances(&code, &mut distances);
    let mut others: Vec<(u32, u16)> = (0u32..)
        .zip(distances)
        .filter(|&(other, _)| other != id)
        .collect();
    others.sort_by_key(|&(other, d)| (d, other));
    others.truncate(count);
    others
}

fn export(model: &Model, folder: &Path, force: bool) -> Result {
    std::fs::create_dir_all(folder).map_err(|e| Failure::file("make", folder, &e))?;
    let rows = model.codes().to_rows();
    let bytes: Vec<u8> = rows
        .limbs()
        .iter()
        .flat_map(|limb| limb.to_le_bytes())
        .collect();
    let table = npy::encode("|u1", &[rows.len(), model.bits().bytes()], &bytes);
    write_whole(&folder.join("codes.npy"), &table, force)?;
    if let Some(tree) = model.tree() {
        let places = tree.places().iter();
        let places: Vec<u8> = places.flat_map(|place| place.to_le_bytes()).collect();
        let table = npy::encode("<u4", &[rows.len()], &places);
        write_whole(&folder.join("tree.npy"), &table, force)?;
    }
    let words: String = model
        .vocabulary()
        .iter()
        .flat_map(|word| [word, "\n"])
        .collect();
    write_whole(&folder.join("words.txt"), words.as_bytes(), force)
}
