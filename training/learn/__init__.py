"""Log -> targets -> fit -> validate -> select -> policy file; goals; evolution; reinforcement."""
