"""What agents prepare beforehand for a map or a goal: pattern databases, subgoal trees, kNN records, regions."""
