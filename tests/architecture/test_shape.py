"""How modules look: small, described, well named, without state of their own."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ALL, PRODUCT, modules, place, tree

MOST_LINES: Final = 400
SAY_NOTHING: Final = frozenset(
    {
        "utils",
        "util",
        "helpers",
        "helper",
        "common",
        "manager",
        "base",
        "impl",
        "types",
        "models",
    }
)
UNFINISHED: Final = re.compile(r"#.*\b(?:TODO(?!\(#\d+\))|FIXME|XXX|HACK)\b")
MUTABLE: Final = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
CONTAINERS: Final = frozenset({"dict", "list", "set", "deque", "Counter", "defaultdict"})


def test_no_module_is_too_long_to_be_one_thing() -> None:
    lines = {place(path): len(path.read_text("utf-8").splitlines()) for path in modules(*ALL)}

    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_every_module_says_what_it_is() -> None:
    silent = [place(path) for path in modules(*ALL) if not ast.get_docstring(tree(path))]

    assert silent == []


def test_module_names_say_something() -> None:
    vague = [
        place(path)
        for path in modules(*ALL)
        if SAY_NOTHING.intersection({path.stem, *path.parent.parts[-2:]})
    ]

    assert vague == []


def test_what_is_unfinished_names_its_issue() -> None:
    loose = [
        f"{place(path)}:{number}"
        for path in modules(*PRODUCT, "deploy", "tools")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if UNFINISHED.search(line)
    ]

    assert loose == []


def test_modules_hold_no_state() -> None:
    held = [place(path, node) for path in modules(*PRODUCT) for node in _state(path)]

    assert held == []


def _state(path: Path) -> Iterator[ast.stmt]:
    """Yield what a module could change later: containers that are not Final, and `global`."""
    for node in tree(path).body:
        match node:
            case ast.Assign(value=value) if _mutable(value):
                yield node
            case ast.AnnAssign(annotation=kind, value=ast.expr() as value) if _mutable(value):
                if not ast.unparse(kind).startswith("Final"):
                    yield node
            case _:
                pass
    for inner in ast.walk(tree(path)):
        if isinstance(inner, ast.Global):
            yield inner


def _mutable(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in CONTAINERS
    return isinstance(value, MUTABLE)


@pytest.mark.covers("B12")
def test_a_client_of_the_brokers_administration_is_closed_where_it_was_made() -> None:
    """One that is only dropped lives in a circle of its answers, and knocks at a broker that is
    away."""
    made, closed = [], []
    for path in modules(*ALL):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.With):
                closed += [_at(path, item.context_expr) for item in node.items]
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "AdminClient":
                made.append(_at(path, node))

    assert made
    assert set(made) <= set(closed)


def _at(path: Path, node: ast.expr) -> tuple[str, int, int]:
    return place(path), node.lineno, node.col_offset
