"""Goal policies: trees that score the regions an agent could head for next, as data in a JSON file, never as code.

The score of a region is how often, among the samples of a leaf, a shortest path entered it next.
"""

from dataclasses import dataclass, field
from typing import Any

from agents.policies.candidates import CANDIDATE
from agents.policies.trees import (
    Forest,
    check_features,
    check_forest,
    check_head,
    longest_branch,
    read_policy,
    wire,
    write_policy,
)
from rt_gym.abstraction import KINDS, MAX_LEVEL
from rt_gym.errors import InputError, quoted, whole
from rt_gym.files import PathLike

KIND, VERSION = "rt_gym.goal-policy", 1


@dataclass(frozen=True)
class GoalPolicy:
    """A trained goal policy.

    Attributes:
        features: the names of the inputs, in the order in which the trees number them.
        history: how many steps back the visits reach.
        level, abstraction: the regions that it was trained on.
        forest: the trees, with one score.
        about: how it was made: learner, settings, maps, seed; for people.
    """

    features: tuple[str, ...]
    history: int
    level: int
    abstraction: str
    forest: Forest
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def branch(self) -> int:
        """The largest number of tests on the way to a leaf."""
        return longest_branch(self.forest)

    def wired(self) -> Forest:
        """Return the forest with the numbers that agents give to the features."""
        return wire(self.forest, self.features, CANDIDATE)

    def save(self, path: PathLike) -> None:
        """Write the policy to a JSON file."""
        head = {"kind": KIND, "version": VERSION, "features": list(self.features), "history": self.history}
        head |= {"level": self.level, "abstraction": self.abstraction, "about": self.about}
        write_policy(path, head, self.forest)


def load_goal_policy(source: PathLike | GoalPolicy) -> GoalPolicy:
    """Return a goal policy: one that is there, from a file, or by the name of one that comes with the package."""
    if isinstance(source, GoalPolicy):
        return source
    return read_policy("goal_policy", source, KIND, _checked)


def _checked(data: Any) -> GoalPolicy:
    check_head(data, KIND, VERSION, "a goal policy")
    features = check_features(data, CANDIDATE, "goal")
    history = whole("history", data.get("history"), 1, 10_000)
    level, abstraction = whole("level", data.get("level"), 0, MAX_LEVEL), data.get("abstraction")
    if abstraction not in KINDS:
        raise InputError(f"must have the abstraction {' or '.join(KINDS)}, not {quoted(abstraction)}")
    forest = check_forest(data.get("forest"), len(features), 1)
    return GoalPolicy(features, history, level, abstraction, forest, data.get("about", {}))
