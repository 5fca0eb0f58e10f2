//! Trains the classifier of the evaluation on a file in fastText's format and
//! prints its accuracy on another: `classifier TRAIN TEST`.
//! `experiments/imdb/check-classifier` compares it with the original fastText.

use brr_eval::classifier::{Classifier, Settings, accuracy};

fn read(path: &str) -> Result<Vec<(String, usize)>, Box<dyn std::error::Error>> {
    let parse = |line: &str| {
        let (label, text) = line.split_once(' ')?;
        let label = label.strip_prefix("__label__")?.parse().ok()?;
        Some((text.to_owned(), label))
    };
    let text = std::fs::read_to_string(path)?;
    let rows: Option<Vec<_>> = text.lines().map(parse).collect();
    Ok(rows.ok_or("lines must be `__label__NUMBER words`")?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [train, test] = &args[..] else {
        return Err("TRAIN TEST".into());
    };
    let (train, test) = (read(train)?, read(test)?);
    let labels = 1 + train.iter().map(|row| row.1).max().unwrap_or(0);
    for seed in 1..=3 {
        let rows = train.iter().map(|(text, label)| (text.as_str(), *label));
        let classifier = Classifier::train(rows, labels, &Settings::default(), seed)?;
        let found: Vec<_> = test
            .iter()
            .map(|(text, _)| classifier.probabilities(text))
            .collect();
        println!("{:.5}", accuracy(&found, test.iter().map(|row| row.1)));
    }
    Ok(())
}
