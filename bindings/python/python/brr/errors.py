"""What can go wrong. No message contains the user's text.

Every error is a :class:`BrrError`, and also the built-in kind that people catch:
``ValueError``, ``TypeError``, or the ``OSError`` that Python itself would raise, such as
``FileNotFoundError`` with its ``filename``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class BrrError(Exception):
    """Every error of this package."""


class ArgumentError(BrrError, TypeError, ValueError):
    """An argument that makes no sense: of the wrong type, or a choice that does not exist."""


@contextmanager
def arguments() -> Iterator[None]:
    """Make what Python says of an argument of the wrong type an error of this package."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BrrError):
            raise
        # A note says which argument it was, from Python 3.11 on.
        notes = getattr(error, "__notes__", [])
        raise ArgumentError("; ".join([str(error), *notes])) from None


class BudgetError(BrrError, ValueError):
    """A budget that is out of range, stated twice, or beyond the model's tables."""


class ModelError(BrrError, ValueError):
    """A model that is damaged, of another version, or not a model."""


class UncheckedModelError(ModelError):
    """A share of kept words was asked of a model whose file nobody checked.

    Call :meth:`brr.Model.check`, or give ``epsilon`` or ``bound``.
    """


class FileError(BrrError, OSError):
    """A file that cannot be read or written, or that stands where one is to be written.

    If the operating system said why, it is also the class that Python has for that, such as
    ``FileNotFoundError``, ``FileExistsError`` or ``PermissionError``.
    """

    def __new__(cls, *args: Any) -> FileError:
        """Choose the class by the system's number, as OSError does."""
        builtin = type(OSError(*args)) if len(args) > 1 else OSError
        return OSError.__new__(_also(cls, builtin), *args)

    def __str__(self) -> str:
        """Give the message, which names the file already."""
        return str(self.strerror if self.errno is not None else super().__str__())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the class with a name of its own, which then chooses again."""
        reduced: Any = super().__reduce__()
        _, args, *state = reduced
        named = next(kind for kind in type(self).__mro__ if "_made" not in vars(kind))
        return (named, args, *state)


# Classes that are both: one for each pair, so that errors of one kind are of one class.
_both: dict[tuple[type[FileError], type[OSError]], type[FileError]] = {}


def _also(kind: type[FileError], builtin: type[OSError]) -> type[FileError]:
    """Give the class that is both."""
    if issubclass(kind, builtin):
        return kind
    if (kind, builtin) not in _both:
        body = {"__module__": kind.__module__, "__doc__": kind.__doc__, "_made": True}
        _both[kind, builtin] = type(kind.__name__, (kind, builtin), body)
    return _both[kind, builtin]


class BuildError(BrrError, ValueError):
    """Word vectors that no model can be built from, or texts that no language model can."""


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
