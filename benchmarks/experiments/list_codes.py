"""Print which rows of a page's record hold for the code on the path, as JSON: their keys and the code that they name.

python -P benchmarks/experiments/list_codes.py MODULE
"""

from __future__ import annotations

import json
import sys
from importlib import import_module


def main() -> None:
    page = import_module(sys.argv[1]).PAGE
    record = page.record()
    found = [[cell.key, record.rows[cell.key]["code"]] for _, cell, state in page.states(record) if not state]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
