"""Our own source files, as these tests read them."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
PRODUCT: Final = ("msgx", "msgxctl", "services")
ALL: Final = (*PRODUCT, "deploy", "tools", "tests")


def modules(*folders: str) -> list[Path]:
    """Return the Python files of `folders`, generated ones left out."""
    return [
        path
        for folder in folders
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "rpc" not in path.relative_to(ROOT).parts
    ]


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def place(path: Path, node: ast.expr | ast.stmt | None = None) -> str:
    """Return where something stands, for a failed assertion."""
    name = path.relative_to(ROOT).as_posix()
    return name if node is None else f"{name}:{node.lineno}"


def calls(path: Path, *names: str) -> Iterator[ast.Call]:
    """Yield the calls of methods with one of these names."""
    for node in ast.walk(tree(path)):
        match node:
            case ast.Call(func=ast.Attribute(attr=name)) if name in names:
                yield node
