"""How many random examples property tests take, by ``RTGYM_HYPOTHESIS``: ``quick``, ``dev`` or ``thorough``."""

import os

from hypothesis import HealthCheck, settings

USUAL = 50  # examples of a test that names no number

# No deadline and no check for slow draws: the first example may compile a kernel.
settings.register_profile(
    "dev", max_examples=USUAL, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("dev"), max_examples=USUAL // 10)
settings.register_profile("thorough", settings.get_profile("dev"), max_examples=20 * USUAL, derandomize=False)
PROFILE = os.environ.get("RTGYM_HYPOTHESIS", "dev")
QUICK = PROFILE == "quick"
settings.load_profile(PROFILE)


def examples(count: int) -> settings:
    """Return the decorator of a property test that takes so many examples, and in the other profiles in proportion."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL))
