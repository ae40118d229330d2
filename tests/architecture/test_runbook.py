"""The runbook can be followed: its statements run, as the role they name, and its log lines are
ones that the services write."""

import ast
import re
import shlex
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
import typer
from typer.exceptions import TyperException

from msgxctl.__main__ import app
from tests.architecture.sources import PRODUCT, ROOT, modules, tree

PAGES: Final = sorted((ROOT / "docs" / "runbook").glob("*.md"))
RUN: Final = [*PAGES, ROOT / "docs" / "running.md"]
DOCUMENTS: Final = [*RUN, ROOT / "README.md", ROOT / "docs" / "msgxctl.md"]
SECTIONS: Final = [
    "What you see",
    "What it means",
    "What to do",
    "How you know it is over",
    "Never",
]


def _ids(path: Path) -> str:
    return path.stem


def _statements(path: Path) -> list[str]:
    return re.findall(r"```sql\n(.*?)```", path.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=_ids)
def test_a_page_has_the_form(page: Path) -> None:
    sections = re.findall(r"^## (.+)$", page.read_text("utf-8"), re.MULTILINE)

    assert [section for section in sections if section in SECTIONS] == SECTIONS


def test_log_lines_that_a_page_quotes_are_written_by_the_code() -> None:
    written = {
        node.value
        for path in modules(*PRODUCT)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    quoted = {
        event for page in PAGES for event in re.findall(r'"event": "([^"]+)"', page.read_text())
    }

    assert quoted
    assert quoted - written == set()


@pytest.mark.pg
@pytest.mark.parametrize("page", RUN, ids=_ids)
def test_its_statements_run(page: Path, pg: psycopg.Connection) -> None:
    statements = _statements(page)
    assert statements

    for statement in statements:
        role = "msgx_intake" if statement.startswith("UPDATE") else "msgx_api"
        pg.execute(f"SET ROLE {role}".encode())
        pg.execute(statement.encode())


@pytest.mark.parametrize("page", DOCUMENTS, ids=_ids)
def test_its_commands_of_msgxctl_are_commands(page: Path) -> None:
    for line in _commands(page):
        _parse(line)


def test_the_runbook_gives_commands() -> None:
    assert len([line for page in PAGES for line in _commands(page)]) > 10


def _commands(page: Path) -> list[str]:
    joined = page.read_text("utf-8").replace("\\\n", " ")
    lines = re.findall(r"^\s*\$ (msgxctl .*)$", joined, re.MULTILINE)
    return [line for line in lines if "-completion" not in line]  # parsed, they act at once


def _parse(line: str) -> None:
    """Parse a command line as msgxctl does, without running it.

    Raises:
        TyperException: there is no such command or option, or something is missing.
    """
    command: Any = typer.main.get_command(app)
    context = command.make_context("msgxctl", shlex.split(line, comments=True)[1:])
    while hasattr(command, "commands"):
        words = [*context._protected_args, *context.args]
        if not words and command.invoke_without_command:
            return
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, words, parent=context)


@pytest.mark.parametrize(
    "line", ["msgxctl heads", "msgxctl head skip 7", "msgxctl abandoned list --weight 3"]
)
def test_a_command_that_is_none_is_seen(line: str) -> None:
    with pytest.raises(TyperException):
        _parse(line)
