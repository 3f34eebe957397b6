"""The tree learner of the depth-control paper: J48, exactly as Weka grows and prunes it.

``tree`` is of use without scikit-learn, so the estimator is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from training.j48.estimator import J48Classifier

__all__ = ["J48Classifier"]


def __getattr__(name: str) -> Any:
    if name != "J48Classifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from training.j48.estimator import J48Classifier

    return J48Classifier
