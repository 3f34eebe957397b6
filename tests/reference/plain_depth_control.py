"""LRTA* that chooses the depth of its lookahead for every move, in plain Python.

The oracle is the labelling procedure of Bulitko, Björnsson, Luštrek, Schaeffer & Sigmundarson (2007): a search of the
largest depth, then searches that are shallower by one each, as long as they make the same move. The rules are those
that ``agents.rule_lrta`` describes. Here every depth is a search of its own; nothing is shared between them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from agents.policies.trees import LEAF, Forest, Policy, load_policy
from reference import plain_lrta
from reference.plain_grid import MAX_MOVES, Change, Heuristic, Map, Plan, Position, Run, learner_trial
from reference.plain_situation import Story, by_definition, layers_by_definition
from rt_gym.features.decision import LAYERS
from rt_gym.features.history import FEATURES
from rt_gym.grid import Grid

WINDOW = 20  # of how many states, the current one included, one counts as entered again
CALM, QUIET, STABLE = 2, 5, 4


def would(view: Map, s: Position, goal: Position, depth: int, h: Heuristic) -> Plan:
    """Return what a lookahead of this depth would do; nothing is learned."""
    return plain_lrta.plan(view, s, goal, depth, dict(h))


def label(view: Map, s: Position, goal: Position, d_max: int, h: Heuristic) -> int:
    """Return the last depth that agreed when going down from ``d_max``; 0 without a way."""
    wanted = would(view, s, goal, d_max, h).steps
    if not wanted:
        return 0
    depth = d_max
    while depth > 1 and would(view, s, goal, depth - 1, h).steps == wanted:
        depth -= 1
    return depth


def tied(view: Map, s: Position, goal: Position, depth: int, h: Heuristic) -> list[Position]:
    """Return the neighbours of ``s`` over which a best frontier state is as near as by any other way, in order."""
    ball = plain_lrta.look_ahead(view, s, goal, depth)
    g = plain_lrta.cheapest(ball)
    f = plain_lrta.path_max(ball, g, plain_lrta.canonical_parents(ball, g), h)
    best = [u for u in ball.frontier if f[u] == min(f[v] for v in ball.frontier)]
    found = []
    for near, step in ball.successors[s]:
        beyond = plain_lrta.cheapest(plain_lrta.Ball(near, ball.discovered, ball.successors, []))
        if any(u in beyond and step + beyond[u] == g[u] for u in best):
            found.append(near)
    return found


def label_by(view: Map, s: Position, goal: Position, d_max: int, h: Heuristic, ties: str) -> int:
    """Return the label by a reading of ties: ``label`` with another notion of when a depth agrees with the largest."""
    if ties == "search":
        return label(view, s, goal, d_max, h)
    wanted = tied(view, s, goal, d_max, h)

    def agrees(depth: int) -> bool:
        if ties == "ordered":
            return tied(view, s, goal, depth, h)[0] == wanted[0]
        return would(view, s, goal, depth, h).steps[0] in wanted

    depth = d_max
    while depth > 1 and agrees(depth - 1):
        depth -= 1
    return depth


def oracle_plan(view: Map, s: Position, goal: Position, d_max: int, h: Heuristic) -> Plan:
    """Do what a lookahead of the labelled depth does; the search of the largest depth is read, but not charged."""
    read = would(view, s, goal, d_max, h).expanded
    depth = label(view, s, goal, d_max, h)
    plan = plain_lrta.plan(view, s, goal, depth, h) if depth else Plan()
    plan.scanned = read
    return plan


def run_oracle(
    grid: Grid,
    start: Position,
    goal: Position,
    d_max: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial of the oracle; ``after`` is the trial whose heuristic and believed map it goes on with."""

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        return oracle_plan(view, s, goal, d_max, h)

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)


@dataclass
class Past:
    """What the rules remember of a trial.

    Attributes:
        states: where the agent planned, which is wherever it stood.
        raised: whether the last move raised a value.
        depth: how far ``revisit`` looks.
        quiet: moves since a state was entered again.
    """

    states: list[Position] = field(default_factory=list)
    raised: bool = False
    depth: int = 1
    quiet: int = 0

    def enter(self, s: Position) -> bool:
        """Take note of the current state; return whether it was entered again."""
        window = self.states[-(WINDOW - 1) :]
        self.states.append(s)
        return s in window


def update_depth(past: Past, d_max: int) -> int:
    """Return how far ``update`` looks: as far as it may after a move that raised a value."""
    return d_max if past.raised else min(CALM, d_max)


def revisit_depth(past: Past, again: bool, d_max: int) -> int:
    """Return how far ``revisit`` looks: twice as far as before in a state entered again, one after quiet moves."""
    past.quiet = 0 if again else past.quiet + 1
    if again:
        past.depth = min(2 * past.depth, d_max)
    if past.quiet >= QUIET:
        past.depth = 1
    return past.depth


def settle_depth(view: Map, s: Position, goal: Position, d_max: int, h: Heuristic) -> int:
    """Return how deep ``settle`` goes: until it has seen enough, or that there is no way."""
    values, moves = [h[s]], []
    for depth in range(1, d_max + 1):
        plan = would(view, s, goal, depth, h)
        values.append(plan.raised.get(s, h[s]))
        moves.append(plan.steps)
        first_raises_nothing = depth == 1 and values[1] == values[0]
        adds_nothing = values[-1] <= values[-2]
        same_move = depth > STABLE and all(move == plan.steps for move in moves[-1 - STABLE :])
        if not plan.steps or first_raises_nothing or (adds_nothing and same_move):
            return depth
    return d_max


def run_rule(
    grid: Grid,
    start: Position,
    goal: Position,
    rule: str,
    d_max: int,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial by a rule; ``after`` as in ``run_oracle``."""
    past = Past()

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        again = past.enter(s)
        depth = {
            "update": lambda: update_depth(past, d_max),
            "revisit": lambda: revisit_depth(past, again, d_max),
            "settle": lambda: settle_depth(view, s, goal, d_max, h),
        }[rule]()
        plan = plain_lrta.plan(view, s, goal, depth, h)
        past.raised = bool(plan.raised)
        return plan

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)


def scores(forest: Forest, row: Sequence[float], branch: int) -> list[float]:
    """Add up what the trees say, each after at most so many tests."""
    total = [0.0] * forest.scores.shape[1]
    for root in forest.root:
        node, tests = int(root), 0
        while forest.feature[node] != LEAF and tests < branch:
            left = np.float32(row[forest.feature[node]]) <= forest.threshold[node]
            node, tests = int(forest.left[node] if left else forest.right[node]), tests + 1
        total = [sum(pair) for pair in zip(total, forest.scores[node].tolist(), strict=True)]
    return total


def classified_depth(story: Story, policy: Policy, d_max: int, branch: int) -> int:
    """Return the depth that a policy chooses, or reaches layer by layer; the layer without a way ends it, too."""
    known = by_definition(story, policy.history)
    if policy.decide == "depth":
        said = scores(policy.forest, [known[name] for name in policy.features], branch)
        return min(policy.depths[said.index(max(said))], d_max)
    for depth in range(1, d_max):
        if not would(story.believed, story.states[-1], story.goal, depth, story.h).steps:
            return depth
        known |= dict(zip(LAYERS, layers_by_definition(story, depth), strict=True))
        if scores(policy.forest, [known[name] for name in policy.features], branch)[0] >= policy.threshold:
            return depth
    return d_max


def run_classifier(
    grid: Grid,
    start: Position,
    goal: Position,
    policy: str | Policy,
    d_max: int | None,
    max_branch: int | None,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial by a policy; ``after`` as in ``run_oracle``."""
    trained = load_policy(policy)
    cap, branch = min(d_max or trained.d_max, trained.d_max), max_branch or 10**9
    looks = any(name not in FEATURES for name in trained.features)
    story = Story(grid, goal, [], {})

    def learner(view: Map, s: Position, h: Heuristic) -> Plan:
        story.states.append(s)
        story.view, story.h = view, h
        depth = classified_depth(story, trained, cap, branch)
        before = h[s]
        plan = plain_lrta.plan(view, s, goal, depth, h)
        plan.scanned = [s] * looks
        story.raises.append(len(plan.raised))
        story.decisions.append((depth, len(plan.expanded), h[s] - before))
        return plan

    return learner_trial(grid, start, goal, learner, vision, changes, max_moves, after)
