"""The fitted models, and the sketches for figures, of the tests of views."""

from tests.inspection.conftest import animals, fusion, named, named_page, read, sorts
from tests.pages import sketches, thorough

__all__ = ["animals", "fusion", "named", "named_page", "read", "sketches", "sorts", "thorough"]
