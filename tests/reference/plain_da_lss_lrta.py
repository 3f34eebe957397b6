"""daLSS-LRTA* in plain Python (Hernández & Baier 2012): its base with another target."""

from functools import partial

from reference import plain_lss_lrta
from reference.plain_depressions import border

run = partial(plain_lss_lrta.run, target=border)
