"""Pages that are written from what commands found."""
