"""Environments of squads: many units on one map."""
