"""Running agents: the one trial loop, whole trials with their records, and agents kept for the next run."""
