"""The experiments of dc."""
