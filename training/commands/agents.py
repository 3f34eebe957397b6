"""``rt-gym agents``: which algorithms there are, what they take, and where they come from."""

import inspect
import sys
from typing import Annotated, Any

import typer

from training.commands.terminal import AsJson, print_json, print_table


def agents(
    agent: Annotated[str | None, typer.Argument(metavar="[ID]", help="Tell all about this one.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the agents, or tell all about one: citation, readings and parameters."""
    from agents import ids

    entries = [_describe(name) for name in (ids() if agent is None else [agent])]
    if as_json:
        print_json(entries if agent is None else entries[0])
    elif agent is None:
        _print_all(entries)
    else:
        _print_one(entries[0])


def _describe(agent_id: str) -> dict[str, Any]:
    from agents import load, make, parameters

    kind = load(agent_id)
    return {
        "id": agent_id,
        "parameters": parameters(agent_id),
        "bound": make(agent_id).bound,
        "summary": _docs(kind)[0].splitlines()[0],
        "documentation": "\n\n".join(_docs(kind)),
    }


def _docs(kind: type) -> list[str]:
    """Return the docstrings of the algorithm and of the class, which lists the parameters."""
    return [inspect.getdoc(item) or "" for item in (sys.modules[kind.__module__], kind)]


def _print_all(entries: list[dict[str, Any]]) -> None:
    rows = [[entry["id"], _parameters(entry), _bound(entry), entry["summary"]] for entry in entries]
    print_table("Agents", ["id", "parameters", "bound*", "what it does"], rows, left=4)
    typer.echo("* the most expansions for one move, with the parameters as shown; rt-gym agents ID tells more")


def _print_one(entry: dict[str, Any]) -> None:
    typer.echo(f"{entry['id']} ({_parameters(entry)}; bound per move: {_bound(entry)})\n\n{entry['documentation']}")


def _parameters(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entry["parameters"].items()) or "no parameters"


def _bound(entry: dict[str, Any]) -> str:
    return "none" if entry["bound"] is None else str(entry["bound"])
