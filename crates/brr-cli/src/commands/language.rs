//! `brr language`: language models, with which draws are decoded.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::parts::language::DecodedKeep;
use brr::parts::parallel::cores;
use brr::{Language, Model, Policy};
use brr_build::language::{DEFAULT_SIZE, Pairs, TextCounter, read_arpa};
use brr_eval::decoded_keep::measure_keep;

use crate::failure::{Failure, Result};
use crate::input;
use crate::model_source;
use crate::output::WholeFile;
use crate::progress::{self, Stages};
use crate::usage::whole;

/// Build and inspect language models, for `brr privatize --context`
///
/// A language model says which words follow which. After the noise, it finds the most
/// probable text behind the words drawn: text that reads, at no cost in privacy. It must be
/// made from public text, never from text that is to be privatized.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    Build(BuildArgs),
    Inspect(InspectArgs),
}

/// Build a language model from public text, or from an ARPA file
///
/// A text file has a document on each line. The same files give the same bytes.
#[derive(clap::Args)]
struct BuildArgs {
    /// Text files, or one ARPA file (.arpa)
    #[arg(value_name = "FILE", required = true)]
    input: Vec<PathBuf>,
    /// Write the language model to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
    /// Model whose words it is for [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Largest size in bytes: pairs of words that say least are left out
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SIZE as u64, value_parser = whole::<u64, 1, 1_000_000_000>)]
    size: u64,
    /// Public text, a document on each line, on which to measure how many words stay after
    /// decoding: the tables behind --keep of the built-in language model. May be given several times: each
    /// policy of a built-in list is measured on the first text that has 50 private words, where there is one
    #[arg(long, value_name = "FILE")]
    sample: Vec<PathBuf>,
    /// Name, for whoever looks at the file
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Where the text comes from
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Its licence
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,
}

/// Show what a language model holds
#[derive(clap::Args)]
struct InspectArgs {
    /// Language model [default: built-in English]
    #[arg(value_name = "FILE")]
    language: Option<PathBuf>,
    /// Model whose words it is for [default: built-in English]
    #[arg(short, long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Show the words that follow this one most often
    #[arg(long, value_name = "WORD")]
    after: Option<String>,
}

pub fn run(args: Args) -> Result {
    match args.verb {
        Verb::Build(args) => build(&args),
        Verb::Inspect(args) => inspect(&args),
    }
}

fn build(args: &BuildArgs) -> Result {
    let model = model_source::open(args.model.as_deref())?;
    let output = WholeFile::create(&args.output, args.force)?;
    let inputs = args.input.iter().map(|path| input::on_disk(path));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| path.to_path_buf()).collect();
    let pairs = match &inputs[..] {
        [path] if is_arpa(path)? => read_arpa(&model, path, BufReader::new(open(path)?))?,
        paths => count(&model, paths)?,
    };
    let remarks = [
        ("name", &args.name),
        ("source", &args.source),
        ("licence", &args.licence),
    ];
    let meta = remarks.into_iter().filter_map(|(key, value)| {
        let value = value.as_ref()?;
        Some((key.to_owned(), value.clone()))
    });
    let (size, meta) = (args.size as usize, meta.collect::<Vec<_>>());
    let mut bytes = pairs.write(&model, size, &[], &meta)?;
    if !args.sample.is_empty() {
        let decoded = measure(&model, Language::new(&bytes)?, &args.sample)?;
        bytes = pairs.write(&model, size, &decoded, &meta)?;
    }
    let language = Language::new(&bytes)?;
    output.finish_with(&bytes)?;
    tell!(
        "brr: {} pairs of {} words in {} bytes, identity {}",
        language.pairs(),
        language.words(),
        bytes.len(),
        language.file_identity()
    );
    Ok(())
}

fn measure(
    model: &Arc<Model>,
    language: Language,
    samples: &[PathBuf],
) -> Result<Vec<DecodedKeep>> {
    let read = |path: &PathBuf| -> Result<String> {
        String::from_utf8(input::bytes(path)?)
            .map_err(|_| Failure::Failed(format!("{} is not UTF-8", input::called(path))))
    };
    let samples = samples.iter().map(read).collect::<Result<Vec<_>>>()?;
    let samples: Vec<Vec<&str>> = samples.iter().map(|text| text.lines().collect()).collect();
    let mut policies = vec![Policy::All];
    for (public, private) in brr_english::POLICIES {
        // A model of another language may have no word of a list.
        policies.extend(brr_english::policy(public, private, model));
    }
    let stages = Stages::new();
    let show = |share| stages.show("measuring what stays", share);
    model.check(cores(), &show)?;
    let measured = measure_keep(
        model,
        &Arc::new(language),
        &samples,
        &policies,
        cores(),
        &show,
    );
    stages.finish();
    Ok(measured?)
}

/// By the name; of standard input, which has none, by the first line.
fn is_arpa(path: &Path) -> Result<bool> {
    if path.file_name().is_some_and(|name| name == input::STANDARD) {
        let mut first = Vec::new();
        let read = open(path)?.take(6).read_to_end(&mut first);
        read.map_err(|e| Failure::file("read", path, &e))?;
        return Ok(first == b"\\data\\");
    }
    Ok(path.extension().is_some_and(|e| e == "arpa"))
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|source| {
        brr::Error::Io {
            path: path.to_owned(),
            source,
        }
        .into()
    })
}

fn count(model: &Model, paths: &[PathBuf]) -> Result<Pairs> {
    let files = paths.iter().map(|path| Ok((path, open(path)?)));
    let files = files.collect::<Result<Vec<_>>>()?;
    let sizes = files
        .iter()
        .map(|(_, file)| file.metadata().map(|m| m.len()).unwrap_or(0));
    let bar = progress::bytes(Some(sizes.sum()));
    let mut counter = TextCounter::new(model);
    for (path, file) in files {
        let io = |source| brr::Error::Io {
            path: path.clone(),
            source,
        };
        for line in BufReader::new(bar.wrap_read(file).by_ref()).lines() {
            counter.add(&line.map_err(io)?);
        }
    }
    bar.finish_and_clear();
    match counter.tokens() {
        0 => Err(Failure::Failed(
            "there is no word in these files: nothing to learn from".into(),
        )),
        _ => Ok(counter.pairs()),
    }
}

fn inspect(args: &InspectArgs) -> Result {
    let model = model_source::open(args.model.as_deref())?;
    let language = model_source::open_language(args.language.as_deref(), &model)?;
    let Some(word) = &args.after else {
        for (key, value) in language.meta() {
            println!("{key}: {value}");
        }
        println!("words: {}", language.words());
        println!("pairs: {}", language.pairs());
        println!("bytes: {}", language.file_size());
        println!("identity: {}", language.file_identity());
        return Ok(());
    };
    let word = model.find(word).ok_or(brr::Error::UnknownWord)?;
    let mut after: Vec<(f32, u32)> = (0..model.vocabulary().len() as u32)
        .map(|v| (language.probability(word, v), v))
        .collect();
    after.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (p, v) in after.iter().take(10) {
        println!("{p:.4} {}", model.vocabulary().word(*v));
    }
    Ok(())
}
