"""Every error and warning of the package, one tree."""

__all__ = [
    "AnnotationError",
    "AnnotationWarning",
    "FeatureScaleWarning",
    "InputError",
    "MatchingError",
    "MissingDataError",
    "MissingDependencyError",
    "SavedModelError",
    "SavedModelWarning",
    "UnannotatedWarning",
]


def __dir__() -> list[str]:
    return sorted(__all__)


class InputError(ValueError):
    """What the user gave cannot be used; the message says what, where, and what is expected."""


class AnnotationError(InputError):
    """A table, array or file that does not hold annotations, or contradicts itself."""


class MatchingError(InputError):
    """Items of features and of annotations that cannot be matched: names on one side alone, or other names."""


class SavedModelError(InputError):
    """A file that is no saved model, is damaged, or comes from a version that this one does not know."""


class MissingDataError(InputError):
    """A data set that is not on this machine."""


class MissingDependencyError(InputError, ImportError):
    """A package that is not installed; the message says how to get it."""


class AnnotationWarning(UserWarning):
    """Annotations that are legal but carry no information, or are left out."""


class UnannotatedWarning(AnnotationWarning):
    """Items of which nothing was said, and which therefore have no label."""


class FeatureScaleWarning(UserWarning):
    """Features whose scales are so far apart that a model sees the largest alone; standardise them."""


class SavedModelWarning(UserWarning):
    """A saved model that another version of the package wrote."""
