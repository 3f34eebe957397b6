"""LRTA* with a classifier for the depth: told beside the other ways to choose one."""

from reference import plain_depth_control

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one

run = plain_depth_control.run_classifier
