"""How a vector of numbers becomes a small network that controls the lookahead, for evolution.

The network has one layer of a few hidden units and a number y behind it. To deepen or to act is a matter of its sign. A
depth is the one whose logarithm is nearest to y, which is the largest of the outputs 2 y log d - (log d)^2: a network
like any other.
"""

from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from agents.policies.networks import DECISIONS, Network
from agents.policy_lrta import PolicyLRTA
from rt_gym import World
from training.judge.stats import Floats
from training.learn.setup import problems_of
from training.runs import Course

_EVERY, _STATES = 4, 100  # of which problems, and how many states of each, inputs are standardised by


@dataclass(frozen=True)
class Encoding:
    """How a vector of numbers becomes a network.

    Attributes:
        decide, hidden: see ``training.learn.evolve.EvolutionConfig``.
        d_max, history: see ``Network``.
        mean, scale: what inputs are standardised by.
    """

    decide: str
    hidden: int
    d_max: int
    history: int
    mean: Any = 0.0
    scale: Any = 1.0

    @property
    def features(self) -> tuple[str, ...]:
        """All features that such a network can know."""
        return DECISIONS[self.decide]

    def network(self, vector: Floats, about: dict[str, Any] | None = None) -> Network:
        """Return the network of a vector: weights and bias of the hidden layer, then those of y."""
        inputs, hidden = len(self.features), self.hidden
        weights, bias, last = np.split(vector, [inputs * hidden, (inputs + 1) * hidden])
        depths = tuple(range(1, self.d_max + 1)) if self.decide == "depth" else ()
        logs = np.log(depths)
        slope, offset = (2 * logs, -(logs**2)) if depths else (np.array([1.0, 0.0]), np.zeros(2))
        return Network(
            decide=self.decide,
            features=self.features,
            layers=(
                (weights.reshape(inputs, hidden), bias),
                (np.outer(last[:-1], slope), last[-1] * slope + offset),
            ),
            d_max=self.d_max,
            depths=depths,
            history=self.history,
            mean=np.broadcast_to(self.mean, inputs),
            scale=np.broadcast_to(self.scale, inputs),
            about=about or {},
        )

    def start(self) -> Floats:
        """Return a vector that imitates a rule of ``rule-lrta``: ``settle`` to deepen, ``update`` for the depth."""
        weights, bias, last = (
            np.zeros((len(self.features), self.hidden)),
            np.zeros(self.hidden),
            np.zeros(self.hidden + 1),
        )
        if self.decide == "deepen":
            # Act if the layers so far raise nothing, or if the move has not changed for four of them.
            weights[self.features.index("layer_rise"), 0], bias[0] = -12.0, 2.0
            weights[self.features.index("steady"), 1], bias[1] = 4.0, -6.0
            last[[0, 1, -1]] = 1.0, 1.0, 0.9
        else:
            # Ten after a move that raised a value, else two.
            weights[self.features.index("since_update"), 0], bias[0] = -8.0, 2.0
            low, high = log(2), log(min(10, self.d_max))
            last[[0, -1]] = (high - low) / 2, (high + low) / 2
        bias += self.mean @ weights if np.ndim(self.mean) else 0.0
        return np.concatenate([(weights.T * self.scale).T.ravel(), bias, last])

    def standardised(self, courses: tuple[Course, ...]) -> "Encoding":
        """Return an encoding whose inputs have mean 0 and scale 1 in the states that the rule visits on courses."""
        agent, rows = PolicyLRTA(self.network(self.start())), []
        for problem in problems_of(courses)[::_EVERY]:
            world = World(problem)
            agent.reset(world.view)
            for _ in range(_STATES):
                if world.done:
                    break
                action = agent.act()
                rows.append(agent.memory.seen[: len(self.features)].astype(np.float64))
                world.step(action)
        spread = np.std(rows, axis=0)
        return replace(self, mean=np.mean(rows, axis=0), scale=np.where(spread > 1e-3, spread, 1.0))
