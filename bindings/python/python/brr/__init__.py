"""On-device text privatization with a metric differential privacy guarantee.

>>> import brr
>>> privatizer = brr.Privatizer(keep=0.7)
>>> private = privatizer.privatize("the film was a terrible waste of an evening")
>>> len(private.split())
9

Every word is replaced by a word drawn at random, close to it in meaning. White
space and a short list of punctuation are kept under the default layout, and so
is the number of words: that is not hidden. ``privatizer.guarantee`` says what is
promised. No network is used and no text is logged.
"""

from brr._native import (
    ArrowColumn,
    CalibrationPoint,
    Certificate,
    Chance,
    Guarantee,
    Likely,
    Model,
    Origins,
    Outcomes,
    PairDistances,
    Privatized,
    __version__,
)
from brr.building import build
from brr.errors import (
    BrrError,
    BudgetError,
    BuildError,
    BuildFileError,
    EntropyError,
    InputError,
    InternalError,
    ModelError,
    ModelFileError,
    PrivacyWarning,
)
from brr.privatizer import Privatizer
from brr.ratio import Ratio, ratio

__all__ = [
    "ArrowColumn",
    "BrrError",
    "BudgetError",
    "BuildError",
    "BuildFileError",
    "CalibrationPoint",
    "Certificate",
    "Chance",
    "EntropyError",
    "Guarantee",
    "InputError",
    "InternalError",
    "Likely",
    "Model",
    "ModelError",
    "ModelFileError",
    "Origins",
    "Outcomes",
    "PairDistances",
    "PrivacyWarning",
    "Privatized",
    "Privatizer",
    "Ratio",
    "__version__",
    "build",
    "ratio",
]
