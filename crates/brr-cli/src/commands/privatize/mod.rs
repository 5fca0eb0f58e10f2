//! `brr privatize`: text in, privatized text out.

mod corpus;

use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brr::parts::parallel::cores;
use brr::{
    Case, Choice, Language, Layout, Model, Options, Policy, Privatized, Privatizer, Search, Unknown,
};
use brr_corpus::{Counts, manifest};
use serde_json::{Value, json};

use crate::failure::{Failure, Result};
use crate::losses;
use crate::model_source;
use crate::output::{self, is_standard};
use crate::privacy::PrivacyArgs;
use crate::progress::Stages;
use crate::usage::{choice, whole};
use crate::word_lists::PolicyArgs;

/// Privatize text: from arguments, a file, or standard input
///
/// Replaces every word by a randomly drawn one, which may be the word itself. How
/// much the draw depends on the original word is limited by --epsilon, --bound or
/// --keep. White space, HTML line breaks and single punctuation marks are kept
/// (see --layout), and so is the number of words.
///
/// In CSV, JSON and Parquet files, the columns named by --column are
/// privatized, and everything else is copied unchanged.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  brr privatize \"the film was a terrible waste of an evening\"
  brr privatize --keep 0.4 < reviews.txt > private.txt
  brr privatize --epsilon 0.09 --input reviews.txt --output private.txt --manifest run.json
  brr privatize --bound 11 --input in.csv.gz --column title --column body --output out.csv.zst
  brr privatize --keep 0.4 --input in.jsonl --column user.comment --output out.jsonl --resume
  brr privatize --keep 0.4 --input in.csv -c body --unit user --max-words 500 -o out.csv
  brr privatize --keep 0.4 letters/ notes.txt --output-dir private/
  brr privatize --mechanism brr --bound 60 --json < reviews.txt
  brr privatize --mechanism tree --public function-words \"the doctor was late\"
  brr privatize --mechanism k-ary --private names+places \"Susan lives in Paris\"

Without --epsilon, --bound or --keep, standard output gets --keep 0.5: about half of the words
stay as they are. Writing to a file (--output) requires one of the three. PRIVACY.md explains
what is promised and what is not.")]
pub struct Args {
    /// Text to privatize; several arguments are joined by spaces. Other users of the
    /// machine may see arguments: use --input or standard input for private text. With
    /// --output-dir, the files and folders to privatize
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    text: Vec<OsString>,
    /// Read from this file [default: standard input]
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Write to this file, which appears when it is complete; requires --epsilon, --bound
    /// or --keep
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Privatize the files named as TEXT, and those in folders named so, each into a file of the
    /// same name in this folder; requires --epsilon, --bound or --keep
    #[arg(long, value_name = "FOLDER", requires = "text", conflicts_with_all = ["input", "output", "json"])]
    output_dir: Option<PathBuf>,
    /// Replace the output file if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    privacy: PrivacyArgs,
    /// Which parts of the text's structure to keep
    #[arg(long, value_name = "NAME", value_parser = choice::<Layout>(), default_value = Layout::default().name())]
    layout: Layout,
    /// What to write for words that the model does not know
    #[arg(long, value_name = "NAME", value_parser = choice::<Unknown>(), default_value = Unknown::default().name())]
    unknown: Unknown,
    #[command(flatten)]
    policy: PolicyArgs,
    /// Whether to write capital letters, which depend on nothing but the output. The default is
    /// sentence for text that is given as arguments or typed, and plain for files and pipes
    #[arg(long, value_name = "NAME", value_parser = choice::<Case>())]
    case: Option<Case>,
    /// How --mechanism brr finds the nearest word
    #[arg(long, value_name = "NAME", value_parser = choice::<Search>(), default_value = Search::default().name())]
    search: Search,
    /// Decode the draws of each text together, after the noise, with a public language model: at
    /// no cost in privacy, the text reads. It is a plausible text, not what was written. --keep
    /// is then the share in that text, as measured on a sample: about that of other texts. It is
    /// the default for text that is given as arguments or typed, with the built-in model
    #[arg(long)]
    context: bool,
    /// Write the words as they were drawn: the default for files and pipes
    #[arg(long, conflicts_with_all = ["context", "language"])]
    no_context: bool,
    /// Language model for --context, from `brr language build` [default: built-in English]
    #[arg(long, value_name = "FILE")]
    language: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = whole::<u16, 1, 65_535>)]
    threads: Option<u16>,
    /// Write a JSON object per document: text, words, mechanism, epsilon, metric, bound,
    /// loss_per_word, total_loss, adjacency, and policy if some words are public
    #[arg(long)]
    json: bool,
    /// Write a record of the run to this file: model, guarantee, counts, but never text
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Do not state the guarantee on standard error
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    corpus: corpus::CorpusArgs,
}

pub fn run(mut args: Args) -> Result {
    if args.output_dir.is_none() && args.text == ["-"] {
        args.text.clear();
    }
    want_budget_for_a_file(&args)?;
    args.want_one_on_stdout()?;
    let model = args.privacy.open_model()?;
    let privatizer = privatizer(&args, model)?;
    if args.text.is_empty() || args.output_dir.is_some() {
        return corpus::run(&args, &privatizer);
    }
    args.corpus.refuse_for_arguments()?;
    warn_of_names(&args.text);
    if let Some(path) = args.manifest_file() {
        manifest::prepare(path, args.force)?;
        if let Some(output) = &args.output {
            manifest::check_apart(path, output)?;
        }
    }
    let out = output::open(args.output.as_deref(), args.force)?;
    announce(&args, &privatizer);
    let text = args.text.join(OsStr::new(" "));
    let Some(text) = text.to_str() else {
        return Err(Failure::Usage("TEXT is not UTF-8".into()));
    };
    let cap = args.corpus.max_words.unwrap_or(u64::MAX);
    let texts = privatizer.privatize_capped(&[text], |_| cap)?;
    let privatized = texts.into_iter().next().unwrap_or_default();
    let line = if args.json {
        json_line(&privatizer, &privatized)
    } else {
        privatized.text.clone()
    };
    out.finish_with((line + "\n").as_bytes())?;
    let counts = Counts {
        rows: 1,
        ..Counts::of(&[privatized])
    };
    tell_what_was_public(&args, &privatizer, &counts);
    let mut record = manifest::of_texts(&privatizer, &counts, args.corpus.max_words);
    // Whoever reads the output by the record must know that it is a line of JSON.
    record["settings"] = json!({"document_line": args.json.to_string()});
    if let Some(path) = args.manifest_file() {
        manifest::write(path, &record)?;
    }
    args.print_manifest(&record)
}

impl Args {
    /// Where the record goes, if that is a file.
    fn manifest_file(&self) -> Option<&Path> {
        self.manifest.as_deref().filter(|path| !is_standard(path))
    }

    /// Writes the record to standard output, if it goes there.
    fn print_manifest(&self, record: &Value) -> Result {
        match self.manifest.as_deref().is_some_and(is_standard) {
            true => output::open(None, false)?.finish_with(format!("{record:#}\n").as_bytes()),
            false => Ok(()),
        }
    }

    /// Text and record cannot be told apart on one stream, and a folder is none.
    fn want_one_on_stdout(&self) -> Result {
        output::want_folder("--output-dir", self.output_dir.as_deref())?;
        let record = self.manifest.as_deref().is_some_and(is_standard);
        let text = self.output.as_deref().is_none_or(is_standard);
        match (record, &self.output_dir) {
            (true, Some(_)) => Err(Failure::Usage(
                "--manifest: the record of several files is kept while they are written, and `-` is standard output: name a file".into(),
            )),
            (true, None) if text => Err(Failure::Usage(
                "--manifest: `-` is standard output, which has the text: give --output, or name a file".into(),
            )),
            _ => Ok(()),
        }
    }
}

/// Somebody may have left --input or --output-dir out. A name is not repeated: it may be text.
fn warn_of_names(text: &[OsString]) {
    if let Some(place) = text
        .iter()
        .position(|argument| Path::new(argument).exists())
    {
        tell!(
            "warning: argument {} names a file, and the name itself is privatized as text; to privatize its content use --input, or --output-dir for several files",
            place + 1
        );
    }
}

/// The privatizer that was asked for. Under a policy, the exponential mechanism is certified on the
/// private words.
fn privatizer(args: &Args, model: Arc<Model>) -> Result<Privatizer> {
    let typed = is_typed(args);
    let case = args.case.unwrap_or(match typed {
        true => Case::Sentence,
        false => Case::default(),
    });
    let options = Options::default()
        .with_mechanism(args.privacy.mechanism)
        .with_budget(args.privacy.budget())
        .with_layout(args.layout)
        .with_unknown(args.unknown)
        .with_search(args.search)
        .with_context(context(args, &model)?)
        .with_policy(args.policy.policy(&model)?);
    let options = brr_english::with_case(options, case, &model);
    let stages = Stages::new();
    let share = |share| stages.show("certifying the private words", share);
    let privatizer = Privatizer::certified(model, options, cores(), &share);
    stages.finish();
    Ok(privatizer?)
}

/// The language model that draws are decoded with, if they are.
fn context(args: &Args, model: &Model) -> Result<Option<Arc<Language>>> {
    let file = args.language.as_deref();
    let by_default = !args.no_context && args.privacy.model.is_none() && is_typed(args);
    let wanted = args.context || file.is_some() || by_default;
    let language = wanted.then(|| model_source::open_language(file, model));
    Ok(language.transpose()?.map(Arc::new))
}

/// Whether a person gives the text, and reads what comes out: a corpus is analyzed, for which draws
/// serve better.
fn is_typed(args: &Args) -> bool {
    let words = !args.text.is_empty() && args.output_dir.is_none();
    let keyboard = args.text.is_empty() && args.input.is_none() && std::io::stdin().is_terminal();
    words || keyboard
}

/// The default is for looking at the effect. What is kept or passed on should have a privacy loss
/// that somebody chose.
fn want_budget_for_a_file(args: &Args) -> Result {
    let file = args.output.as_deref().or(args.output_dir.as_deref());
    let to_file = file.is_some_and(|path| !is_standard(path));
    if to_file && args.privacy.is_default() {
        return Err(Failure::Usage(
            "--output: say how much privacy a file is to have, with --epsilon, --bound or --keep; the default is only for looking at the effect on standard output".into(),
        ));
    }
    Ok(())
}

/// Says on standard error what is promised.
fn announce(args: &Args, privatizer: &Privatizer) {
    if args.quiet {
        return;
    }
    if let Some(list) = privatizer.options().policy.list() {
        let rule = match privatizer.options().policy {
            Policy::AllBut(_) => "all words are private but those of",
            _ => "only unknown words are private, and those of",
        };
        tell!(
            "brr: {rule} the list {} ({} words, identity {})",
            list.name(),
            list.len(),
            list.identity()
        );
    }
    let [mechanism, loss] = losses::statement(privatizer);
    let default = if args.privacy.is_default() {
        " (the default, as no privacy option was given)"
    } else {
        ""
    };
    tell!("brr: {mechanism}{default}");
    tell!("brr: {loss}");
    if let Some(warning) = losses::warning(privatizer) {
        tell!("warning: {warning}");
    }
    if privatizer.options().context.is_some() {
        tell!(
            "brr: decoded with context after the noise: a plausible text, not what was written; the loss is the same"
        );
    }
    match privatizer.options().unknown {
        Unknown::Random => {}
        Unknown::Keep => {
            tell!("warning: --unknown keep writes unknown words as they are: they are NOT private")
        }
        _ => tell!(
            "warning: this --unknown rule tells which words are unknown; the guarantee does not cover that"
        ),
    }
}

/// Says on standard error how much the policy made public.
fn tell_what_was_public(args: &Args, privatizer: &Privatizer, counts: &Counts) {
    if args.quiet || privatizer.options().policy.list().is_none() {
        return;
    }
    tell!(
        "brr: public words: {} of {} ({:.1} %)",
        counts.public,
        counts.words,
        100.0 * counts.public_share()
    );
}

/// What `--json` says of a document.
fn json_line(privatizer: &Privatizer, privatized: &Privatized) -> String {
    let guarantee = privatizer.guarantee();
    // No count of unknown words here: it is not private, and this line may travel.
    let mut line = json!({
        "text": privatized.text,
        "words": privatized.tokens,
        "mechanism": privatizer.mechanism().name(),
        "epsilon": guarantee.epsilon,
        "metric": guarantee.metric.to_string(),
        "bound": losses::in_json(guarantee.bound()),
        "loss_by_level": manifest::loss_by_level(&guarantee),
        "loss_per_word": losses::in_json(losses::per_word(privatizer)),
        "total_loss": losses::in_json(privatizer.total_loss(privatized.private())),
        "adjacency": privatizer.adjacency().to_string(),
        "context": manifest::context(privatizer),
    });
    if privatizer.options().policy.list().is_some() {
        let counts = Counts::of(std::slice::from_ref(privatized));
        line["policy"] = manifest::policy(privatizer, &counts);
    }
    line.to_string()
}
