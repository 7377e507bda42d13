"""Check of the optional dependencies of the deep models."""

from importlib.util import find_spec

from consilience.errors import MissingDependencyError


def require_installed(*names: str) -> None:
    """Raise an error that says how to install a missing dependency."""
    for name in names:
        if find_spec(name) is None:
            raise MissingDependencyError(f"consilience.deep needs {name}. Install it: pip install 'consilience[deep]'.")
