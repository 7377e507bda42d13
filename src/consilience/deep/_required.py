"""What the deep models need beyond the rest of the package."""

from importlib.util import find_spec

from consilience.errors import MissingDependencyError


def require_installed(*names: str) -> None:
    """Raise an error that says how to install what is missing."""
    for name in names:
        if find_spec(name) is None:
            raise MissingDependencyError(f"consilience.deep needs {name}. Install it: pip install 'consilience[deep]'.")
