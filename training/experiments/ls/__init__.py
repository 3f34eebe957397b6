"""The experiments of ls."""
