"""The experiments of dl."""
