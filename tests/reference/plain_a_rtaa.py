"""aRTAA* in plain Python (Hernández & Baier 2012): its base with another target."""

from functools import partial

from reference import plain_rtaa
from reference.plain_depressions import unmarked

run = partial(plain_rtaa.run, target=unmarked)
