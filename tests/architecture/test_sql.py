"""Only the store speaks SQL to PostgreSQL, and only the mailbox to MySQL; statements are
constants."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import PRODUCT, ROOT, calls, modules, place, tree

STORE, MAILBOX = ROOT / "msgx" / "store", ROOT / "msgx" / "mailbox"
RUN: Final = ("execute", "executemany", "copy")
# What a shell may say by itself: the bounds of its transaction, and a sign of life.
COMMAND: Final = re.compile(r"BEGIN|COMMIT|ROLLBACK|SET TRANSACTION [A-Z ,]+|SELECT 1")
STATEMENT: Final = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s)"
)
CONSTANT: Final = re.compile(r"_?[A-Z][A-Z0-9_]*")
# Each with its reason; everything else is a constant.
COMPOSED: Final = {
    ("msgx/store/listen.py", "sql.SQL('LISTEN {}').format(sql.Identifier(channel))"),
    ("msgx/store/migrate.py", "migration.sql.encode()"),  # the files of the chain
    # names of a table that is not ours are parameters, validated as identifiers
    ("msgx/mailbox/outbound.py", "self._highest"),
    ("msgx/mailbox/outbound.py", "self._insert"),
    ("msgx/mailbox/outbound.py", "self._find"),
}


def _inside(path: Path) -> bool:
    return STORE in path.parents or MAILBOX in path.parents


def _strings(path: Path) -> Iterator[ast.Constant]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node


def _constant(argument: ast.expr) -> bool:
    """Tell whether a statement is a literal, a constant, or one of a constant's."""
    match argument:
        case ast.Constant(value=str()):
            return True
        case ast.Name(id=name):
            return CONSTANT.fullmatch(name) is not None
        case ast.Subscript(value=ast.Name(id=name)):
            return CONSTANT.fullmatch(name) is not None
        case _:
            return False


def _of_the_store(argument: ast.expr, imported: set[str]) -> bool:
    """Tell whether a statement is a command of COMMAND or a constant of a store module."""
    match argument:
        case ast.Constant(value=str() as text):
            return COMMAND.fullmatch(text) is not None
        case ast.Attribute(value=ast.Name(id=module), attr=name):
            return module in imported and CONSTANT.fullmatch(name) is not None
        case ast.Name(id=name):
            return name in imported and CONSTANT.fullmatch(name) is not None
        case _:
            return False


def _from_the_store(path: Path) -> set[str]:
    """Return the modules and names that a file imports from the store."""
    return {
        alias.asname or alias.name
        for node in tree(path).body
        if isinstance(node, ast.ImportFrom) and f"{node.module}.".startswith("msgx.store.")
        for alias in node.names
    }


def test_statements_stand_only_in_store_and_mailbox() -> None:
    outside = [
        place(path, node)
        for path in modules(*PRODUCT)
        if not _inside(path)
        for node in _strings(path)
        if STATEMENT.match(str(node.value)) and not COMMAND.fullmatch(str(node.value))
    ]

    assert outside == []


def test_a_service_runs_only_constants_of_the_store() -> None:
    foreign = [
        place(path, call)
        for path in modules(*PRODUCT)
        if not _inside(path)
        for call in calls(path, *RUN)
        if not _of_the_store(call.args[0], _from_the_store(path))
    ]

    assert foreign == []


def test_inside_store_and_mailbox_every_statement_is_a_constant() -> None:
    made = {
        (place(path), ast.unparse(call.args[0]))
        for path in modules(*PRODUCT)
        if _inside(path)
        for call in calls(path, *RUN)
        if not _constant(call.args[0])
    }

    assert made == COMPOSED


@pytest.mark.parametrize(
    "statement", ["'SELECT a FROM t WHERE b = ' + b", "f'DELETE FROM {t}'", "text", "a.b.C"]
)
def test_a_statement_that_is_made_is_seen(statement: str) -> None:
    argument = ast.parse(statement, mode="eval").body

    assert not _constant(argument)
    assert not _of_the_store(argument, {"b"})


def test_store_functions_never_commit() -> None:
    ending = [
        place(path, call)
        for path in modules("msgx/store")
        if path.name not in ("connect.py", "migrate.py")  # the transaction itself; its own
        for call in calls(path, "commit", "rollback", "transaction")
    ]

    assert ending == []
