"""LSS-LRTA*: trials worked out on paper (``reference/traces.py`` has the notation), its bounds, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import agents
from reference.checks import Settings, assert_lrta, assert_refused, on_all_maps, some_problems
from reference.small_maps import ALONG_THE_HORSESHOE, HOOK, HORSESHOE, ROUND_THE_HOOK
from reference.traces import exactly, trial
from rt_gym import Budget, Grid, Problem

OPEN = Problem(Grid(np.ones((9, 9))), (4, 4), (0, 8))

Values = dict[tuple[int, int], tuple[int, int]]  # a value as its numbers of straight and diagonal steps

# The first plan around the hook, at (1,0), with lookahead three:
# S (1,1)#1 f1+(1+r), W (0,0)#2 f1+3, SW (0,1)#3 fr+(2+r). Closed (1,0), then (1,1), which adds (1,2)#4 g2 f2+2r and
# (0,2)#5 g1+r f2+3r, then (0,0). OPEN (0,1) and (1,2), both f 2+2r, and (0,2): the best is (1,2), with g 2.
# Pops (1,2)2r, giving (1,1) 1+2r; (0,1)2+r, giving (0,0) 3+r and (1,0) 2+2r; at 1+2r (1,1)#1 before (0,2)#5;
# (0,2); (0,0)3+r; (1,0)2+2r: six.
FIRST_RISES: Values = {(1, 1): (1, 2), (0, 0): (3, 1), (1, 0): (2, 2)}


@pytest.mark.plain
class TestTraces:
    def test_lookahead_two_commit_all_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # (2,2): closed (2,2) (1,2), OPEN (0,2). Pops (0,2)4 (1,2)5 (2,2)6. Two moves.
        # (0,2): E (1,2)#1 f1+5, N (0,1)#2 f1+5; the first discovered is closed too. OPEN (0,1) f6, (2,2)#3 f2+6.
        #        Pops (0,1)5; at 6 (0,2)#0 before (2,2)#3; (1,2)7. One move.
        # (0,1): S (0,2)#1 f1+6, N (0,0)#2 f1+6; closed (0,1) (0,2). OPEN (0,0) f7, (1,2)#3 f2+7.
        #        Pops (0,0)6; at 7 (0,1)#0 before (1,2)#3; (0,2)8. One move.
        # (0,0), (2,0), (4,0): two states ahead are closed and three popped; the values are exact. Two moves each.
        trace, rises = trial("lss-lrta", HORSESHOE, act_out, lookahead=2)
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [2, 0, 2, 2, 2, 0, 2, 0, 2, 0]
        assert trace.learning_ops == [3, 0, 4, 4, 3, 0, 3, 0, 3, 0]
        assert trace.scans == [5, 0, 6, 6, 5, 0, 5, 0, 5, 0]
        first = [{(1, 2): (5, 0), (2, 2): (6, 0)}, {}, {(0, 2): (6, 0), (1, 2): (7, 0)}]
        assert rises == exactly(*first, {(0, 1): (7, 0), (0, 2): (8, 0)}, {}, {}, {}, {}, {}, {})

    def test_lookahead_two_commit_one_out_of_the_horseshoe(self, act_out: Callable[..., Any]) -> None:
        # (2,2): as above. One move.
        # (1,2): E (2,2)#1 f1+6, W (0,2)#2 f1+4; closed (1,2) (0,2). OPEN (2,2) f7 g1, (0,1)#3 f2+5 with the larger g.
        #        Pops (0,1)5; at 6 (2,2)#1 before (0,2)#2; (1,2)7
        # (0,2): E (1,2)#1 f1+7, N (0,1)#2 f1+5; closed (0,2) (0,1). OPEN (1,2) f8 g1, (0,0)#3 f2+6 with the larger g.
        #        Pops (0,0)6; at 7 (1,2)#1 before (0,1)#2; (0,2)8
        # (0,1): closed (0,1) (0,0); pops (1,0)5 (0,0)6 (0,1)7, no change.
        # From (0,0) on two ahead are closed and three popped; at (4,1) only itself is closed, and the goal popped.
        trace, rises = trial("lss-lrta", HORSESHOE, act_out, lookahead=2, commit="one")
        assert trace.path == ALONG_THE_HORSESHOE
        assert trace.expansions == [2, 2, 2, 2, 2, 2, 2, 2, 2, 1]
        assert trace.learning_ops == [3, 4, 4, 3, 3, 3, 3, 3, 3, 2]
        first = [{(1, 2): (5, 0), (2, 2): (6, 0)}, {(0, 2): (6, 0), (1, 2): (7, 0)}, {(0, 1): (7, 0), (0, 2): (8, 0)}]
        assert rises == exactly(*first, {}, {}, {}, {}, {}, {}, {})

    def test_lookahead_three_commit_all_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,2): E (2,2)#1 f1+(1+r); W (0,2)#2, N (1,1)#3, NW (0,1)#4, all f 2+2r. Closed (1,2) (2,2) (3,2);
        #        OPEN with (3,1)#6 f3+1 as the best. Pops (3,1)1 (3,2)2 (2,2)3, giving (1,2) 4; (0,1)2+r, then at 1+2r
        #        (0,2)#2 and (1,1)#3, none of which offers less; (1,2)4: seven. Three moves.
        # (3,1): closed alone, the goal is next. Pops the goal and (3,1).
        trace, rises = trial("lss-lrta", HOOK, act_out, lookahead=3, commit="all")
        assert trace.path == ROUND_THE_HOOK
        assert trace.expansions == [3, 0, 3, 0, 0, 1]
        assert trace.learning_ops == [6, 0, 7, 0, 0, 2]
        second: Values = {(2, 2): (3, 0), (1, 2): (4, 0)}
        assert rises == exactly(FIRST_RISES, {}, second, {}, {}, {})

    def test_lookahead_three_commit_one_around_the_hook(self, act_out: Callable[..., Any]) -> None:
        # (1,1): S (1,2)#1 f1+2r, W (0,1)#2 f1+(2+r), N (1,0)#3 f3+2r, SW (0,2)#4 f1+3r, NW (0,0)#5 f3+2r.
        #        Closed (1,1), (1,2), which adds (2,2)#6 g2 f3+r, and that before (0,1) with the same f and g 1;
        #        it adds (3,2)#7 f3+2. Now (0,1) is the best: one step west.
        #        Pops (3,2)2, giving (2,2) 3; (2,2), giving (1,2) 4; (0,1)2+r, giving (1,1) 3+r; (0,2)1+2r; (1,2)4;
        #        at 3+r (1,1)#0 before (0,0)#5: six.
        # (0,1): E (1,1)#1 f4+r, S (0,2)#2 f2+2r, N (0,0)#3 f4+r, SE (1,2)#4 gr f4+r, NE (1,0)#5 f2+3r.
        #        Closed (0,1), (0,2), and at 4+r (1,2), which has the largest g; it adds (2,2)#6 g1+r f4+r, the best.
        #        Pops (2,2)3; (1,2)4, giving (0,2) 5 and (0,1) 4+r; at 3+r (1,1)#1 and (0,0)#3; (1,0)2+2r; (0,2)5;
        #        (0,1)4+r: seven.
        # (1,2): closed (1,2) (2,2) (3,2); pops (3,1)1 (3,2)2 (2,2)3 (1,2)4: four.
        # (2,2): closed (2,2) (3,2) (3,1); pops the goal and these: four.  (3,2): closed two, pops three.
        # (3,1): closed one, pops two.
        trace, rises = trial("lss-lrta", HOOK, act_out, lookahead=3, commit="one")
        assert trace.path == [(1, 0), (1, 1), (0, 1), (1, 2), (2, 2), (3, 2), (3, 1), (3, 0)]
        assert trace.expansions == [3, 3, 3, 3, 3, 2, 1]
        assert trace.learning_ops == [6, 6, 7, 4, 4, 3, 2]
        second: Values = {(2, 2): (3, 0), (1, 2): (4, 0), (1, 1): (3, 1)}
        third: Values = {(0, 2): (5, 0), (0, 1): (4, 1)}
        assert rises == exactly(FIRST_RISES, second, third, {}, {}, {}, {})


@pytest.mark.plain
@on_all_maps
@pytest.mark.parametrize("settings", [{"lookahead": 1, "commit": commit} for commit in ("all", "one")], ids=str)
def test_the_smallest_setting_is_lrta_trial_for_trial(settings: Settings, vision: int | None, rules: Settings) -> None:
    for problem in some_problems(1, 10, 10, vision, **rules):
        assert_lrta("lss-lrta", settings, problem)


class TestBudget:
    def test_a_lookahead_is_the_budget(self) -> None:
        assert agents.make("lss-lrta", budget=37).lookahead == 37

    @pytest.mark.parametrize("limit", [10, 17, 24, 50, 200])
    def test_a_lookahead_chosen_for_scans_keeps_them(self, limit: int) -> None:
        run = agents.run("lss-lrta", OPEN, budget=Budget(limit, "scans"))
        assert run.solved
        assert not run.overrun
        assert run.max_scans <= limit

    @pytest.mark.parametrize("limit", [1, 4, 5, 6])
    def test_a_local_search_cut_by_the_meter_is_as_large_as_it_got(self, limit: int) -> None:
        cut = agents.run("lss-lrta", OPEN, lookahead=5, budget=limit)
        small = agents.run("lss-lrta", OPEN, lookahead=min(5, limit))
        assert (cut.solved, cut.overrun) == (True, False)
        assert cut.path.tolist() == small.path.tolist()
        assert (cut.expansions, cut.scans) == (small.expansions, small.scans)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("lookahead", value) for value in (0, -7, 2.5, "all", None, False, 10**30)),
        *(("commit", value) for value in ("two", "", None, 1, True)),
    ],
)
def test_a_value_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    assert_refused("lss-lrta", name, value)
