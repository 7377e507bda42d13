"""``python -m consilience``."""

from consilience.cli import main

if __name__ == "__main__":
    main()
