"""Learned choices of a depth or a goal: trees and networks as data, their evaluation, and the ready-made files."""
