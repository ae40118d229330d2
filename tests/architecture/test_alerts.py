"""deploy/alerts.yaml: rules in Prometheus' form, of figures that exist, each with a page."""

import ast
import re
from typing import Any, Final

import pytest
import yaml

from msgx.domain.delivery import Target
from msgx.runtime.control import LOOP
from msgx.store.service_term import Service
from msgx.telemetry import metrics
from services.dispatcher.outgoing import PART
from tests.architecture.sources import ROOT, modules, tree

BY_NAME: Final = {one.prometheus: one for one in metrics.ALL}
TOLD: Final[dict[str, Any]] = yaml.safe_load(
    (ROOT / "deploy" / "alerts.yaml").read_text("utf-8")
)
RULES: Final[list[dict[str, Any]]] = [
    rule for group in TOLD["groups"] for rule in group["rules"]
]
SELECTOR: Final = re.compile(r"(msgx_\w+)(?:\{([^}]*)\})?")
MATCHER: Final = re.compile(r'(\w+)\s*(?:=~|!=|=)\s*"([^"]*)"')
DURATION: Final = re.compile(r"\d+[smhd]")
OF_A_SCRAPE: Final = {"job", "instance"}


def _name(rule: dict[str, Any]) -> str:
    return str(rule["alert"])


def test_every_alert_has_a_name_of_its_own() -> None:
    names = [_name(rule) for rule in RULES]

    assert len(names) == len(set(names)) > 20
    assert all(re.fullmatch(r"Msgx[A-Z]\w+", name) for name in names)
    assert len({group["name"] for group in TOLD["groups"]}) == len(TOLD["groups"])


@pytest.mark.parametrize("rule", RULES, ids=_name)
def test_an_alert_has_the_form_of_prometheus_and_its_page(rule: dict[str, Any]) -> None:
    assert set(rule) - {"for"} == {"alert", "expr", "labels", "annotations"}
    assert DURATION.fullmatch(rule.get("for", "1m"))
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert rule["annotations"].keys() == {"summary", "runbook"}
    page = (ROOT / rule["annotations"]["runbook"]).read_text("utf-8")
    assert _name(rule) in page.split("## What it means")[0]
    assert rule["expr"].count("(") == rule["expr"].count(")")


@pytest.mark.parametrize("rule", RULES, ids=_name)
def test_an_alert_asks_for_figures_and_labels_that_exist(rule: dict[str, Any]) -> None:
    found = SELECTOR.findall(rule["expr"])

    assert found
    labels = set(OF_A_SCRAPE)
    for name, matchers in found:
        known = BY_NAME[name].labels
        labels |= known.keys()
        for label, value in MATCHER.findall(matchers):
            assert set(value.split("|")) <= set(known[label]), (name, label, value)
    said = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    grouped = [
        label.strip()
        for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", rule["expr"])
        for label in group.split(",")
    ]
    assert said | set(grouped) <= labels


@pytest.mark.covers("OPS-2")
def test_a_service_of_which_no_process_runs_raises_an_alert_too() -> None:
    (asked,) = [rule["expr"] for rule in RULES if _name(rule) == "MsgxNobodyServes"]

    # Figures of a process that is gone are none: only Prometheus itself still knows of it.
    (jobs,) = re.findall(r'\bor 0 \* max by \(job\) \(up\{job=~"([^"]*)"\}\)', asked)
    assert jobs.split("|") == list(Service)


def test_a_page_names_no_metric_that_there_is_not() -> None:
    known = {one.name for one in metrics.ALL}
    named = {
        one
        for path in (ROOT / "docs").rglob("*.md")
        for one in re.findall(r"`(msgx\.[a-z.]+_[a-z_]+)", path.read_text("utf-8"))
    }

    assert named - known == set()


def test_every_loop_of_a_service_is_known_to_the_figures_about_loops() -> None:
    named = {
        call.args[0].value
        for path in modules("services")
        for call in ast.walk(tree(path))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "Loop"
        and isinstance(call.args[0], ast.Constant)
    }

    assert {"pump", "poller", "http"} <= named
    assert named | {LOOP, PART, *(one.part for one in Target)} == set(
        metrics.PAUSED.labels["loop"]
    )
