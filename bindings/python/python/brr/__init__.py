"""On-device text privatization with a metric differential privacy guarantee.

>>> import brr
>>> privatizer = brr.Privatizer(keep=0.7)
>>> private = privatizer.privatize("the film was a terrible waste of an evening")
>>> len(private.split())
9

Every word goes through a random draw: with the share ``keep`` it stays, else it
becomes close to a random word. ``privatizer.guarantee`` says what is promised, and
``privatizer.adjacency`` about which texts, and so what is public: under the default
layout white space, a short list of punctuation and the number of words. No network is
used and no text is logged.
"""

from brr._native import ArrowColumn, Guarantee, Language, Model, Restorer, Session, __version__
from brr.building import build, build_language
from brr.choices import Document, Format, Layout, Mechanism, OnBadRow, Search, Unknown
from brr.decoding import decode, decode_file, posteriors
from brr.errors import (
    ArgumentError,
    BrrError,
    BudgetError,
    BuildError,
    BuildFileError,
    EntropyError,
    FileError,
    InputError,
    InternalError,
    ModelError,
    PrivacyWarning,
    UncheckedModelError,
)
from brr.estimating import estimate, estimate_file
from brr.files import privatize_file
from brr.privatizer import Privatizer
from brr.ratio import Ratio, ratio
from brr.records import (
    CalibrationPoint,
    Certificate,
    Chance,
    DecodedText,
    DecodedWord,
    Estimates,
    FileReport,
    Likely,
    Outcomes,
    PairDistances,
    Posterior,
    Privatized,
    PrivatizedSpans,
    Restored,
    Trace,
    TracePart,
    WordCount,
)

__all__ = [
    "ArgumentError",
    "ArrowColumn",
    "BrrError",
    "BudgetError",
    "BuildError",
    "BuildFileError",
    "CalibrationPoint",
    "Certificate",
    "Chance",
    "DecodedText",
    "DecodedWord",
    "Document",
    "EntropyError",
    "Estimates",
    "FileError",
    "FileReport",
    "Format",
    "Guarantee",
    "InputError",
    "InternalError",
    "Language",
    "Layout",
    "Likely",
    "Mechanism",
    "Model",
    "ModelError",
    "OnBadRow",
    "Outcomes",
    "PairDistances",
    "Posterior",
    "PrivacyWarning",
    "Privatized",
    "PrivatizedSpans",
    "Privatizer",
    "Ratio",
    "Restored",
    "Restorer",
    "Search",
    "Session",
    "Trace",
    "TracePart",
    "UncheckedModelError",
    "Unknown",
    "WordCount",
    "__version__",
    "build",
    "build_language",
    "decode",
    "decode_file",
    "estimate",
    "estimate_file",
    "posteriors",
    "privatize_file",
    "ratio",
]
