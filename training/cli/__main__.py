"""``python -m training.cli`` is ``rt-gym``."""

from training.cli import main

main()
