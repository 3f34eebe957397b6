"""Late-acting A*: told beside TBA*, whose search it shares."""

from reference import plain_tba

run = plain_tba.run_late
