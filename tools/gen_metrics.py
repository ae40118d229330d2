"""Write docs/metrics.md from the registry of metrics and from the alerts that watch them."""

import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import yaml

from msgx.telemetry import metrics
from msgx.telemetry.metric import OTHER, Counter, Metric
from tools.page import ROOT, notice, publish, table

PAGE, ALERTS = "docs/metrics.md", "deploy/alerts.yaml"
_UNITS = {"s": "seconds", "By": "bytes", "1": "0 or 1"}


def pages() -> dict[str, str]:
    """Return the page."""
    alerts = _alerts()
    text = "# Metrics\n\n" + notice("gen_metrics")
    text += (
        "`GET /metrics` on `msgx.telemetry.metrics-bind`, and OTLP to"
        " `msgx.telemetry.otlp-endpoint` ([how](running.md#metrics)). In Prometheus a dot is an"
        " underscore, and a counter ends in `_total`. Gauges are read from the tables by the"
        " instance that leads, every `msgx.telemetry.period`; a scrape waits for no server."
        f" A label value that is not listed is told as `{OTHER}`.\n"
    )
    for services, found in _by_services().items():
        text += f"\n## {', '.join(services)}\n\n"
        text += table(
            ["metric", "kind", "unit", "meaning", "labels", "alert"],
            ([*_row(one), _watched(one, alerts)] for one in found),
        )
    text += f"\n## Alerts\n\nRules for Prometheus: `{ALERTS}`.\n\n"
    text += table(
        ["alert", "severity", "says", "what to do"],
        (
            [name, rule["labels"]["severity"], rule["annotations"]["summary"], _page(rule)]
            for name, rule in alerts.items()
        ),
    )
    return {PAGE: text}


def _alerts() -> dict[str, Any]:
    told = yaml.safe_load((ROOT / ALERTS).read_text(encoding="utf-8"))
    return {rule["alert"]: rule for group in told["groups"] for rule in group["rules"]}


def _by_services() -> dict[tuple[str, ...], list[Metric]]:
    found: defaultdict[tuple[str, ...], list[Metric]] = defaultdict(list)
    for one in metrics.ALL:
        found[one.services].append(one)
    return found


def _row(one: Metric) -> list[str]:
    labels = "; ".join(
        f"`{name}`: {', '.join(value or '(none)' for value in values)}"
        for name, values in one.labels.items()
    )
    kind = "counter" if isinstance(one, Counter) else "gauge"
    unit = _UNITS.get(one.unit) or one.unit.strip("{}").replace("_", " ")
    return [f"`{one.name}`", kind, unit, one.meaning, labels]


def _watched(one: Metric, alerts: dict[str, Any]) -> str:
    return ", ".join(name for name, rule in alerts.items() if one.prometheus in rule["expr"])


def _page(rule: Any) -> str:
    page = rule["annotations"]["runbook"].removeprefix("docs/")
    return f"[{Path(page).stem}]({page})"


if __name__ == "__main__":
    sys.exit(publish(pages, __doc__))
