"""With which settings every id is tested: some for the contract, and beside them from which others are drawn at random.

No id needs a row. Without one it is tested with what it chooses for ``SMALL`` budgets, so that its lookahead is far
below the size of the maps.
"""

from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

import agents
from agents.policies.trees import ready_made
from profiles import QUICK

Settings = dict[str, Any]

BY_LAYERS = str(Path(__file__).parents[1] / "agents" / "deepen.json")  # a policy that is asked after every layer
THINKS = str(Path(__file__).parents[1] / "agents" / "think.npz")  # a network that thinks again on the way
SMALL = (4, 12)


class Tested(NamedTuple):
    """The settings of one id: for tests of all agents, and to draw from for the comparison with its reference."""

    fixed: list[Settings]
    drawn: st.SearchStrategy[Settings]


def each(**parameters: st.SearchStrategy[Any]) -> st.SearchStrategy[Settings]:
    """Draw every parameter from its own strategy."""
    return st.fixed_dictionaries(parameters)


depth = st.one_of(st.just(1), st.integers(2, 6))
lookahead = st.one_of(st.integers(1, 12), st.integers(13, 80))
propagated = st.one_of(st.integers(1, 12), st.integers(13, 300))
share = st.sampled_from([0.9, 0.5, 0.7])
weight = st.sampled_from([1, 2, 3, 8, 32])
kind = st.sampled_from(["clique", "tiles"])
subgoal = st.sampled_from(["first", "nearer"])
patience = st.sampled_from([1, 2, 5, 50])
d_max = st.one_of(st.none(), st.integers(1, 6))

CATALOGUE: dict[str, Tested] = {
    "weighted-astar": Tested(
        [{"weight": 1}, {"weight": 1.5}, {"weight": 3}],
        each(weight=st.sampled_from([1, 1.1, 1.5, 2, 3.7, 20])),
    ),
    "late-astar": Tested([{"R": 100}, {"R": 1000, "r": 0.5}], each(R=st.integers(1, 60), r=share)),
    "capped-astar": Tested([{"nodes": 4}, {"nodes": 30}], each(nodes=lookahead)),
    "lrta": Tested([{"depth": 1}, {"depth": 2}, {"depth": 4}], each(depth=depth)),
    "rta": Tested([{"depth": 1}, {"depth": 3}], each(depth=depth)),
    "lss-lrta": Tested(
        [{"lookahead": 1}, {"lookahead": 4, "commit": "all"}, {"lookahead": 4, "commit": "one"}, {"lookahead": 50}],
        each(lookahead=lookahead, commit=st.sampled_from(["all", "one"])),
    ),
    "rtaa": Tested(
        [{"lookahead": 1}, {"lookahead": 4, "commit": "all"}, {"lookahead": 30, "commit": "one"}],
        each(lookahead=lookahead, commit=st.sampled_from(["all", "one"])),
    ),
    **{
        agent_id: Tested(
            [{"lookahead": 1}, {"lookahead": 4, "commit": "one"}, {"lookahead": 30}],
            each(lookahead=lookahead, commit=st.sampled_from(["all", "one"])),
        )
        for agent_id in ("a-lss-lrta", "da-lss-lrta", "a-rtaa", "da-rtaa")
    },
    "w-lss-lrta": Tested(
        [{"lookahead": 1, "weight": 3}, {"lookahead": 6, "weight": 2, "commit": "one"}, {"lookahead": 30, "weight": 1}],
        each(lookahead=lookahead, weight=weight, commit=st.sampled_from(["all", "one"])),
    ),
    "think-lss": Tested(
        [
            {"slice": 3},
            {"slice": 1, "policy": 2},
            {"slice": 4, "policy": "mo-rts"},
            {"slice": 2, "policy": THINKS},
            {"slice": 50},
        ],
        each(
            slice=st.one_of(st.integers(1, 6), st.integers(7, 60)),
            policy=st.one_of(st.sampled_from(["rule", "mo-rts", THINKS]), st.integers(1, 5)),
        ),
    ),
    "building-block-lrta": Tested(
        [
            {"lookahead": 1},
            {"lookahead": 1, "lop": "median", "beam": 0.5, "expendable": True},
            {"lookahead": 4, "weight": 2.5, "expendable": True, "commit": "one"},
            {"lookahead": 30, "da": True, "expendable": True},
            {"lookahead": 9, "cost_weight": 2.5, "da": True, "expendable": True, "learning": "best", "commit": "one"},
            {"lookahead": 1, "weight": 3, "cost_weight": 6.8, "da": True, "expendable": True},
            {"lookahead": 1, "growth": 0.2, "expendable": True, "ahead": 5},
        ],
        st.builds(
            lambda genes, learning: {**genes, **learning},
            each(
                weight=st.sampled_from([1, 1.5, 3, 23]),
                cost_weight=st.sampled_from([1, 2, 6.8]),
                da=st.booleans(),
                expendable=st.booleans(),
            ),
            st.one_of(
                each(
                    lookahead=st.just(1),
                    lop=st.sampled_from(["min", "mean", "median", "max"]),
                    beam=st.sampled_from([1, 0.5, 0.3, 0.001]),
                    ahead=st.sampled_from([1, 2, 3, 10, 100]),
                    growth=st.sampled_from([0, 0.05, 0.4, 10]),
                ),
                each(
                    lookahead=lookahead,
                    learning=st.sampled_from(["frontier", "best"]),
                    commit=st.sampled_from(["all", "one"]),
                ),
            ),
        ),
    ),
    "w-lrta-ls-k": Tested([{"k": 1, "weight": 2}, {"k": 20, "weight": 3}], each(k=lookahead, weight=weight)),
    "lrta-k": Tested([{"k": 1}, {"k": 12}, {"k": 12, "supports": True}], each(k=propagated, supports=st.booleans())),
    "lrta-k-visited": Tested([{"k": 12}], each(k=propagated, supports=st.booleans())),
    "lrta-ls-k": Tested([{"k": 1}, {"k": 6}, {"k": 40}], each(k=lookahead)),
    "lrta-ls-kd": Tested(
        [
            {"k": 5, "d": 1},
            {"k": 6, "d": 4},
            {"k": 6, "d": 4, "control": "single"},
            {"k": 6, "d": 4, "control": "several"},
            {"k": 6, "d": 4, "lookahead": "static"},
            {"k": 6, "d": 4, "lookahead": "static", "control": "single", "shared_k": True},
            {"k": 6, "d": 4, "lookahead": "static", "control": "several"},
        ],
        each(
            k=lookahead,
            d=lookahead,
            lookahead=st.sampled_from(["dynamic", "static"]),
            control=st.sampled_from(["dynamic", "single", "several"]),
            shared_k=st.booleans(),
        ),
    ),
    "lrts": Tested(
        [{"depth": 1}, {"depth": 3}, {"depth": 2, "gamma": 0.3, "quota": 4}, {"depth": 3, "quota": 0}],
        each(
            depth=st.integers(1, 5),
            gamma=st.sampled_from([1.0, 0.7, 0.5, 0.2, 0.01]),
            quota=st.sampled_from([None, 0, 1, 2.5, 8, 30]),
        ),
    ),
    "pr-lrts": Tested(
        [
            {"level": 0, "depth": 2},
            {"level": 1, "depth": 3, "quota": 4},
            {"level": 2, "depth": 2, "gamma": 0.4, "refine": "path", "control": "dynamic"},
            {"level": 1, "depth": 1, "abstraction": "tiles"},
        ],
        each(
            level=st.integers(0, 3),
            depth=st.integers(1, 4),
            gamma=st.sampled_from([1.0, 0.6, 0.2]),
            quota=st.sampled_from([None, 0, 3, 20]),
            refine=st.sampled_from(["first", "path"]),
            abstraction=kind,
            control=st.sampled_from(["fixed", "dynamic"]),
        ),
    ),
    "p-lrta": Tested(
        [{"queue": 0}, {"queue": 3}, {"queue": 40}],
        each(queue=st.one_of(st.integers(0, 6), st.integers(7, 60))),
    ),
    "tba": Tested(
        [
            {"R": 2},
            {"R": 5, "threshold": True},
            {"R": 6, "weight": 2.5, "shortcut": True},
            {"R": 7, "r": 0.4, "shortcut": True, "first": "length"},
            {},
        ],
        each(
            R=st.one_of(st.integers(2, 12), st.integers(13, 60)),
            r=share,
            c=st.sampled_from([1, 2, 10]),
            threshold=st.booleans(),
            shortcut=st.booleans(),
            first=st.sampled_from(["count", "length"]),
            weight=st.sampled_from([1, 1.1, 1.5, 3.7, 20]),
        ),
    ),
    "tbaa": Tested(
        [{"R": 2}, {"R": 5, "threshold": True}, {"R": 7, "r": 0.4, "shortcut": True}, {}],
        each(
            R=st.one_of(st.integers(2, 12), st.integers(13, 60)),
            r=share,
            c=st.sampled_from([1, 2, 10]),
            threshold=st.booleans(),
            shortcut=st.booleans(),
        ),
    ),
    "frit": Tested(
        [
            {"search": "bfs", "lookahead": 3},
            {"search": "rtaa", "lookahead": 1},
            {"search": "rtaa", "lookahead": 12},
            {"search": "da-rtaa", "lookahead": 5},
        ],
        each(search=st.sampled_from(["bfs", "rtaa", "da-rtaa"]), lookahead=lookahead),
    ),
    "dstar-lite": Tested(
        [{}, {"queue": "heap-larger-g"}, {"queue": "heap-smaller-g"}],  # {}: buckets wherever they can be
        each(queue=st.sampled_from([None, "heap-larger-g", "heap-smaller-g"])),
    ),
    "mpgaa": Tested([{}], st.just({})),
    "knn-lrta": Tested(
        [{"records": 0}, {"records": 25}, {"records": 40, "neighbours": 2, "cutoff": 12}],
        each(
            records=st.sampled_from([0, 1, 5, 60]),
            neighbours=st.integers(1, 12),
            cutoff=st.sampled_from([1, 3, 250]),
        ),
    ),
    "hcdps": Tested(
        [{}, {"cutoff": 2}, {"cutoff": 4, "reach": 2}],
        each(cutoff=st.sampled_from([1, 2, 3, 5, 250]), reach=st.integers(1, 3)),
    ),
    "subgoal-lrta": Tested(
        [
            {},
            {"first": "sub", "switch": "progress"},
            {"step": "lss-lrta", "lookahead": 6},
            {"step": "lrta-k", "k": 6, "first": "sub"},
            {"least": 4, "share": 1},
        ],
        st.builds(
            lambda step, tree, switch: {**step, **tree, "switch": switch},
            st.one_of(
                st.just({"step": "lrta"}),
                each(step=st.just("lss-lrta"), lookahead=lookahead),
                each(step=st.just("lrta-k"), k=st.integers(1, 12)),
            ),
            st.one_of(
                each(first=st.sampled_from(["nearest", "sub"])),
                each(least=st.sampled_from([None, 1, 3, 9]), share=st.sampled_from([None, 1, 2])),
            ),
            st.sampled_from(["any", "progress"]),
        ),
    ),
    "classifier-lrta": Tested(
        [{"policy": "tree"}, {"policy": "history", "max_branch": 3}, {"policy": BY_LAYERS, "d_max": 6}],
        each(
            policy=st.sampled_from([*ready_made(), BY_LAYERS]),
            d_max=d_max,
            max_branch=st.one_of(st.none(), st.integers(1, 5)),
        ),
    ),
    "policy-lrta": Tested(
        [{"policy": "deepen"}, {"policy": "depth", "d_max": 6}],
        each(policy=st.sampled_from(["deepen", "depth"]), d_max=d_max),
    ),
    "oracle-lrta": Tested([{"d_max": 1}, {"d_max": 5}], each(d_max=st.integers(1, 6))),
    "rule-lrta": Tested(
        [
            {"rule": "update", "d_max": 5},
            {"rule": "revisit", "d_max": 6},
            {"rule": "settle", "d_max": 1},
            {"rule": "settle", "d_max": 7},
        ],
        each(rule=st.sampled_from(["update", "revisit", "settle"]), d_max=st.integers(1, 8)),
    ),
    "pdb-lrta": Tested(
        [
            {"level": 0, "cap": 5, "mode": "G"},
            {"level": 1, "cap": 3, "mode": "GI"},
            {"level": 2, "cap": 4, "mode": "I", "abstraction": "tiles"},
            {"level": 2, "cap": 6, "mode": "I", "subgoal": "first", "keep": False, "patience": 3},
        ],
        each(
            level=st.integers(0, 3),
            cap=st.integers(1, 6),
            mode=st.sampled_from(["G", "GI", "I"]),
            abstraction=kind,
            subgoal=subgoal,
            keep=st.booleans(),
            patience=patience,
        ),
    ),
    "general-lrta": Tested(
        [
            {"design": 3, "depth": 3, "level": 1, "cap": 4},
            {"design": 5, "depth": 2, "level": 1, "patience": 3},
            {"design": 11, "level": 2, "d_max": 5},
            {"depth": "policy", "goal": "pdb", "level": 2, "d_max": 4},
        ],
        st.builds(
            lambda rest, chosen: rest | chosen,
            each(
                level=st.integers(0, 3),
                cap=st.integers(1, 6),
                d_max=st.integers(1, 6),
                abstraction=kind,
                subgoal=subgoal,
                keep=st.booleans(),
                patience=patience,
            ),
            st.one_of(
                each(design=st.integers(1, 6), depth=st.integers(1, 6)),
                each(design=st.integers(7, 12)),
                each(
                    depth=st.sampled_from(["pdb", "classifier", "oracle", "policy"]),
                    goal=st.sampled_from(["global", "pdb", "classifier"]),
                ),
            ),
        ),
    ),
}


def settings_of(agent_id: str) -> list[Settings]:
    """Return the settings that an id is tested with, its defaults if a budget chooses nothing; one for a quick look."""
    if agent_id in CATALOGUE:
        found = CATALOGUE[agent_id].fixed
    else:
        fitting = [agents.load(agent_id).fit(limit, "expansions") for limit in SMALL]
        found = [chosen for k, chosen in enumerate(fitting) if chosen not in fitting[:k]]
    return found[-1:] if QUICK else found


def draw_settings(agent_id: str) -> st.SearchStrategy[Settings]:
    """Draw settings of an id."""
    return CATALOGUE[agent_id].drawn if agent_id in CATALOGUE else st.sampled_from(settings_of(agent_id))
