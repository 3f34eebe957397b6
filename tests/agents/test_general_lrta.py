"""The twelve designs: which are other agents under another name, what a goal policy does, and what is refused."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import agents
from agents import general_lrta
from agents.general_lrta import choose_goal
from agents.policies.candidates import CANDIDATE
from agents.policies.goals import KIND, GoalPolicy, load_goal_policy
from agents.policies.trees import LEAF, Forest, ready_made
from reference.plain_oracle import random_problem
from reference.settings import BY_LAYERS
from reference.small_maps import ROOMS, drawn
from rt_gym import Change, Grid, InputError, Problem, World
from rt_gym.abstraction import abstract
from rt_gym.search.tables import make_goal_values

Settings = dict[str, Any]


def some_problems(seed: int, count: int, side: int = 14) -> list[Problem]:
    """Return problems on known maps, on maps that change, and in fog, in turn."""
    rng, found = np.random.default_rng(seed), []
    for number in range(count):
        grid, start, goal = random_problem(rng, side, density=float(rng.uniform(0.1, 0.4)))
        cells = [(int(rng.integers(grid.width)), int(rng.integers(grid.height))) for _ in range(4)]
        changes = [Change(k, cell, False) for k, cell in enumerate(cells) if cell != goal]
        found.append(Problem(grid, start, goal, (None, None, 1)[number % 3], changes if number % 3 == 1 else None))
    return found


def assert_twins(
    one: tuple[str, Settings], other: tuple[str, Settings], seed: int, ties: tuple[str, ...] = ("first", "random")
) -> None:
    """Compare two agents move for move and count for count over three trials."""
    for number, problem in enumerate(some_problems(seed, 15)):
        tie = ties[number % len(ties)]
        pair = [agents.make(agent_id, **settings, tie=tie) for agent_id, settings in (one, other)]
        runs = [agents.run(agent, problem, trials=3, max_moves=400) for agent in pair]
        paths = [[trial.path.tolist() for trial in run.trials] for run in runs]
        assert paths[0] == paths[1]
        counts = [(run.expansions, run.scans, run.max_expansions, run.h_updates) for run in runs]
        assert counts[0] == counts[1]


def always(score: float, level: int = 1) -> GoalPolicy:
    """Return a goal policy that gives every candidate the same score."""
    leaf = np.full(1, LEAF, np.int32)
    forest = Forest(np.zeros(1, np.int32), leaf, np.zeros(1), leaf, leaf, np.full((1, 1), score))
    return GoalPolicy(("candidate_size",), 20, level, "clique", forest)


class TestTwins:
    @pytest.mark.parametrize("design", [1, 2])
    @pytest.mark.parametrize("depth", [1, 4])
    def test_a_fixed_depth_and_the_global_goal_are_lrta(self, design: int, depth: int) -> None:
        mine, ties = {"design": design, "depth": depth}, ("first", "random")
        assert_twins(  # with a lookahead of one LRTA* draws its ties in another order
            ("general-lrta", mine), ("lrta", {"depth": depth}), design, ties if depth > 1 else ties[:1]
        )

    @pytest.mark.parametrize(("design", "mode"), [(7, "G"), (8, "GI"), (9, "I")])
    @pytest.mark.parametrize("chosen", [{"level": 1, "cap": 3}, {"level": 2, "cap": 5, "patience": 2}], ids=str)
    def test_depths_and_goals_of_a_database_are_pdb_lrta(self, design: int, mode: str, chosen: Settings) -> None:
        assert_twins(("general-lrta", chosen | {"design": design}), ("pdb-lrta", chosen | {"mode": mode}), design)

    @pytest.mark.parametrize("policy", ["tree", "history", BY_LAYERS], ids=["tree", "history", "by layers"])
    def test_a_depth_classifier_and_the_global_goal_are_classifier_lrta(self, policy: str) -> None:
        chosen = {"policy": policy, "d_max": 6}
        assert_twins(("general-lrta", chosen | {"design": 10}), ("classifier-lrta", chosen), 10)

    @pytest.mark.parametrize("word", ["oracle", "policy"])
    def test_an_oracle_or_a_network_with_the_global_goal_are_the_agents_of_that_name(self, word: str) -> None:
        mine = ("general-lrta", {"depth": word, "goal": "global", "d_max": 5})
        assert_twins(mine, (f"{word}-lrta", {"d_max": 5}), 11)

    def test_the_goal_of_mode_g_is_the_global_one(self) -> None:
        chosen = {"depth": "pdb", "level": 1, "cap": 3}
        mine = ("general-lrta", chosen | {"goal": "pdb", "mode": "G"})
        assert_twins(mine, ("general-lrta", chosen | {"goal": "global"}), 12)

    def test_a_score_below_a_half_leaves_the_goal_to_be_the_goal(self) -> None:
        mine = ("general-lrta", {"design": 5, "depth": 3, "goal_policy": always(0.49)})
        assert_twins(mine, ("lrta", {"depth": 3}), 13)

    def test_from_a_half_on_both_kinds_of_goal_choice_agree(self) -> None:
        chosen = {"depth": 3, "goal_policy": always(0.5)}
        designs = [("general-lrta", chosen | {"design": design}) for design in (5, 6)]
        assert_twins(designs[0], designs[1], 14)

    def test_design_3_with_the_cap_as_depth_moves_as_design_8_wherever_the_stored_depth_is_the_cap(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(general_lrta, "make_goal_values", lambda: make_goal_values(1024))  # quick to copy
        cap, checked, others = 3, 0, 0
        for problem in [Problem(*random_problem(np.random.default_rng(k), 16, density=0.35)) for k in range(8)]:
            world, agent = World(problem), agents.make("general-lrta", design=8, level=2, cap=cap, patience=50)
            agent.reset(world.view)
            fixed = agents.make("general-lrta", design=3, depth=cap, level=2, cap=cap)
            while not world.done:
                there = World(Problem(problem.grid, world.view.position, problem.goal))
                fixed.reset(there.view)
                fixed.memory = deepcopy(agent.memory)._replace(looks_up=0)
                fixed.memory.state[0].depth = cap
                s, t, scratch = int(world.trip.state[0].at), world.kernel_view.goal_cell, deepcopy(agent.memory)
                depth = choose_goal(world.terrain, world.trip, scratch, s, t)
                action = agent.act()
                if depth == cap:
                    assert fixed.act() == action
                checked, others = checked + (depth == cap), others + (depth < cap)
                world.step(action)
        assert checked > 0
        assert others > 0


class TestGoals:
    def test_the_best_score_wins_then_the_shorter_way_then_the_first(self) -> None:
        problem, regions = Problem(ROOMS, (0, 0), (6, 6)), abstract(ROOMS, "clique", 1)
        agent, world = agents.make("general-lrta", design=6, depth=2, goal_policy=always(0.3)), World(problem)
        agent.reset(world.view)
        agent.act()
        terrain, xy = world.terrain, lambda cell: ROOMS.position(int(cell))
        r = regions.region[ROOMS.cell(problem.start)]
        near = [regions.representatives[n] for n in regions.near[regions.begin[r] : regions.begin[r + 1]]]

        def octile(a: tuple[int, int], b: tuple[int, int]) -> float:
            low, high = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
            return high - low + low * 2**0.5

        ways = [octile(problem.start, xy(cell)) + octile(xy(cell), problem.goal) for cell in near]
        assert terrain.free[near].all()
        assert agent.pursued == near[int(np.argmin(np.round(ways, 9)))]

    def test_visits_count_the_last_states_in_a_region_and_no_older_ones(self) -> None:
        policy = load_goal_policy(always(0.7))
        world = World(Problem(Grid(np.ones((3, 12))), (0, 1), (11, 1)))
        agent = agents.make("general-lrta", design=6, depth=2, goal_policy=GoalPolicy(
            policy.features, 3, 1, "tiles", policy.forest))  # fmt: skip
        agent.reset(world.view)
        walked: list[int] = []
        while not world.done:
            action = agent.act()
            walked.append(int(agent.memory.guide.region[world.trip.state[0].at]))
            counts = np.bincount(walked[-3:], minlength=agent.memory.scorer.candidates.counts.size)
            assert agent.memory.scorer.candidates.counts.tolist() == counts.tolist()
            world.step(action)
        assert len(walked) > 6

    @pytest.mark.parametrize("chosen", [{"design": 1, "depth": 1}, {"design": 10, "d_max": 1}], ids=str)
    def test_values_grow_beyond_the_first_table(self, chosen: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        # The goal is behind the eastern end of a corridor, of which every cell has to be learned about.
        grid = drawn("." * 90, "." + "#" * 89, "." * 90, connectivity=4)
        problem = Problem(grid, (88, 0), (89, 2))
        usual = agents.run("general-lrta", problem, trials=3, **chosen)
        monkeypatch.setattr(general_lrta, "make_goal_values", lambda: make_goal_values(128))
        agent = agents.make("general-lrta", **chosen)
        small = agents.run(agent, problem, trials=3)
        assert small.path.tolist() == usual.path.tolist()
        assert small.memory == usual.memory > 64
        assert agent.memory.values.cells.size > 128

    def test_nothing_is_prepared_for_the_global_goal_alone(self) -> None:
        for chosen in ({"design": 1, "depth": 2}, {"design": 10}):
            agent = agents.make("general-lrta", **chosen)
            run = agents.run(agent, Problem(ROOMS, (0, 0), (6, 6)))
            assert (agent.regions, run.precompute_seconds) == (None, 0.0)
            assert "regions" not in agent.layers()

    def test_a_goal_policy_brings_its_regions_unless_others_are_asked_for(self) -> None:
        made = agents.make("general-lrta", goal_policy=always(0.5, level=3))
        assert (made.level, made.abstraction) == (3, "clique")
        other = agents.make("general-lrta", goal_policy=always(0.5, level=3), level=1, abstraction="tiles")
        assert (other.level, other.abstraction) == (1, "tiles")


class TestRefusals:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"depth": "deep"}, "depth must be a whole number or one of pdb, classifier, oracle, policy, not 'deep'"),
            ({"depth": 0}, "depth must be a whole number from 1 to 1000"),
            ({"depth": 2.5}, "depth must be"),
            ({"goal": "local"}, 'goal must be "global", "pdb" or "classifier", not \'local\''),
            ({"goal": 3}, 'goal must be "global"'),
            ({"mode": "H"}, 'mode must be "G", "GI" or "I"'),
            ({"mode": "G"}, "mode must not be 'G' where the goal is 'classifier'"),
            ({"goal": "global", "mode": "I"}, "mode must not be 'I' where the goal is 'global'"),
            ({"design": 0}, "design must be a whole number from 1 to 12"),
            ({"design": 13, "depth": 2}, "design must be a whole number from 1 to 12"),
            ({"design": "3"}, "design must be"),
            ({"design": 3}, "depth must be a whole number in design 3, not None"),
            ({"design": 3, "depth": "pdb"}, "depth must be a whole number in design 3, not 'pdb'"),
            ({"design": 8, "depth": 4}, "depth must be 'pdb' in design 8, not 4"),
            ({"design": 9, "mode": "GI"}, "mode must be 'I' in design 9, not 'GI'"),
            ({"design": 10, "goal": "pdb"}, "goal must be 'global' in design 10, not 'pdb'"),
            ({"level": 15}, "level must be"),
            ({"cap": 0}, "cap must be"),
            ({"d_max": 0}, "d_max must be"),
            ({"patience": 0}, "patience must be"),
            ({"abstraction": "sectors"}, "abstraction must be"),
            ({"database": "some.npz"}, 'database must be left out where neither depth nor goal is "pdb"'),
            ({"goal_policy": 3}, "goal_policy must be a file or a name"),
            ({"goal_policy": "oak"}, "there is no policy oak; ready-made ones are goal"),
            ({"goal_policy": "tree"}, "tree: is not a goal policy of rt_gym"),
            ({"policy": "goal"}, "goal: is not a depth policy of rt_gym"),
            ({"depth": "policy", "policy": "tree"}, "there is no network tree"),
        ],
        ids=str,
    )
    def test_what_does_not_fit_is_refused_in_one_sentence(self, wrong: Settings, message: str) -> None:
        with pytest.raises(InputError) as refusal:
            agents.make("general-lrta", **wrong)
        assert message in str(refusal.value)
        assert "\n" not in str(refusal.value)


class TestGoalPolicyFiles:
    def test_a_goal_policy_survives_its_file(self, tmp_path: Path) -> None:
        policy = always(0.25)
        policy.save(tmp_path / "g.json")
        again = load_goal_policy(tmp_path / "g.json")
        assert (again.features, again.history, again.level, again.abstraction) == (("candidate_size",), 20, 1, "clique")
        assert again.forest.scores.tolist() == [[0.25]]
        assert again.branch == 0

    def test_the_ready_made_one_says_how_it_was_made_and_is_small(self) -> None:
        assert ready_made(KIND) == ["goal"]
        policy = load_goal_policy("goal")
        assert policy.features == CANDIDATE
        assert policy.about["command"] == "rt-gym train goal"
        assert "seed" in policy.about
        assert policy.forest.feature.size < 400

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "rt_gym.depth-policy"}, "is not a goal policy"),
            ({"version": 2}, "has version 2 of the format, not 1"),
            ({"features": ["revisits"]}, "has the feature 'revisits', which a policy for the goal cannot know"),
            ({"features": None}, "must have a list of features"),
            ({"history": 0}, "history must be a whole number from 1"),
            ({"level": 15}, "level must be a whole number from 0"),
            ({"abstraction": "sectors"}, "must have the abstraction clique or tiles"),
            ({"about": 3}, "must describe itself by names and values"),
            ({"forest": None}, "has no trees"),
        ],
        ids=str,
    )
    def test_what_is_not_a_goal_policy_is_refused(self, tmp_path: Path, change: Settings, message: str) -> None:
        file = tmp_path / "g.json"
        always(0.5).save(file)
        file.write_text(json.dumps(json.loads(file.read_text()) | change))
        with pytest.raises(InputError, match=message) as refusal:
            agents.make("general-lrta", goal_policy=file)
        assert "g.json" in str(refusal.value)
