"""General LRTA* with any choice of depth and goal, in plain Python: what ``agents.general_lrta`` says of the designs.

The database is that of ``plain_pdb_lrta``, the depths are those of ``plain_depth_control`` and ``plain_policy_lrta``.
What a goal classifier sees is counted anew from the whole walk. A network for depth and goal has an agent of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.policies.goals import GoalPolicy, load_goal_policy
from agents.policies.networks import BOTH, Network, load_network
from agents.policies.trees import load_policy
from reference import plain_abstraction, plain_lrta, plain_pdb_lrta
from reference.plain_depth_control import classified_depth, oracle_plan, scores
from reference.plain_grid import (
    MAX_MOVES,
    Change,
    Heuristic,
    Map,
    Plan,
    Position,
    Run,
    World,
    cells,
    h0,
    initial_heuristic,
    walk,
)
from reference.plain_oracle import distances
from reference.plain_policy_lrta import chosen_depth, outputs, seen
from reference.plain_situation import Story, by_definition
from rt_gym.cost import STRAIGHT
from rt_gym.features.decision import SITUATION
from rt_gym.features.history import FEATURES
from rt_gym.features.subgoal import SUBGOAL
from rt_gym.grid import Grid

READS_AGAIN = True  # the agent may read a state again when a longer way turns out to be the cheaper one

FIXED = {1: ("global", "G"), 2: ("global", "G"), 3: ("pdb", "GI"), 4: ("pdb", "I"), 5: ("classifier", "GI")}
FIXED[6] = ("classifier", "I")
DYNAMIC = {7: ("pdb", "global", "G"), 8: ("pdb", "pdb", "GI"), 9: ("pdb", "pdb", "I")}
DYNAMIC |= {
    10: ("classifier", "global", "G"),
    11: ("classifier", "classifier", "GI"),
    12: ("classifier", "classifier", "I"),
}


@dataclass
class Agent(plain_pdb_lrta.Agent):
    """The agent on one problem, with its own choice of depth and goal."""

    depth: int | str = 1
    chooser: str = "global"
    may_be_global: bool = False
    policy: Any = None
    goal_policy: GoalPolicy | None = None
    d_max: int = 1
    story: Story = field(init=False)

    def begin_trial(self) -> None:
        """Count visits anew, and forget the walk."""
        super().begin_trial()
        self.story = Story(self.knowledge.view.grid, self.goal, [], {})

    def propose(self, view: Map, s: Position, start: int) -> int | None:
        """Return the region to head for from a region, None for the goal itself."""
        if self.chooser == "pdb":
            return super().propose(view, s, start)
        if self.chooser == "global" or self.knowledge.region.get(self.goal) == start:
            return None
        assert self.goal_policy is not None
        known = self.knowledge
        ranked = []
        for number in sorted(plain_abstraction.neighbours(known.edges, start)):
            if known.representatives[number] in view.free:
                row = self.candidate(s, number)
                inputs = [row[name] for name in self.goal_policy.features]
                way = self.gap(s, known.representatives[number]) + self.gap(known.representatives[number], self.goal)
                ranked.append((-scores(self.goal_policy.forest, inputs, 10**9)[0], way, number))
        if not ranked or (self.may_be_global and -min(ranked)[0] < 0.5):
            return None
        return min(ranked)[2]

    def candidate(self, s: Position, number: int) -> dict[str, float]:
        """Return the features of a region."""
        assert self.goal_policy is not None
        known, representative = self.knowledge, self.knowledge.representatives[number]
        recent = self.story.states[-self.goal_policy.history :]
        way = self.gap(s, representative) + self.gap(representative, self.goal)
        return {
            "candidate_distance": self.gap(s, representative) / STRAIGHT,
            "candidate_to_goal": self.gap(representative, self.goal) / STRAIGHT,
            "goal_distance": self.gap(s, self.goal) / STRAIGHT,
            "candidate_size": len(known.regions[number]),
            "candidate_visits": sum(known.region.get(cell) == number for cell in recent),
            "candidate_detour": (way - self.gap(s, self.goal)) / STRAIGHT,
        }

    def gap(self, a: Position, b: Position) -> int:
        """Return the heuristic between two cells."""
        return h0(self.knowledge.view.grid, a, b)

    def depth_towards(self, s: Position, number: int | None) -> int:
        """Return what a database knows of heading there, where that is asked for."""
        if self.depth != "pdb":
            return 0
        if number is None or self.chooser == "pdb":
            return super().depth_towards(s, number)
        known = self.knowledge
        ends = known.representatives[known.region[s]], known.representatives[number]
        return min(known.optimal_depth(*ends), known.cap)

    def plan(self, view: Map, s: Position) -> Plan:
        """Make one decision."""
        self.story.states.append(s)
        self.story.view = view
        plan = super().plan(view, s)
        self.story.raises.append(len(plan.raised))
        return plan

    def search(self, view: Map, s: Position, subgoal: Position, depth: int) -> Plan:
        """Look ahead as deep as the chooser of the depth says, towards what has been chosen as the goal."""
        h, story = self.table(subgoal), self.story
        story.goal, story.h = subgoal, h
        if isinstance(self.depth, int) or self.depth == "pdb":
            return super().search(view, s, subgoal, depth if self.depth == "pdb" else int(self.depth))
        if self.depth == "oracle":
            return oracle_plan(view, s, subgoal, self.d_max, h)
        if self.depth == "classifier":
            depth = classified_depth(story, self.policy, self.d_max, 10**9)
            looks = any(name not in FEATURES for name in self.policy.features)
        else:
            depth = chosen_depth(story, self.policy, self.d_max)
            looks = any(name in SITUATION and name not in FEATURES for name in self.policy.features)
        before = h[s]
        plan = plain_lrta.plan(view, s, subgoal, depth, h)
        plan.scanned = [s] * looks
        if plan.steps or self.policy.decide == "depth":  # a search by layers that finds no way has decided nothing
            story.decisions.append((depth, len(plan.expanded), h[s] - before))
        return plan


@dataclass
class Led:
    """The agent on one problem, with a network that chooses depth and goal at every move; nothing guards it."""

    knowledge: plain_pdb_lrta.Knowledge
    goal: Position
    network: Network
    d_max: int
    tables: dict[Position, Heuristic] = field(default_factory=dict)
    story: Story = field(init=False)
    pursued: Position | None = None

    def begin_trial(self) -> None:
        """Forget the walk."""
        self.story, self.pursued = Story(self.knowledge.view.grid, self.goal, [], self.table(self.goal)), None

    def table(self, goal: Position) -> Heuristic:
        """Return the values towards a goal."""
        return self.tables.setdefault(goal, initial_heuristic(self.knowledge.view.grid, goal))

    def subgoal(self, view: Map, s: Position) -> Position | None:
        """Return the representative of the next region on the way, None where there is none or it is blocked."""
        known = self.knowledge
        start, target = known.region.get(s), known.region.get(self.goal)
        if start is None or target is None or start == target:
            return None
        if known.representatives[start] not in distances(known.view, known.representatives[target]):
            return None
        cell = known.representatives[known.next_region(start, target)]
        return cell if cell in view.free else None

    def features(self, s: Position, subgoal: Position | None) -> dict[str, float]:
        """Return what the network is shown: where the agent stands on its way to the goal, and the subgoal."""
        told = by_definition(self.story, self.network.history) | dict.fromkeys(SUBGOAL, 0.0)
        if subgoal is not None:
            grid = self.knowledge.view.grid
            told |= {
                "has_subgoal": 1,
                "subgoal_distance": h0(grid, s, subgoal) / STRAIGHT,
                "subgoal_dx": subgoal[0] - s[0],
                "subgoal_dy": subgoal[1] - s[1],
                "subgoal_beyond": h0(grid, subgoal, self.goal) / STRAIGHT,
                "subgoal_pursued": self.pursued == subgoal,
            }
        return told

    def plan(self, view: Map, s: Position) -> Plan:
        """Make one decision."""
        self.story.states.append(s)
        self.story.view = view
        subgoal = self.subgoal(view, s)
        told = self.features(s, subgoal)
        said = outputs(self.network, seen([told[name] for name in self.network.features]))
        depths = self.network.depths
        depth = min(depths[int(np.argmax(said[: len(depths)]))], self.d_max)
        to_goal, to_subgoal = said[len(depths) :]
        target = self.goal if subgoal is None or to_goal >= to_subgoal else subgoal
        plan, rise = self.search(view, s, target, depth)
        if not plan.steps and target != self.goal:
            again, rise = self.search(view, s, self.goal, 1)
            plan = Plan(again.steps, [*plan.expanded, *again.expanded], raised=again.raised)
        self.story.raises.append(len(plan.raised))
        self.story.decisions.append((depth, len(plan.expanded), rise))
        plan.scanned = [s]
        return plan

    def search(self, view: Map, s: Position, target: Position, depth: int) -> tuple[Plan, int]:
        """Look ahead towards a target; return the plan and how far the value of the state rose."""
        self.pursued, h = target, self.table(target)
        before = h[s]
        plan = plain_lrta.plan(view, s, target, depth, h)
        return plan, h[s] - before


def led(network: Network, world: World, goal: Position, d_max: int | None) -> Led:
    """Return the agent of a network; in fog its regions are those of open ground."""
    grid = world.grid
    free = cells(grid) if world.vision is not None else [cell for cell in cells(grid) if cell in world.believed.free]
    known = plain_pdb_lrta.Knowledge(Map(grid, free), "I", 1, network.abstraction, network.level, "first")
    return Led(known, goal, network, min(d_max or network.d_max, network.d_max))


def run(
    grid: Grid,
    start: Position,
    target: Position,
    depth: int | str | None = None,
    goal: str | None = None,
    mode: str | None = None,
    design: int | None = None,
    level: int | None = None,
    cap: int | None = None,
    abstraction: str | None = None,
    database: None = None,
    policy: str | Network | None = None,
    goal_policy: str | GoalPolicy = "goal",
    d_max: int | None = None,
    subgoal: str | None = None,
    keep: bool = True,
    patience: int | None = None,
    guard: bool = True,
    vision: int | None = None,
    changes: Sequence[Change] = (),
    max_moves: int = MAX_MOVES,
    after: Run | None = None,
) -> Run:
    """Run one trial; ``after`` is the trial whose values, knowledge and believed map it goes on with."""
    assert database is None
    if design in FIXED:
        goal, mode = FIXED[design]
    elif design in DYNAMIC:
        depth, goal, mode = DYNAMIC[design]
    depth, goal = depth or "classifier", goal or "classifier"
    world = World(grid, start, vision, changes, after.believed if after else None)
    if after:
        agent = after.memory
    elif isinstance(policy, Network) and policy.decide == BOTH:
        agent = led(policy, world, target, d_max)
    else:
        scorer = load_goal_policy(goal_policy) if goal == "classifier" else None
        level = level if level is not None else scorer.level if scorer else plain_pdb_lrta.LEVEL
        kind = abstraction or (scorer.abstraction if scorer else plain_pdb_lrta.ABSTRACTION)
        stored = {"global": "G", "pdb": mode or "I", "classifier": "GI"}[goal]
        seen = Map(grid, [cell for cell in cells(grid) if cell in world.believed.free])
        reading = subgoal or plain_pdb_lrta.SUBGOAL
        known = plain_pdb_lrta.Knowledge(seen, stored, cap or plain_pdb_lrta.CAP, kind, level, reading)
        keeps = keep and goal == "pdb" and stored != "G"
        often = plain_pdb_lrta.patience_of(keeps, patience, guard)
        trained: Any = None
        if depth in ("classifier", "policy"):
            trained = load_policy(policy or "tree") if depth == "classifier" else load_network(policy or "deepen")
        deepest = min(d_max or trained.d_max, trained.d_max) if trained else d_max or 10
        agent = Agent(
            known, target, keeps, often, depth=depth, chooser=goal, may_be_global=mode != "I",
            policy=trained, goal_policy=scorer, d_max=deepest,
        )  # fmt: skip
    agent.begin_trial()
    record = walk(world, target, agent.plan, max_moves, {})
    record.memory = agent
    return record
