"""The ``rt-gym`` command: its sub-commands, and what becomes of errors.

Every sub-command is a function or an app of a module of ``training.cli``, and a row of the table below. The modules
import at their top only what is light, so that ``--help`` is quick; NumPy, Numba and Matplotlib are imported where they
are used.
"""

import _thread
import errno
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from training import check_agents
from training.cli import agents, compare, maps, play, train
from training.cli.terminal import Terminated, exit_code

# name -> a function, or an app of further sub-commands
_COMMANDS: dict[str, Callable[..., None] | typer.Typer] = {
    "demo": agents.demo,
    "compare": compare.compare,
    "train": train.app,
    "precompute": maps.precompute_app,
    "reproduce": compare.reproduce,
    "agents": agents.agents,
    "maps": maps.app,
    "play": play.play,
    "bench": agents.bench,
}


_SHOWN = 60  # characters of a name that is too long


class _Group(TyperGroup):
    """The sub-commands, with refused input, failed runs and Ctrl-C turned into one line and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        try:
            _refuse_other_agents()
            return super().invoke(ctx)
        except ValueError as error:
            from rt_gym.errors import InputError  # free by now, if it is one

            if not isinstance(error, InputError):
                raise
            _stop(f"rt-gym: {error}", 2)
        except RuntimeError as error:
            if type(error).__module__ != "rt_gym.errors":  # a run that failed in a way we know
                raise
            _stop(f"rt-gym: {error}", 1)
        except BrokenPipeError:  # the reader is gone; Typer ends silently
            raise
        except OSError as error:  # a full disk behind standard output, say
            if error.errno == errno.ENAMETOOLONG:
                _stop(f"rt-gym: {str(error.filename)[:_SHOWN]}...: this name is longer than the system allows", 2)
            _stop(f"rt-gym: {error}", 1)
        except KeyboardInterrupt as error:
            _stop("stopped", exit_code(error))


def _refuse_other_agents() -> None:
    try:
        check_agents()
    except ImportError as error:
        _stop(f"rt-gym: {error}", 2)


def _stop(message: str, code: int) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(code) from None


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # importing rt_gym for its number would take ten times as long

        typer.echo(f"rt_gym {version('rt_gym')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit.")
]

app = typer.Typer(
    cls=_Group,
    help="Real-time heuristic search on grids, with a metered budget per move.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def rt_gym(version: Version = False) -> None:
    """Take the options of the command itself."""


for name, command in _COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    """Stop the command, a little later where an error would be swallowed; end at once where none has begun."""
    running = False
    while frame:
        if _swallows(frame):
            later = threading.Timer(0.1, _thread.interrupt_main, [signum])
            later.daemon = True
            later.start()
            return
        running |= frame.f_code is _Group.invoke.__code__
        frame = frame.f_back
    if not running:
        raise SystemExit(128 + signum)  # Typer would take SIGTERM for Ctrl-C
    raise Terminated if signum == signal.SIGTERM else KeyboardInterrupt


def _swallows(frame: FrameType) -> bool:
    """Whether C above a frame swallows errors: LLVM, which calls Python while it compiles; Numba, while imported."""
    module = frame.f_globals.get("__name__", "")
    return module.startswith("llvmlite") or (module.startswith("numba") and frame.f_code.co_name == "<module>")


def main() -> None:
    """Run the command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        signal.signal(signal.SIGINT, _interrupt)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        # A map has characters that an old console cannot show: better a question mark than a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    app(prog_name="rt-gym")
