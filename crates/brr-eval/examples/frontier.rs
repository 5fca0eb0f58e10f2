//! Mechanisms side by side over the same words: what they keep, what changed
//! words look like, what an attacker gains, at a ladder of privacy-loss bounds.
//!
//! `cargo run --release -p brr-eval --example frontier -- VECTORS OUT.html OUT.json [WORDS]`
//!
//! Codes of 64, 128 and 256 bits are made from the vectors on the way.

use std::ops::ControlFlow;
use std::sync::Arc;

use brr::MechanismKind;
use brr::parts::codes::CodeBits;
use brr::parts::parallel::cores;
use brr_build::binarize;
use brr_build::build::{Recipe, build, usual_min_distance};
use brr_build::vectors::{LoadOptions, load};
use brr_eval::calibrate::{Table, table};
use brr_eval::channel::{Sampling, Similarity};
use brr_eval::mechanisms::{
    CertifiedFamily, Family, KaryFamily, MadlibFamily, ShippedFamily, Space,
};
use brr_eval::report;

/// Privacy-loss bounds, closer where the mechanisms part.
const BOUNDS: [f64; 10] = [4.0, 8.0, 11.0, 13.5, 16.0, 25.0, 40.0, 60.0, 85.0, 140.0];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [vectors, html, json, rest @ ..] = &args[..] else {
        return Err("VECTORS OUT.html OUT.json [WORDS]".into());
    };
    let options = LoadOptions {
        words: rest.first().map(|n| n.parse()).transpose()?,
        ..LoadOptions::default()
    };
    let vectors = load(vectors.as_ref(), &options)?.vectors;
    let words = vectors.words.len();
    let mut families: Vec<(Box<dyn Family>, Similarity)> = Vec::new();
    let mut models = Vec::new();
    for bits in [64, 128, 256] {
        let bits = CodeBits::new(bits).ok_or("code length")?;
        let recipe = Recipe {
            min_distance: usual_min_distance(bits),
            bits,
            binarizer: binarize::NAMES[0].to_owned(),
            seed: 1,
            threads: cores(),
            lowercase: true,
            certificates: Some(Vec::new()),
            tree: true,
            tags: None,
            meta: Vec::new(),
            orthography: None,
        };
        models.push(Arc::new(
            build(&vectors, &recipe, &[], &|_| ControlFlow::Continue(()))?.model,
        ));
    }
    let space = Arc::new(Space::new(vectors, cores(), |_| {}));
    for model in models {
        let similarity = Similarity {
            model: Some(model.clone()),
            space: Some(space.clone()),
        };
        let certifier = model.certifier(cores(), &|_| {});
        if model.bits().get() == 256 {
            let (model, kind) = (model.clone(), MechanismKind::Tree);
            families.push((Box::new(ShippedFamily { model, kind }), similarity.clone()));
        }
        families.push((
            Box::new(ShippedFamily {
                model: model.clone(),
                kind: MechanismKind::Brr,
            }),
            similarity.clone(),
        ));
        families.push((Box::new(CertifiedFamily { model, certifier }), similarity));
    }
    let similarity = Similarity {
        model: None,
        space: Some(space.clone()),
    };
    families.push((Box::new(MadlibFamily::exact(space)), similarity.clone()));
    families.push((Box::new(KaryFamily(words)), similarity));

    let mut tables: Vec<Table> = Vec::new();
    for (family, similarity) in &families {
        let plan = Sampling {
            words: if family.name() == "madlib" { 150 } else { 300 },
            draws: if family.name() == "madlib" { 60 } else { 150 },
            ..Sampling::default()
        };
        let started = std::time::Instant::now();
        tables.push(table(&**family, &BOUNDS, similarity, &plan, None, &|_| {})?);
        let t = &tables[tables.len() - 1];
        println!(
            "{} {}: {:.0} s",
            t.mechanism,
            t.metric,
            started.elapsed().as_secs_f64()
        );
        for s in &t.steps {
            println!(
                "  bound {:6.2} nearest {:6.2} N_w {:.4} by use {:.4} S_w {:8.1} cosine {:.3} guess {:.4} by use {:.4}",
                s.bound,
                s.nearest,
                s.summary.keep.value,
                s.summary.keep_by_use.value,
                s.summary.outputs.mean,
                s.summary.changed_cosine.map_or(f64::NAN, |e| e.value),
                s.summary.guess.map_or(f64::NAN, |g| g.success.value),
                s.summary.guess_by_use.map_or(f64::NAN, |g| g.success.value),
            );
        }
    }
    std::fs::write(html, report::calibration(&tables, &[]))?;
    std::fs::write(json, serde_json::to_string_pretty(&tables)?)?;
    Ok(())
}
