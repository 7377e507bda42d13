"""All errors and warnings of the package, in one hierarchy."""

__all__ = [
    "AnnotationError",
    "AnnotationWarning",
    "CalibrationWarning",
    "FeatureScaleWarning",
    "InputError",
    "MatchingError",
    "MissingDataError",
    "MissingDependencyError",
    "SavedModelError",
    "SavedModelWarning",
    "SubsetWarning",
    "UnannotatedWarning",
]

__dir__ = __all__.copy


class InputError(ValueError):
    """Invalid input; the message says what was found, where, and what is expected."""


class AnnotationError(InputError):
    """A table, array or file does not contain annotations, or contradicts itself."""


class MatchingError(InputError):
    """The items of features and annotations cannot be matched: only one side has names, or the names differ."""


class SavedModelError(InputError):
    """A file is not a saved model, is damaged, or was saved by a later version."""


class MissingDataError(InputError):
    """A data set is not available on this machine."""


class MissingDependencyError(InputError, ImportError):
    """A required package is not installed; the message says how to install it."""


class AnnotationWarning(UserWarning):
    """Annotations are valid but carry no information, or are left out."""


class CalibrationWarning(UserWarning):
    """Nothing in the annotations tells how far probabilities can be trusted."""


class UnannotatedWarning(AnnotationWarning):
    """Items have no annotations, and therefore no label."""


class FeatureScaleWarning(UserWarning):
    """The scales of features differ so much that the largest dominates a model; standardise them."""


class SavedModelWarning(UserWarning):
    """A saved model was written by another version of the package."""


class SubsetWarning(UserWarning):
    """Subsets of the items do not determine clusters of all of them."""
