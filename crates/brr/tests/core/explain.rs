//! What `explain` says, against the mechanisms themselves.

use crate::support::{chi_square_limit, letters, model_of, random_model, whole_model};
use brr::explain::{Method, Part, outcomes, posterior, trace};
use brr::parts::certify::Weights;
use brr::parts::codes::{CodeBits, CodeRows, hamming};
use brr::parts::epsilon::Epsilon;
use brr::{Budget, ErrorKind, MechanismKind, Options, Privatizer, Unknown};

fn privatizer(mechanism: MechanismKind, epsilon: f64) -> Privatizer {
    let options = Options::default()
        .with_mechanism(mechanism)
        .with_budget(Budget::Epsilon(epsilon));
    Privatizer::new(random_model(64, 300, 11), options).unwrap()
}

/// Pr[y | w] for the exponential mechanism, the slow way.
fn exact(p: &Privatizer, epsilon: f64) -> Vec<Vec<f64>> {
    let rows = p.model().codes().to_rows();
    // The model has no certificates: its weights are the textbook's.
    let weights = Weights::textbook(rows.bits(), Epsilon::new(epsilon).unwrap(), None);
    let weights = weights.table();
    let of = |w: usize| {
        let weight = |y| weights[hamming(rows.row(w), rows.row(y)) as usize] as f64;
        let z: f64 = (0..rows.len()).map(weight).sum();
        (0..rows.len()).map(|y| weight(y) / z).collect()
    };
    (0..rows.len()).map(of).collect()
}

#[test]
fn exponential_outcomes_are_exact() {
    let p = privatizer(MechanismKind::Exponential, 0.3);
    let table = exact(&p, 0.3);
    let found = outcomes(&p, 7, 300, 0).unwrap();
    assert_eq!(found.method, Method::Exact);
    assert!((found.stays.probability - table[7][7]).abs() < 1e-12);
    assert_eq!(found.likely.len(), 300);
    for l in &found.likely {
        assert!((l.chance.probability - table[7][l.word as usize]).abs() < 1e-12);
    }
    assert!(found.reach.is_sorted() && (found.reach[3] - 1.0).abs() < 1e-9);
    assert!((found.reach[0] - found.stays.probability).abs() < 1e-12);
}

#[test]
fn nothing_is_estimated_from_no_draws() {
    let p = privatizer(MechanismKind::Brr, 0.3);
    let kinds = [
        outcomes(&p, 7, 10, 0).unwrap_err().kind(),
        posterior(&p, 7, 10, 0).unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Argument; 2]);
}

/// What is explained is what is drawn. Pearson's statistic exceeds its limit by chance about
/// once in a million times, for each mechanism and budget.
#[test]
fn draws_fit_the_explained_row() {
    let model = whole_model();
    for budget in [Budget::Keep(0.5), Budget::Bound(7.0), Budget::Epsilon(0.2)] {
        let options = Options::default().with_budget(budget);
        let p = Privatizer::new(model.clone(), options).unwrap();
        let row = outcomes(&p, 7, 100, 0).unwrap();
        let drawn = p
            .privatize(&format!("{} ", letters(7)).repeat(5000))
            .unwrap();
        let mut counts = vec![0.0; 100];
        for word in drawn.text.split_whitespace() {
            counts[model.find(word).unwrap() as usize] += 1.0;
        }
        let (mut statistic, mut rest) = (0.0, (0.0, 0.0));
        let mut cells = 0;
        for l in &row.likely {
            let cell = (counts[l.word as usize], 5000.0 * l.chance.probability);
            if cell.1 < 10.0 {
                rest = (rest.0 + cell.0, rest.1 + cell.1);
            } else {
                statistic += (cell.0 - cell.1).powi(2) / cell.1;
                cells += 1;
            }
        }
        if rest.1 >= 10.0 {
            statistic += (rest.0 - rest.1).powi(2) / rest.1;
            cells += 1;
        }
        assert!(
            statistic < chi_square_limit(cells - 1),
            "{budget:?}: {statistic}"
        );
    }
}

#[test]
fn exponential_posterior_bracket_bayes() {
    let p = privatizer(MechanismKind::Exponential, 0.3);
    let table = exact(&p, 0.3);
    let total: f64 = table.iter().map(|row| row[7]).sum();
    let found = posterior(&p, 7, 10, 0).unwrap();
    assert_eq!(found.likely[0].word, 7);
    for l in &found.likely {
        let truth = table[l.word as usize][7] / total;
        assert!((l.chance.probability / truth - 1.0).abs() < 0.02);
        assert!(l.chance.low <= l.chance.probability && l.chance.probability <= l.chance.high);
    }
}

/// Two codes `k` bits apart, all others' noise aside: both directions of BRR
/// have closed forms, the tie going to the lower id.
#[test]
fn brr_agrees_with_the_closed_form_on_two_words() {
    let (k, epsilon) = (5, 0.6);
    let mut codes = CodeRows::new(CodeBits::new(64).unwrap());
    codes.push(&[0]);
    codes.push(&[(1 << k) - 1]);
    let model = model_of(&[letters(0), letters(1)], &codes);
    let options = Options::default()
        .with_mechanism(MechanismKind::Brr)
        .with_budget(Budget::Epsilon(epsilon));
    let p = Privatizer::new(model, options).unwrap();
    let flip = 1.0 / (1.0 + f64::exp(epsilon));
    let choose = [1.0, 5.0, 10.0];
    // Stays if at most two of the five bits flip.
    let stays: f64 = (0..3)
        .map(|i| choose[i] * flip.powi(i as i32) * (1.0 - flip).powi(5 - i as i32))
        .sum();

    // Standard error 0.0033; off by 0.03 is nine of them.
    let found = outcomes(&p, 0, 2, 20_000).unwrap();
    assert!((found.stays.probability - stays).abs() < 0.03);
    assert_eq!(found.method, Method::Drawn { draws: 20_000 });
    // Both words have the same `stays`, so it is the posterior, too. 400 noisy
    // codes are looked at: standard error below 0.02; 0.12 is six of them.
    let found = posterior(&p, 0, 2, 20_000).unwrap();
    assert_eq!(found.likely[0].word, 0);
    assert!((found.likely[0].chance.probability - stays).abs() < 0.12);
}

/// The estimate from draws around the output against plain counting.
#[test]
fn brr_posterior_agree_with_counting() {
    let p = privatizer(MechanismKind::Brr, 0.35);
    let found = posterior(&p, 3, 300, 4000).unwrap();
    let sum: f64 = found.likely.iter().map(|l| l.chance.probability).sum();
    assert!((sum - 1.0).abs() < 1e-9);
    // How often word 3 comes out, from each word.
    let draws = 4000;
    let count = |w| {
        let out = outcomes(&p, w, 300, draws).unwrap();
        let hit = out.likely.iter().find(|l| l.word == 3);
        hit.map_or(0.0, |l| l.chance.probability)
    };
    let counts: Vec<f64> = (0..300).map(count).collect();
    let total: f64 = counts.iter().sum();
    for l in found.likely.iter().take(5) {
        let counted = counts[l.word as usize] / total;
        // Sampling error of both sides, six standard errors.
        let error = 3.0 * (l.chance.high - l.chance.low)
            + 6.0 * (counts[l.word as usize] / draws as f64).sqrt() / total;
        assert!((l.chance.probability - counted).abs() < error);
    }
}

#[test]
fn the_more_budget_the_narrower() {
    let reach = |e| {
        let p = privatizer(MechanismKind::Brr, e);
        outcomes(&p, 5, 1, 2000).unwrap().reach[1]
    };
    assert!(reach(0.1) + 0.2 < reach(2.0));
}

#[test]
fn a_trace_is_a_privatized_text() {
    let p = privatizer(MechanismKind::Brr, 3.0);
    let text = format!("{}, {} 4711!", letters(1), letters(2).to_uppercase());
    let traced = trace(&p, &text).unwrap();
    assert_eq!((traced.tokens, traced.unknown), (3, 1));
    let words = traced.parts.iter().filter_map(|part| match part {
        Part::Word { original, .. } => Some(original.clone()),
        Part::Structure(_) => None,
    });
    let originals: Vec<String> = words.collect();
    assert_eq!(
        originals,
        [letters(1), letters(2).to_uppercase(), "4711".into()]
    );
    let unknown = |part: &&Part| matches!(part, Part::Word { known: false, .. });
    let Some(Part::Word { changed, .. }) = traced.parts.iter().find(unknown) else {
        panic!("one token is unknown");
    };
    assert!(changed);
    let structure: String = traced
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Structure(s) => Some(s.as_str()),
            Part::Word { .. } => None,
        })
        .collect();
    assert_eq!(structure, ",  !");

    let options = p.options().clone().with_unknown(Unknown::Drop);
    let p = Privatizer::new(p.model().clone(), options).unwrap();
    assert!(
        !trace(&p, &text)
            .unwrap()
            .parts
            .iter()
            .any(|part| unknown(&part))
    );
}
