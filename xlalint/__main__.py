"""`python -m xlalint`."""

from __future__ import annotations

from xlalint.cli import main

if __name__ == "__main__":
    main()
