"""PR LRTS: ``algorithm`` among the regions, ``corridor`` among the cells."""

from agents.pr_lrts.algorithm import PRLRTS

__all__ = ["PRLRTS"]
