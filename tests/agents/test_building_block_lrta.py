"""LRTA* from building blocks: steps worked out on paper, what single blocks are, and that goals are reached."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agents
from agents.kernels.blocks import CAP
from agents.policies.genes import KIND, Genes, load_genes
from profiles import examples
from reference import plain_grid
from reference.checks import Settings, assert_lrta, assert_refused, on_all_maps, some_problems
from reference.contract import random_problems
from reference.plain_oracle import distances
from reference.settings import draw_settings
from reference.small_maps import ALONG_THE_HORSESHOE as CORRIDOR
from reference.small_maps import HOOK, HORSESHOE, drawn
from reference.traces import along, start, trial
from reference.worlds import worlds
from rt_gym import Budget, Change, InputError, Problem, World
from rt_gym.cost import DIAGONAL, STRAIGHT, encode
from rt_gym.search.distance import exact_distances

ID = "building-block-lrta"
PROTOTYPE: Settings = {"weight": 3, "cost_weight": 6.8, "da": True, "expendable": True}


def deleted(agent: Any, problem: Problem) -> set[tuple[int, int]]:
    """Return the states that are deleted now."""
    memory = agent.memory
    return {
        cell for cell in plain_grid.cells(problem.grid) if memory.gone[problem.grid.cell(cell)] == memory.state[0].epoch
    }


def in_thought(agent: Any, problem: Problem) -> tuple[int, int]:
    """Return where an agent that walks ahead is in thought."""
    walk = agent.memory.walk
    return problem.grid.position(int(walk.cell[walk.state[0].there % walk.cell.size]))


@pytest.mark.plain
class TestTraces:
    def test_both_weights_lead_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # h(s) = 2 (3 + h(s')). Along the corridor h0 is 2 3 4 5 6 5 4 3 2 1 0.
        # 0: 2 (3+3); 1: back is 1+12, on 1+4 -> 2 (3+4); 2: 2 (3+5); 3: 2 (3+6); 4: 2 (3+5); and so on down.
        trace, rises = trial(ID, HORSESHOE, act_out, weight=2, cost_weight=3)
        assert trace.path == CORRIDOR
        values = ({0: 12}, {1: 14}, {2: 16}, {3: 18}, {4: 16}, {5: 14}, {6: 12}, {7: 10}, {8: 8}, {9: 6})
        assert rises == along(CORRIDOR, *values)
        assert trace.scans == trace.expansions == [1] * 10

    def test_what_was_raised_before_is_raised_by_more(self, act_out: Callable[..., Any]) -> None:
        # A dead end of two cells, the first in the west of the way out. From the west: h 1+2 is 3 already. East: 1+3,
        # raised by 2 steps. West again: 1+4, which is 2 steps more. East: its steps cost 1 + 0.5 2 now, 2+5. West:
        # south is 1+4 and less than 1+7, but all is learned at 1 + 0.5 2 a step: 2+4. Then south and on.
        problem = Problem(drawn("..#.", ".##.", "....", connectivity=4), (0, 0), (3, 0))
        agent, world = start(ID, problem, growth=0.5)
        path = act_out(agent, world).path
        assert path[:5] == [(0, 0), (1, 0), (0, 0), (1, 0), (0, 0)]
        learned = [int(agent.learned[problem.grid.cell(cell)]) for cell in [(0, 0), (1, 0)]]
        assert learned == [encode(6), encode(7)]

    def test_a_dead_end_is_deleted_on_the_way_out(self, act_out: Callable[..., Any]) -> None:
        # 0: h 1+3 rose, its one neighbour needs it not; 1: without 0 only 2 is left, h 1+4; 2: 1+5; 3: 1+6.
        # 4: 1+5 is its value already, and so it stays, and all that follow.
        # The neighbour in the west is read to find out: at 0 and at 1. At 2 and 3 east and west are walls or deleted.
        problem, (agent, world) = HORSESHOE, start(ID, HORSESHOE, expendable=True)
        trace = act_out(agent, world)
        assert trace.path == CORRIDOR
        assert trace.scans == [2, 2, 1, 1, 1, 1, 1, 1, 1, 1]
        assert deleted(agent, problem) == set(CORRIDOR[:4])
        learned = [int(agent.learned[problem.grid.cell(cell)]) for cell in CORRIDOR]
        assert learned == [encode(value) for value in (4, 5, 6, 7, 6, 5, 4, 3, 2, 1, 0)]

    def test_the_thought_is_three_steps_ahead_for_every_move(self, act_out: Callable[..., Any]) -> None:
        # In thought it walks as above, three steps a move: 0-3, 3-6, 6-9, and 9-10 to the goal. Then it only follows.
        agent, world = start(ID, HORSESHOE, expendable=True, ahead=3)
        trace = act_out(agent, world)
        assert trace.path == CORRIDOR
        assert trace.expansions == [3, 3, 3, 1, 0, 0, 0, 0, 0, 0]
        assert trace.scans == [5, 3, 3, 1, 0, 0, 0, 0, 0, 0]
        assert deleted(agent, HORSESHOE) == set(CORRIDOR[:4])

    def test_a_thought_through_a_wall_is_given_up_when_the_wall_is_seen(self, act_out: Callable[..., Any]) -> None:
        # In thought to (3,0), then to the goal. At (2,0) the wall is seen: the thought comes back. South and west are
        # worth 1+3 both, and south is first; on to (3,1) and (4,1), then north to the goal.
        problem = Problem(drawn("...#.", ".....", connectivity=4), (0, 0), (4, 0), vision=1)
        agent, world = start(ID, problem, ahead=3)
        trace = act_out(agent, world)
        assert trace.path == [(0, 0), (1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (4, 0)]
        assert trace.expansions == trace.scans == [3, 1, 3, 1, 0, 0]
        assert trace.h_updates == 1
        assert agent.learned[problem.grid.cell((2, 0))] == encode(4)

    def test_the_last_step_of_a_thought_does_not_lead_back_to_the_agent(self, act_out: Callable[..., Any]) -> None:
        # East is a dead end of value 2, then 1+3: the second step would lead back, so the agent goes east. Then west is
        # 1+4, as is south from there, and east again is first: 1+5. At last south is less than 1+6 east.
        problem = Problem(drawn("..#.", ".##.", "....", connectivity=4), (0, 0), (3, 0))
        agent, world = start(ID, problem, ahead=2)
        to_and_fro, out = [(0, 0), (1, 0)] * 2, [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert act_out(agent, world).path == to_and_fro + out
        learned = {cell: int(agent.learned[problem.grid.cell(cell)]) for cell in [(0, 0), (1, 0), (0, 1)]}
        assert learned == {(0, 0): encode(5), (1, 0): encode(6), (0, 1): encode(6)}

    @pytest.mark.parametrize(
        ("genes", "value"),
        [
            # The neighbours of (1,0) by c + h: in the south 1 + 1+r, in the west 1 + 3, in the south-west r + 2+r.
            ({}, encode(2, 1)),
            ({"lop": "median"}, encode(4)),
            ({"lop": "max"}, encode(2, 2)),
            ({"lop": "mean"}, (8 * STRAIGHT + 3 * DIAGONAL) // 3),
            ({"lop": "max", "beam": 0.5}, encode(4)),  # two of three
            ({"lop": "mean", "beam": 0.3}, encode(2, 1)),  # one of three
            ({"lop": "max", "weight": 1.5}, int(Fraction(3, 2) * encode(2, 2))),
            ({"cost_weight": 2}, encode(3, 1)),
            ({"lop": "max", "cost_weight": 2}, encode(2, 3)),
        ],
        ids=str,
    )
    def test_what_is_learned_in_front_of_the_hook(self, genes: Settings, value: int) -> None:
        agent, world = start(ID, HOOK, **genes)
        world.step(agent.act())
        assert world.view.position == (1, 1)
        assert agent.learned[HOOK.grid.cell(HOOK.start)] == value

    def test_a_cell_that_opens_brings_back_what_was_deleted(self, act_out: Callable[..., Any]) -> None:
        # East to 1, whose value rises and which is a dead end; back to 0. Then 2 opens, and 1 is needed again.
        problem = Problem(drawn("..#."), (0, 0), (3, 0), changes=[Change(2, (2, 0), True)], allow_unsolvable=True)
        agent, world = start(ID, problem, expendable=True)
        assert act_out(agent, world).path == [(0, 0), (1, 0), (0, 0), (1, 0), (2, 0), (3, 0)]


class TestSpecialCases:
    @on_all_maps
    def test_without_genes_it_is_lrta(self, vision: int | None, rules: Settings) -> None:
        for problem in some_problems(1, 8, 10, vision, **rules):
            assert_lrta(ID, {}, problem)

    @on_all_maps
    @pytest.mark.parametrize("lookahead", [2, 7, 40])
    def test_weight_and_lookahead_are_w_lss_lrta(self, lookahead: int, vision: int | None, rules: Settings) -> None:
        for problem in some_problems(2, 5, 12, vision, **rules):
            for genes in ({"weight": 3}, {"cost_weight": 3}, {"weight": 1.5, "cost_weight": 2}):
                assert_same(
                    "w-lss-lrta", {"lookahead": lookahead, "weight": 3}, {"lookahead": lookahead, **genes}, problem
                )

    @on_all_maps
    def test_with_a_lookahead_of_one_w_lss_lrta_is_the_weight_of_costs(
        self, vision: int | None, rules: Settings
    ) -> None:
        for problem in some_problems(3, 8, 12, vision, **rules):
            assert_same("w-lss-lrta", {"lookahead": 1, "weight": 4}, {"cost_weight": 4}, problem, work=False)

    @on_all_maps
    @pytest.mark.parametrize("lookahead", [1, 2, 7, 40])
    def test_da_and_lookahead_are_da_lss_lrta(self, lookahead: int, vision: int | None, rules: Settings) -> None:
        for problem in some_problems(4, 6, 12, vision, **rules):
            base = {"lookahead": lookahead}
            assert_same("da-lss-lrta", base, {**base, "da": True}, problem, work=lookahead > 1)

    @on_all_maps
    @pytest.mark.parametrize("lookahead", [2, 7, 40])
    def test_to_learn_from_the_best_alone_is_rtaa(self, lookahead: int, vision: int | None, rules: Settings) -> None:
        for problem in some_problems(7, 6, 12, vision, **rules):
            for base, genes in (("rtaa", {}), ("da-rtaa", {"da": True})):
                for commit in ("all", "one"):
                    settings = {"lookahead": lookahead, "commit": commit}
                    assert_same(base, settings, {**settings, **genes, "learning": "best"}, problem)

    def test_the_median_is_the_maximum_of_half_a_beam(self) -> None:
        for problem in some_problems(5, 20, 12):
            assert_same(ID, {"lop": "median"}, {"lop": "max", "beam": 0.5}, problem)

    def test_a_beam_of_one_neighbour_leaves_no_choice_to_the_operator(self) -> None:
        for problem in some_problems(6, 10, 12):
            for lop in ("mean", "median", "max"):
                assert_same(ID, {}, {"lop": lop, "beam": 0.001}, problem)


def assert_same(base: str, settings: Settings, genes: Settings, problem: Problem, work: bool = True) -> None:
    """Check that two agents walk and learn the same, and with the same work."""
    one, other = agents.make(base, **settings), agents.make(ID, **genes)
    runs = [agents.run(agent, problem, trials=3) for agent in (one, other)]
    assert [trial.path.tolist() for trial in runs[0].trials] == [trial.path.tolist() for trial in runs[1].trials]
    assert (one.learned == other.learned).all()
    assert runs[0].expansions == runs[1].expansions
    assert not work or (runs[0].scans, runs[0].learning_ops) == (runs[1].scans, runs[1].learning_ops)


class TestCompleteness:
    @given(data=st.data())
    @examples(300)
    def test_every_goal_is_reached_on_a_map_that_stays(self, data: st.DataObject) -> None:
        problem, genes = data.draw(worlds(max_side=9)), data.draw(draw_settings(ID))
        problem = Problem(problem.grid, problem.start, problem.goal, problem.vision)
        assert agents.run(ID, problem, max_moves=50_000, **genes).solved

    @given(data=st.data())
    @examples(300)
    def test_what_is_left_connects_the_agent_with_the_goal_if_the_believed_map_does(self, data: st.DataObject) -> None:
        # The map may change. What is deleted is looked at after every plan, because plans heed the changes. Who walks
        # ahead in thought deletes there what the agent itself has still to cross.
        problem, genes = data.draw(worlds(max_side=8)), data.draw(draw_settings(ID)) | {"expendable": True}
        agent, world = agents.make(ID, **genes), World(problem)
        agent.reset(world.view)
        believed = plain_grid.World(problem.grid, problem.start, problem.vision, problem.changes or ())
        while not world.done and world.view.moves < 200:
            plans = int(world.trip.tally[0].plans)
            action = agent.act()
            if world.trip.tally[0].plans > plans:
                left = plain_grid.Map(problem.grid, believed.believed.free)
                at = in_thought(agent, problem) if genes.get("ahead", 1) > 1 else world.view.position
                gone = deleted(agent, problem) - {at}
                assert goal_is_near(left, gone, problem.goal, at) == (problem.goal in distances(left, at))
            if world.view.meter.stuck:
                break
            world.step(action)
            believed.move(world.view.position)

    def test_deletions_do_not_outlive_the_trial(self) -> None:
        for problem in random_problems(31, 10):
            agent = agents.make(ID, **PROTOTYPE)
            run = agents.run(agent, problem, trials=4)
            assert all(trial.solved for trial in run.trials)

    @pytest.mark.parametrize("lop", ["mean", "max"])
    def test_a_room_whose_values_have_come_to_the_cap_is_left(self, lop: str) -> None:
        # All of the room is worth the same then, and the way out leads away from the goal.
        grid = drawn("..........", ".########.", "........#.", "........#.", "........#.", "########..", connectivity=4)
        agent = agents.make(ID, weight=1000, cost_weight=1000, lop=lop)
        assert agents.run(agent, Problem(grid, (7, 3), (9, 3)), max_moves=20_000).solved
        assert all(agent.learned[grid.cell((x, 3))] >= CAP for x in range(8))

    @pytest.mark.parametrize("lookahead", [1, 5])
    def test_values_end_a_path_above_the_cap_and_never_at_infinity(self, lookahead: int) -> None:
        # With the largest weights a few visits are enough to come to the cap.
        capped = 0
        for problem in random_problems(32, 20, max_side=12):
            agent = agents.make(ID, lookahead=lookahead, weight=1000, cost_weight=1000)
            run = agents.run(agent, problem, trials=2, max_moves=100_000)
            assert all(trial.solved for trial in run.trials)
            exact = exact_distances(problem.grid, problem.goal)
            assert (agent.learned <= CAP + exact).all()
            capped += int((agent.learned >= CAP).sum())
        assert capped > 0 or lookahead > 1  # a search learns without weights before it can come so far


def goal_is_near(view: plain_grid.Map, gone: set[tuple[int, int]], goal: tuple[int, int], s: tuple[int, int]) -> bool:
    """Whether a goal can be reached over states that are not deleted."""
    seen, stack = {s}, [s]
    while stack:
        new = {near for near, _ in view.neighbours(stack.pop())} - seen - gone
        seen |= new
        stack.extend(new)
    return goal in seen


class TestWork:
    @pytest.mark.parametrize("genes", [PROTOTYPE, {"lop": "mean", "beam": 0.5, "expendable": True}], ids=str)
    def test_with_eight_neighbours_a_step_takes_one_scan(self, genes: Settings) -> None:
        for problem in some_problems(7, 10, 12, connectivity=8):
            run = agents.run(ID, problem, **genes)
            assert run.scans == run.expansions == run.plans == run.moves

    @pytest.mark.parametrize("limit", [1, 2, 3, 12, 40])
    @pytest.mark.parametrize("connectivity", [4, 8])
    def test_a_limit_of_scans_is_kept_whatever_is_deleted(self, limit: int, connectivity: int) -> None:
        for problem in some_problems(8, 10, 12, connectivity=connectivity):
            run = agents.run(ID, problem, budget=Budget(limit, "scans"), **PROTOTYPE)
            assert run.solved
            assert run.max_scans <= limit


class TestRefusals:
    @pytest.mark.parametrize(
        ("parameter", "value"),
        [
            ("lookahead", 0),
            ("weight", 0.9),
            ("weight", True),
            ("weight", "2"),
            ("weight", float("nan")),
            ("cost_weight", 1001),
            ("lop", "sum"),
            ("beam", 0),
            ("beam", 1.1),
            ("da", 1),
            ("expendable", "yes"),
            ("commit", "two"),
            ("ahead", 0),
            ("growth", -0.1),
            ("growth", 11),
            ("learning", "all"),
            ("tie", "last"),
        ],
    )
    def test_a_value_out_of_range_is_refused_by_name(self, parameter: str, value: Any) -> None:
        assert_refused(ID, parameter, value)

    @pytest.mark.parametrize("genes", [{"lop": "max"}, {"beam": 0.5}, {"ahead": 3}, {"growth": 1}], ids=str)
    def test_what_needs_one_neighbourhood_is_refused_with_a_search(self, genes: Settings) -> None:
        with pytest.raises(InputError, match=rf"^{next(iter(genes))} must be .* with a lookahead above 1"):
            agents.make(ID, lookahead=2, **genes)


class TestPolicies:
    def test_a_file_of_genes_is_the_agent_with_these_genes(self, tmp_path: Path) -> None:
        file = tmp_path / "genes.json"
        Genes(**PROTOTYPE, ahead=4).save(file, {"limit": 4})
        assert load_genes(file) == Genes(**PROTOTYPE, ahead=4)
        for problem in random_problems(33, 5):
            runs = [agents.run(ID, problem, **given) for given in ({"policy": file}, {**PROTOTYPE, "ahead": 4})]
            assert runs[0].path.tolist() == runs[1].path.tolist()

    def test_a_gene_beside_a_policy_is_refused(self) -> None:
        with pytest.raises(InputError, match=r"^da, ahead must be left out with a policy"):
            agents.make(ID, policy=Genes(), da=True, ahead=2)

    @pytest.mark.parametrize(
        ("content", "complaint"),
        [
            ({}, "is not a file of genes"),
            ({"kind": KIND, "version": 9}, "has version 9, and 1 is known"),
            ({"kind": KIND, "version": 1}, "must have genes of the names lookahead, "),
            ({"kind": KIND, "version": 1, "genes": {"colour": 1}}, "must have genes of the names lookahead, "),
            ({"kind": KIND, "version": 1, "genes": {"weight": 0}}, "weight must be a number from 1 to 1000"),
            ({"kind": KIND, "version": 1, "genes": {"da": 1}}, "da must be"),
        ],
        ids=str,
    )
    def test_another_file_is_refused_with_its_name(self, tmp_path: Path, content: Any, complaint: str) -> None:
        file = tmp_path / "genes.json"
        file.write_text(json.dumps(content))
        with pytest.raises(InputError, match=f"genes.json: {complaint}"):
            load_genes(file)

    @pytest.mark.parametrize(
        ("genes", "sentence"),
        [
            ({}, "Look at the neighbours."),
            (
                {"weight": 1.5, "cost_weight": 2, "da": True, "expendable": True},
                "Look at the neighbours, learn 3 times as fast, avoid depressions, delete dead ends.",
            ),
            (
                {"ahead": 9, "lop": "max"},
                "Look at the neighbours, make 9 steps in thought for every move, learn from the max of the neighbours.",
            ),
            (
                {"lookahead": 9, "learning": "best", "commit": "one"},
                "Search 9 states ahead, walk only the first step of a plan, learn from the best state ahead alone.",
            ),
        ],
        ids=str,
    )
    def test_genes_can_be_said_in_words(self, genes: Settings, sentence: str) -> None:
        assert Genes(**genes).sentence == sentence
