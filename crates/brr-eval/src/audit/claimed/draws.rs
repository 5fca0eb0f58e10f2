//! What a program gave for words, asked over several runs within a limit of time.

use std::collections::HashMap;
use std::time::Instant;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use super::super::program::run;
use super::super::{AuditError, Program};

/// Words in the largest run.
const LARGEST: usize = 200_000;
/// Draws of each token in the first two runs, at most.
const OPENING: usize = 50;

/// Outputs of tokens. An output is a number, which stands for the line that came out.
pub struct Draws {
    /// The tokens asked about.
    pub tokens: Vec<String>,
    /// The outputs of each.
    pub outputs: Vec<Vec<u32>>,
    /// What each number stands for.
    pub names: Vec<String>,
    /// The first two runs, on equal input: tokens by number, and what came out in each.
    pub opening: (Vec<usize>, [Vec<u32>; 2]),
    /// Words that a second takes, the start of the program included.
    pub words_per_second: f64,
    ids: HashMap<String, u32>,
    rng: ChaCha20Rng,
}

impl Draws {
    /// Starts with two runs on equal input, in which lines of `more` follow the tokens; gives what
    /// came out for those in the first of them.
    pub fn open(
        tokens: Vec<String>,
        more: &[String],
        (program, trials): (&mut Program<'_>, usize),
        seed: u64,
    ) -> Result<(Draws, Vec<String>), AuditError> {
        let mut draws = Draws {
            outputs: vec![Vec::new(); tokens.len()],
            tokens,
            names: Vec::new(),
            opening: Default::default(),
            words_per_second: 0.0,
            ids: HashMap::new(),
            rng: ChaCha20Rng::seed_from_u64(seed),
        };
        // An even number, so that each draw has another to be compared with.
        let each = (trials / 20).clamp(2, OPENING) & !1;
        let order = draws.shuffled(each);
        let mut lines: Vec<String> = order.iter().map(|t| draws.tokens[*t].clone()).collect();
        lines.extend_from_slice(more);
        let mut first = draws.timed(program, &lines)?;
        let second = draws.timed(program, &lines)?;
        let rest = first.split_off(order.len());
        let first = draws.take(&order, first);
        let second = second.into_iter().take(order.len()).collect();
        let second = draws.take(&order, second);
        draws.opening = (order, [first, second]);
        Ok((draws, rest))
    }

    /// Draws on until every token has `trials` outputs or it is `until`.
    pub fn complete(
        &mut self,
        program: &mut Program<'_>,
        trials: usize,
        until: Instant,
        progress: &dyn Fn(f64),
    ) -> Result<(), AuditError> {
        while self.each() < trials {
            let left = until.saturating_duration_since(Instant::now());
            let affordable = left.as_secs_f64() * self.words_per_second * 0.8;
            let each = (affordable as usize / self.tokens.len())
                .min(LARGEST / self.tokens.len())
                .min(trials - self.each())
                .min(4 * self.each());
            if each == 0 {
                break;
            }
            let order = self.shuffled(each);
            let lines: Vec<String> = order.iter().map(|t| self.tokens[*t].clone()).collect();
            match self.timed(program, &lines) {
                Ok(out) => drop(self.take(&order, out)),
                // Too slow for what it had promised by then: what there is must do.
                Err(AuditError::Program(_)) if Instant::now() >= until => break,
                Err(error) => return Err(error),
            }
            progress(self.each() as f64 / trials as f64);
        }
        Ok(())
    }

    /// Outputs of each token so far.
    pub fn each(&self) -> usize {
        self.outputs.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Outputs of a token.
    pub fn of(&self, token: &str) -> &[u32] {
        let place = self.tokens.iter().position(|t| t == token);
        place.map_or(&[], |place| &self.outputs[place])
    }

    /// Draws of a token for which `event` holds, and all.
    pub fn count(&self, token: &str, event: impl Fn(&str) -> bool) -> (u64, u64) {
        let all = self.of(token);
        let hits = all.iter().filter(|y| event(&self.names[**y as usize]));
        (hits.count() as u64, all.len() as u64)
    }

    fn timed(
        &mut self,
        program: &mut Program<'_>,
        lines: &[String],
    ) -> Result<Vec<String>, AuditError> {
        let start = Instant::now();
        let out = run(program, lines)?;
        let seconds = start.elapsed().as_secs_f64().max(1e-3);
        // The start counts in each run: larger runs are only faster.
        self.words_per_second = self.words_per_second.max(lines.len() as f64 / seconds);
        Ok(out)
    }

    /// Every token so many times, in random order: what a program does by place must not fall on
    /// one token.
    fn shuffled(&mut self, each: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.tokens.len() * each)
            .map(|i| i % self.tokens.len())
            .collect();
        for i in (1..order.len()).rev() {
            order.swap(i, (self.rng.next_u64() % (i as u64 + 1)) as usize);
        }
        order
    }

    fn take(&mut self, order: &[usize], out: Vec<String>) -> Vec<u32> {
        let mut numbers = Vec::with_capacity(out.len());
        for (token, line) in order.iter().zip(out) {
            let next = self.names.len() as u32;
            let number = *self.ids.entry(line.clone()).or_insert(next);
            if number == next {
                self.names.push(line);
            }
            self.outputs[*token].push(number);
            numbers.push(number);
        }
        numbers
    }
}
