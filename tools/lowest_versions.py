"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

    python tools/lowest_versions.py > constraints.txt

Every dependency of the package, of its extras and of its development tools must have a lower bound that is a release:
``numpy>=2.0`` becomes ``numpy==2.0``. Needs ``packaging``.
"""

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"


def lowest_version(requirement):
    """Return the version after ``>=`` in a `Requirement`.

    Raises
    ------
    ValueError
        If the requirement has no lower bound, or two.
    """
    bounds = [specifier.version for specifier in requirement.specifier if specifier.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(
            f"A dependency in pyproject.toml must have one lower bound, as in 'numpy>=2.0'. Got {str(requirement)!r}."
        )
    return bounds[0]


def constraints(project):
    """Return a constraint for each dependency of a ``[project]`` table and of its extras, in their order."""
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    requirements = [Requirement(line) for line in lines]
    own = canonicalize_name(project["name"])  # an extra may name other extras of the package
    return [f"{found.name}=={lowest_version(found)}" for found in requirements if canonicalize_name(found.name) != own]


if __name__ == "__main__":
    sys.stdout.write("\n".join(constraints(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"])) + "\n")
