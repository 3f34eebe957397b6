"""The experiments of tb."""
