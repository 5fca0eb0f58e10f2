//! The packed vocabulary, without a model around it.

use brr::parts::vocabulary::{Vocabulary, WordId};

/// The first two bytes say how many words there should be, the rest is the pack.
pub fn vocabulary(data: &[u8]) {
    let Some((count, pack)) = data.split_first_chunk() else {
        return;
    };
    let count = usize::from(u16::from_le_bytes(*count));
    let Ok(vocabulary) = Vocabulary::unpack(pack, count) else {
        return;
    };
    assert_eq!(vocabulary.len(), count);
    let words: Vec<&str> = vocabulary.iter().collect();
    for (id, word) in words.iter().enumerate() {
        assert_eq!(vocabulary.id(word), Some(id as WordId), "found where it is");
    }
    assert_eq!(
        vocabulary.id("\0 no word"),
        words
            .iter()
            .position(|w| *w == "\0 no word")
            .map(|id| id as WordId)
    );
    if count > 0 {
        let again = Vocabulary::pack(&words).expect("what was read can be written");
        let again = Vocabulary::unpack(&again, count).expect("what was written can be read");
        assert!(again.iter().eq(words), "the same words");
    }
}
