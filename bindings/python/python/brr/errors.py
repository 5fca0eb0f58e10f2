"""What can go wrong. No message contains the user's text."""


class BrrError(Exception):
    """Every error of this package."""


class ArgumentError(BrrError, ValueError):
    """An argument that makes no sense, such as a choice that does not exist."""


class BudgetError(BrrError, ValueError):
    """A budget that is out of range, stated twice, or beyond the model's tables."""


class ModelError(BrrError, ValueError):
    """A model that is damaged, of another version, or not a model."""


class UncheckedModelError(ModelError):
    """A share of kept words was asked of a model whose file nobody checked.

    Call :meth:`brr.Model.check`, or give ``epsilon`` or ``bound``.
    """


class FileError(BrrError, OSError):
    """A file that cannot be read or written, or that stands where one is to be written."""


class BuildError(BrrError, ValueError):
    """Word vectors that no model can be built from."""


class BuildFileError(BuildError, FileError):
    """A file of word vectors that cannot be read."""


class EntropyError(BrrError, OSError):
    """The operating system gave no randomness; nothing was privatized."""


class InputError(BrrError, TypeError, ValueError):
    """What cannot be used: a cell of the wrong type, broken Unicode, an unknown word.

    ``row`` is the position of the first such cell, where one is to blame: counted from 0
    in what was handed over, from 1 and without the header in a file.
    """

    row: int | None

    def __init__(self, message: str, row: int | None = None) -> None:
        """Say what is wrong, and where."""
        super().__init__(message)
        self.row = row


class InternalError(BrrError, RuntimeError):
    """A fault of this package; nothing was privatized."""


class PrivacyWarning(UserWarning):
    """A choice that the guarantee does not cover."""
