"""The runbook can be followed: its statements run, as the role they name, and its log lines are
ones that the services write."""

import ast
import re
from pathlib import Path
from typing import Final

import psycopg
import pytest

from tests.architecture.sources import PRODUCT, ROOT, modules, tree

PAGES: Final = sorted((ROOT / "docs" / "runbook").glob("*.md"))
RUN: Final = [*PAGES, ROOT / "docs" / "running.md"]
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


@pytest.mark.pg
@pytest.mark.covers("R44", "US-10")
def test_reopening_owes_the_mark_again(pg: psycopg.Connection) -> None:
    pg.execute(
        "INSERT INTO proc_state (msg_id, state, enqueued_at, updated_at, finished_at,"
        " backfill_attempts, backfill_abandoned_at, backfill_abandoned_reason)"
        " VALUES (1, 'SKIPPED', now(), now(), now(), 9, now(), 'TRANSIENT_DEADLINE'),"
        "        (2, 'SKIPPED', now(), now(), now(), 0, now(), 'MISSING_ROW')"
    )
    (reopen,) = [
        statement
        for statement in _statements(ROOT / "docs" / "runbook" / "marks-abandoned.md")
        if statement.startswith("UPDATE")
    ]

    pg.execute(reopen.encode())

    owed = pg.execute(
        "SELECT msg_id, backfill_attempts, reopened_at IS NOT NULL FROM proc_state"
        " WHERE backfill_next_at <= msgx_now() AND backfill_abandoned_at IS NULL"
    ).fetchall()
    assert owed == [(1, 0, True)]
