"""Log -> labels -> fit -> validate -> policy file; evolution; reinforcement."""
