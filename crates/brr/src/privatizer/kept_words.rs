//! What a share of kept words is one of, in the words that every interface uses.

use std::fmt;

/// What a share of kept words is one of. Written out it ends a sentence that begins "about half of".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptWords {
    /// All words of the text that leaves.
    All,
    /// The private words of the text that leaves.
    Private,
    /// The private words as they are drawn, where what leaves is decoded and nobody measured what is then
    /// as it was: under a policy of the user's own list.
    Drawn,
}

impl fmt::Display for KeptWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeptWords::All => "words stay as they are",
            KeptWords::Private => "private words stay as they are",
            KeptWords::Drawn => {
                "private words are drawn as they were, and decoded text may keep more"
            }
        })
    }
}
