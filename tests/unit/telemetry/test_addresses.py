"""Which addresses the parameters of telemetry take."""

import pytest
from pydantic import ValidationError

from msgx.settings import Telemetry


@pytest.mark.covers("R37")
def test_not_set_or_empty_there_is_neither_address_nor_collector() -> None:
    for given in (Telemetry(), Telemetry(metrics_bind="", otlp_endpoint="")):
        assert (given.metrics_bind, given.otlp_endpoint) == (None, None)


@pytest.mark.covers("R37")
@pytest.mark.parametrize("bind", ["127.0.0.1:9464", "[::1]:0", "metrics.internal:9464"])
def test_an_address_is_host_and_port(bind: str) -> None:
    assert Telemetry(metrics_bind=bind).metrics_bind == bind


@pytest.mark.covers("R37")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metrics_bind", "9464"),  # would be every address of the machine
        ("metrics_bind", ":9464"),
        ("metrics_bind", "::1:9464"),
        ("metrics_bind", "127.0.0.1"),
        ("otlp_endpoint", "collector:4317"),  # with TLS or without?
        ("otlp_endpoint", "http://user:secret@collector:4317"),
        ("otlp_endpoint", "http://collector:4317/v1/metrics"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(name: str, value: str) -> None:
    with pytest.raises(ValidationError):
        Telemetry.model_validate({name: value})
