"""``consilience``, and ``python -m consilience``."""

import sys

INTERRUPTED = 130


def run() -> None:
    """Run the command line; an interruption while it is imported ends it quietly, too."""
    try:
        from consilience.cli import main

        main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    run()
