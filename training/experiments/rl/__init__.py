"""The experiments of rl."""
