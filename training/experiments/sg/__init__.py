"""The experiments of sg."""
