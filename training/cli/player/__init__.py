"""What ``rt-gym play`` shows: a run move by move, in the terminal, in a window, as a film."""
