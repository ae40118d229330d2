"""`make conformance`: run every cell of the matrix, print it, write docs/conformance.md and
build/conformance.json; 1 if a cell is missing or fails."""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest
from rich.console import Console
from rich.table import Table

from tests.conformance.cell import NotApplicable
from tests.conformance.matrix import entries, missing, runnable, sections
from tools.gen_conformance import pages
from tools.page import ROOT

TESTS: Final = "tests/conformance/test_matrix.py"
RESULT: Final = ROOT / "build" / "conformance.json"
WIDE: Final = 132
PASSED, FAILED, NOT_RUN, NOT_APPLICABLE, EMPTY = "●", "FAILED", "not run", "n/a", "EMPTY"


class Recorder:
    """A pytest plugin that keeps how each cell ended."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self.passed: dict[str, bool] = {}
        self.others: list[str] = []  # what failed and is no cell

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the worst of set-up, call and tear-down."""
        _, bracket, name = report.nodeid.rstrip("]").partition("[")
        if not bracket:
            if report.failed:
                self.others.append(report.nodeid)
            return
        if report.when == "call" or report.failed:
            self.passed[name] = report.passed and self.passed.get(name, True)
        if report.failed:
            self._out.print(f"FAILED {name}", markup=False)
            self._out.print(report.longreprtext[-1_500:], markup=False)


def main() -> int:
    """Run the matrix and tell how it ended."""
    out = Console(highlight=False)
    if not out.is_terminal:
        out.width = WIDE
    out.print(f"{len(runnable())} cells on the real processor and refdata…")
    recorder = Recorder(out)
    options = ["-o", "addopts=--strict-markers --strict-config --import-mode=importlib"]
    options += ["-p", "no:terminal", "-p", "no:cacheprovider", TESTS]
    status = int(pytest.main(options, plugins=[recorder]))
    for name, text in pages().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    for section in sections():
        _print(section, recorder, out)
    result = _result(recorder)
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result) + "\n", encoding="utf-8")
    for name in (*missing(), *recorder.others):
        out.print(f"{name}: missing or failed", markup=False)
    out.print(", ".join(f"{count} {name.replace('_', ' ')}" for name, count in result.items()))
    good = result["passed"] == result["cells"] and not result["missing"] and not status
    return 0 if good else 1


def _result(recorder: Recorder) -> dict[str, int]:
    unrun = runnable() - set(recorder.passed)
    return {
        "cells": len(runnable()),
        "passed": sum(recorder.passed.values()),
        "missing": len(missing()) + len(unrun),
        "not_applicable": len(entries()) - len(runnable()),
    }


def _print(section: str, recorder: Recorder, out: Console) -> None:
    rows, columns = sections()[section]
    marks: dict[tuple[str, str], str] = {
        (one.row, one.column): _mark(one, recorder)
        for one in entries()
        if one.section == section
    }
    if len(columns) == 1:
        ended = Counter(marks.values())
        said = ", ".join(f"{count} {mark}" for mark, count in ended.items())
        out.print(f"{section}: {said}", markup=False)
        return
    table = Table(section, *columns)
    for row in rows:
        table.add_row(row, *(marks.get((row, column), EMPTY) for column in columns))
    out.print(table)


def _mark(entry: Any, recorder: Recorder) -> str:
    if isinstance(entry, NotApplicable):
        return NOT_APPLICABLE
    passed = recorder.passed.get(entry.name)
    return NOT_RUN if passed is None else PASSED if passed else FAILED


if __name__ == "__main__":
    sys.exit(main())
