//! Privatizes a text with the built-in English model, and says what that promises.
//!
//!     cargo run --release -p brr-english --example privatize -- "I have a secret"

use std::sync::Arc;

use brr::{Budget, Options, Privatizer};

fn main() -> brr::Result<()> {
    let text = std::env::args().nth(1);
    run(text
        .as_deref()
        .unwrap_or("The film was a waste of an evening."))
}

fn run(text: &str) -> brr::Result<()> {
    // At most 40 of 100 words stay as they are.
    let options = Options::default().with_budget(Budget::Keep(0.4));
    let privatizer = Privatizer::new(Arc::new(brr_english::model()?), options)?;
    let private = privatizer.privatize(text)?;
    let guarantee = privatizer.guarantee();
    println!("{}", private.text);
    println!("epsilon {:.4} in {}", guarantee.epsilon, guarantee.metric);
    println!("loss per word at most {:.1}", guarantee.worst_token());
    println!(
        "loss of this text at most {:.1}",
        privatizer.total_loss(private.tokens)
    );
    println!("{}", privatizer.adjacency());
    Ok(())
}

#[test]
fn runs() {
    run("The film was a waste of an evening.").unwrap();
}
