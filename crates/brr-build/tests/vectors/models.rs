//! Writes fastText models.

use proptest::prelude::*;

use crate::files::*;

/// A model to write. Buckets come after the words in `table.data`.
#[derive(Clone, Debug)]
pub struct Model {
    pub table: Table,
    pub labels: i32,
    pub buckets: i32,
    pub ngrams: (i32, i32),
}

impl Model {
    pub fn dictionary_end(&self) -> usize {
        let entries = self
            .table
            .words
            .iter()
            .map(|word| word.len() + 10)
            .sum::<usize>();
        8 + 12 * 4 + 8 + 12 + 16 + entries + self.labels as usize * 12
    }

    pub fn bytes(&self) -> Vec<u8> {
        let Model {
            table,
            labels,
            buckets,
            ngrams: (min, max),
        } = self;
        let words = table.words.len() as i32;
        let mut file = Vec::new();
        let dim = table.dim as i32;
        let arguments = [
            793_712_314,
            12,
            dim,
            5,
            1,
            1,
            5,
            1,
            2,
            2,
            *buckets,
            *min,
            *max,
            100,
        ];
        arguments
            .iter()
            .for_each(|n: &i32| file.extend(n.to_le_bytes()));
        file.extend(1e-4f64.to_le_bytes());
        [words + labels, words, *labels]
            .iter()
            .for_each(|n| file.extend(n.to_le_bytes()));
        [100i64, -1]
            .iter()
            .for_each(|n| file.extend(n.to_le_bytes()));
        let words = table.words.iter().map(|word| (word.as_str(), 0));
        for (text, kind) in words.chain((0..*labels).map(|_| ("la", 1))) {
            file.extend(text.as_bytes());
            file.extend([0, 9, 0, 0, 0, 0, 0, 0, 0, kind]);
        }
        file.push(0);
        let rows = table.data.len() / table.dim;
        [rows, table.dim]
            .iter()
            .for_each(|n| file.extend((*n as i64).to_le_bytes()));
        table.data.iter().for_each(|x| file.extend(x.to_le_bytes()));
        file
    }
}

/// Models with n-grams of `least` characters or more, all of whose rows are small numbers.
pub fn models(least: i32) -> impl Strategy<Value = Model> {
    (tables(), 1..40i32, least..4i32, 0..4i32).prop_flat_map(|(table, buckets, min, more)| {
        let rows = table.words.len() + buckets as usize;
        prop::collection::vec(0.1f32..2.0, rows * table.dim).prop_map(move |data| Model {
            table: Table {
                data,
                ..table.clone()
            },
            labels: 0,
            buckets,
            ngrams: (min, min + more),
        })
    })
}
