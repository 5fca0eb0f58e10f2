//! Grows trees over word vectors by cosine alone and with frequency, and says how many neighbours each
//! keeps together.
//!
//!     cargo run --release -p brr-build --example trees -- VECTORS [TAGS]

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use brr::parts::parallel::cores;
use brr_build::tree::{Tags, TreeOptions, grow, measure};
use brr_build::vectors::{LoadOptions, load};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let path = args.first().ok_or("give a file of word vectors")?;
    let vectors = load(Path::new(path), &LoadOptions::default())?.vectors;
    let tags = args.get(1).map(|path| Tags::read(Path::new(path)));
    let tags = tags.transpose()?;
    for (frequency, weight) in [(0.0, 0.0), (0.15, 0.0), (0.15, 0.15)] {
        if weight > 0.0 && tags.is_none() {
            continue;
        }
        let options = TreeOptions {
            frequency,
            tags: weight,
            threads: cores(),
        };
        let started = Instant::now();
        let tree = grow(&vectors, tags.as_ref(), &options, &mut |_| {})?;
        let words = vectors.words.len();
        println!(
            "frequency {frequency}, tags {weight}: {words} words, {} levels, {:.0} s",
            tree.levels(),
            started.elapsed().as_secs_f64()
        );
        for q in measure(&vectors, &tree, tags.as_ref(), cores()).levels {
            println!(
                "  level {:>2}: nearest neighbour within {:.3}, mean cosine {:.3}, a tag in common {}",
                q.level,
                q.nearest,
                q.cosine,
                q.tags.map_or("-".into(), |share| format!("{share:.3}"))
            );
        }
        for word in ["doctor", "smith", "terrible", "friday", "went"] {
            if let Some(id) = vectors.words.iter().position(|w| w == word) {
                let near = (0..5).flat_map(|level| tree.at_level(id as u32, level));
                let near: Vec<&str> = near.map(|&w| vectors.words[w as usize].as_str()).collect();
                println!("  {}", near.join(" "));
            }
        }
    }
    Ok(())
}
