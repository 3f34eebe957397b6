"""Random command lines of ``rt-gym``, from the options that it knows itself; each in a process forked off."""

import atexit
import multiprocessing.util
import os
import signal
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import typer.main

import agents
from fuzz.case import Case
from fuzz.files import sound
from fuzz.kinds import KINDS
from training.cli import app, main

_PATIENCE = 8.0  # seconds, after which a line that works long is interrupted

# Words that options may sensibly get, by the name of the option; small, so that a line that works ends soon.
SENSIBLE: dict[str, list[str]] = {
    "maps": ["open-16", "maze-63", "small.map", "caves-train", "."],
    "map_name": ["open-16", "small.map", "small.png", "rooms-64"],
    "source": ["open-16", "small.map", "small.csv"],
    "target": ["out.map", "out.png", "out.npz", "out.csv", "out.xyz"],
    "problems": ["1", "2"],
    "optimal": ["1..5", "3..", "..9", "5..1"],
    "vision": ["1", "3"],
    "changes": ["bridge", "door", "blockers", "changes.json", "changes.csv"],
    "trials": ["1", "2", "converge"],
    "max_moves": ["10", "200"],
    "budget": ["5", "10,100"],
    "budget_ms": ["0.1", "1,2"],
    "count": ["expansions", "scans"],
    "units": ["3"],
    "allowance": ["5", "50"],
    "share": ["5", "20"],
    "squads": ["1"],
    "test_squads": ["1", "2"],
    "tick_ms": ["1", "0.5"],
    "baseline": ["lrta", "lrta:depth=2"],
    "against": ["results.csv"],
    "backend": ["loky", "dask"],
    "scheduler": ["tcp://127.0.0.1:1"],
    "out": ["out", "a,b", "run:1", "x" * 300, "out.npz"],
    "start": ["0,0", "3,4"],
    "goal": ["5,5", "15,15"],
    "save": ["film.gif", "last.png"],
    "png": ["map.png"],
    "abstraction": ["clique", "tiles"],
    "family": ["random", "maze", "maze-holes", "rooms", "caves", "terrain"],
    "width": ["20", "40"],
    "height": ["20", "40"],
    "size": ["9", "smoke"],
    "density": ["0.3"],
    "doors": ["0.5"],
    "goals": ["3,3", "small.map.scen"],
    "mode": ["G", "GI", "I"],
    "first": ["nearest", "sub"],
    "learner": ["j48", "cart", "forest", "boosting"],
    "labels": ["class", "cost"],
    "decide": ["depth", "deepen"],
    "features": ["paper", "rich"],
    "ties": ["search", "ordered", "tolerant"],
    "env": ["RTDepth-v0", "RTDeepen-v0", "RTThink-v0"],
    "algorithm": ["cma", "ppo"],
    "experiment": ["tb-t1", "dc-t1"],
    "hidden": ["2", "4,4"],
    "rule": ["equal", "round-robin", "nearest", "neediest"],
    "seed": ["0", "7"],
}
WRONG = [
    "",
    " ",
    "-1",
    "0",
    "1",
    "9" * 25,
    "nan",
    "inf",
    "1e308",
    "x",
    "é",
    "\udcff",
    "a" * 300,
    "1,2",
    "1..",
    "-",
    ".",
]
WRONG += ["/", "/dev/null", "no-such-file", "--", "-h", "lrta:depth=", ":", "lrta:depth=1,,2", "*", "$HOME", "a\nb"]
LONG = ("bench", "demo", "reproduce", "train rl")  # of which there are fewer
_LEARN = ["--maps", "open-16", "--test", "open-16", "--problems", "1", "--jobs", "1"]
# What makes every line of a command small, before anything else is drawn.
SMALL: dict[str, list[str]] = {
    "compare": ["open-16", "-a", "lrta", "--problems", "1", "--jobs", "1"],
    "play": ["open-16", "--json", "--max-moves", "50"],
    "precompute pdb": ["open-16", "--yes", "--jobs", "1"],
    "precompute subgoals": ["open-16", "--yes", "--jobs", "1"],
    "precompute knn": ["open-16", "--yes", "--jobs", "1", "--records", "20"],
    "train dealer": ["--maps", "open-16", "--units", "2", "--generations", "0", "--test-squads", "1"],
    "train depth": [*_LEARN, "--validation", "open-16"],
    "train goal": [*_LEARN, "--states", "5"],
    "train rl": [*_LEARN, "--validation", "open-16", "--algo", "cma"],
    "reproduce": ["tb-t1", "--jobs", "1"],
    "maps show": ["open-16"],
    "maps convert": ["open-16", "out.map"],
    "maps generate": ["random"],
}


@cache
def tree() -> dict[str, Any]:
    """Return the commands by their names, such as ``precompute pdb``."""
    found: dict[str, Any] = {}
    waiting: list[tuple[str, Any]] = [("", typer.main.get_command(app))]
    while waiting:
        name, command = waiting.pop()
        if hasattr(command, "commands"):
            waiting += [(f"{name} {key}".strip(), inner) for key, inner in command.commands.items()]
        else:
            found[name] = command
    return dict(sorted(found.items()))


def draw_line(case: Case) -> list[str]:
    """Return a command line: a command, what keeps it small, and some options, right or wrong."""
    name = case.pick(*tree(), *(light for light in tree() if light not in LONG for _ in range(3)))
    command = tree()[name]
    options = [each for each in command.params if each.param_type_name == "option"]
    line = [*name.split(), *(SMALL.get(name, []) if case.chance(0.9) else [])]
    for _ in range(case.whole(0, 4) if options else 0):
        option = case.pick(*options)
        line.append(case.pick(*option.opts))
        if not option.is_flag:
            line.append(_word(case, option.name or ""))
    if case.chance(0.15):
        line.insert(case.whole(0, len(line)), case.pick(*WRONG, "--no-such-option", "--help"))
    return line


def _word(case: Case, name: str) -> str:
    """Return a value of an option: sensible, or wrong."""
    if name in ("agent", "baseline") and case.chance(0.8):
        agent_id = case.pick(*agents.ids())
        parameter = case.pick("", *agents.parameters(agent_id))
        return f"{agent_id}:{parameter}={case.pick('1', '2,3', '1..4', *WRONG)}" if parameter else agent_id
    sensible = SENSIBLE.get(name, ["1", "2"])
    return str(case.pick(*sensible) if case.chance(0.6) else case.pick(*WRONG))


def check_line(case: Case) -> None:
    """Run a command line in a folder with some files, and check how it ends."""
    line = [word.replace("\0", "") for word in draw_line(case)]
    case.story.update(line=line)
    _lay_out(case.folder)
    code, output, errors = run(line, case.folder)
    case.story.update(code=code, errors=errors)
    case.counts[f"exit code {code}"] += 1
    assert "Traceback" not in errors + output, "a traceback"
    assert code in (0, 1, 2, 130), f"it ended with {code}"
    assert code != 130 or errors.rstrip().splitlines()[-1].startswith("stopped")
    if code == 2 and "Usage:" not in errors:
        assert len(errors.strip().splitlines()) == 1, "not one line"
    left = [path.name for path in case.folder.rglob("*.tmp")]
    assert not left, f"left behind: {left}"


def _lay_out(folder: Path) -> None:
    """Put a file of every input into the folder, under the names that lines use."""
    for kind in KINDS:
        if kind.role == "input":
            (folder / sound(kind).path.name).write_bytes(sound(kind).data)


def run(line: list[str], folder: Path) -> tuple[int, str, str]:
    """Run a command line in a process forked off; return its exit code and what it printed."""
    out, err = folder.parent / f"{folder.name}.out", folder.parent / f"{folder.name}.err"
    child = os.fork()
    if not child:
        _become(line, folder, out, err)
    status, began, interrupted = None, time.monotonic(), False
    while status is None:
        done, found = os.waitpid(child, os.WNOHANG)
        status = found if done else None
        waited = time.monotonic() - began
        if status is None and waited > _PATIENCE and not interrupted:
            os.kill(child, signal.SIGINT)
            interrupted = True
        if status is None and waited > 3 * _PATIENCE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.005)
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in (out, err)]
    out.unlink()
    err.unlink()
    return os.waitstatus_to_exitcode(status), texts[0], texts[1]


def _become(line: list[str], folder: Path, out: Path, err: Path) -> Any:
    """Turn this process into the command, which ends as Python does: first threads, then what it has put off."""
    code = 70
    atexit._clear()
    atexit.register(multiprocessing.util._exit_function)  # was put off before the fork, and belongs to every process
    try:
        os.chdir(folder)
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(k, "r" if k == 0 else "w", closefd=False) for k in range(3))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["rt-gym", *line]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
