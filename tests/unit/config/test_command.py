"""`msgx config`: what a service would refuse, said without starting it."""

from pathlib import Path

import pytest

from msgx.__main__ import main
from msgx.store.service_term import Service

WHOLE = {
    "MSGX_ENVIRONMENT": "test",
    "MSGX_DATABASE__DSN": "host=nowhere password=a-secret-word",
    "MSGX_MAILBOX__URL": "mysql://u:a-secret-word@nowhere/schema",
    "MSGX_REDIS__URL": "redis://:a-secret-word@nowhere/0",
    "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:1",
    "MSGX_ADMIN__TOKEN": "a-secret-word-of-operators",
}
WRONG = {
    "MSGX_DATABASE__DSN": "password='a-secret-word",
    "MSGX_MAILBOX__URL": "http://a-secret-word",
    "MSGX_REDIS__URL": "redis://a-secret-word:port/x",
    "MSGX_AIRPORT__ZONE": "Asia/A-secret-word",
    "MSGX_PIPELINE__LADDER": "PT1S",
    "MSGX_CONTROL__BIND": "a-secret-word",
    "MSGX_ADMIN__TOKEN": "a-secret-word",
    "MSGX_PIPELINE__CLAIM_BACH": "a-secret-word",
}


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)


@pytest.mark.covers("R37", "OPS-1")
def test_a_whole_configuration_is_usable_for_every_service(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["config", "check"]) == 0

    assert capsys.readouterr().out.splitlines() == [f"{one}: usable" for one in Service]


@pytest.mark.covers("R37", "OPS-1")
def test_everything_that_is_wrong_is_said_and_no_value(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in WRONG.items():
        monkeypatch.setenv(name, value)

    assert main(["config", "check", "--service", "processor"]) == 1

    said = capsys.readouterr().out
    assert said.splitlines() == [
        "processor: the configuration is not usable:",
        "  MSGX_ADMIN__TOKEN: needs 16 characters at least",
        "  MSGX_AIRPORT__ZONE: is not a known time zone",
        "  MSGX_CONTROL__BIND: must look like host:port",
        "  MSGX_DATABASE__DSN: must be a connection string of libpq",
        "  MSGX_MAILBOX__URL: must look like mysql://user:password@host:port/schema",
        "  MSGX_PIPELINE: ladder needs 4 rungs, has 1",
        "  MSGX_PIPELINE__CLAIM_BACH: unknown; did you mean MSGX_PIPELINE__CLAIM_BATCH?",
        "  MSGX_REDIS__URL: must look like redis://user:password@host:port/number",
    ]
    assert "secret-word" not in said.lower()


@pytest.mark.covers("R37")
@pytest.mark.parametrize(
    ("service", "name", "value", "said"),
    [
        (
            "intake",
            "MSGX_PIPELINE__OVERDUE_BACKFILL",
            "P8D",
            "MSGX_PIPELINE__OVERDUE_BACKFILL is longer than MSGX_MAILBOX__RETENTION",
        ),
        (
            "intake",
            "MSGX_PROC__RETENTION",
            "P401D",
            "MSGX_IDENTITY__RETENTION is shorter than MSGX_PROC__RETENTION",
        ),
        (
            "processor",
            "MSGX_IDENTITY__RETENTION",
            "P29D",
            "MSGX_IDENTITY__RETENTION is shorter than MSGX_PROC__RETENTION",
        ),
        (
            "dispatcher",
            "MSGX_KAFKA__PRODUCE_TIMEOUT",
            "PT7.5S",
            "MSGX_KAFKA__PRODUCE_TIMEOUT must be at least one second below"
            " MSGX_LEADERSHIP__TIMEOUT",
        ),
    ],
)
def test_parameters_that_do_not_fit_together_are_refused(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    service: str,
    name: str,
    value: str,
    said: str,
) -> None:
    monkeypatch.setenv(name, value)

    assert main(["config", "check", "--service", service]) == 1

    assert capsys.readouterr().out.splitlines()[1:] == [f"  {said}"]


@pytest.mark.covers("R37", "OPS-1")
def test_values_are_shown_with_their_source_and_secrets_stay_hidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "msgx.yaml"
    file.write_text("msgx: {pipeline: {claim-batch: 7}}")

    assert main(["config", "show", "--service", "intake", "--file", str(file)]) == 0

    said = capsys.readouterr().out
    assert "a-secret-word" not in said
    assert {line.strip() for line in said.splitlines()} >= {
        "msgx.environment = test  [MSGX_ENVIRONMENT]",
        "msgx.database.dsn = (hidden)  [MSGX_DATABASE__DSN]",
        "msgx.pipeline.claim-batch = 7  [msgx.pipeline.claim-batch (in the file)]",
        "msgx.pipeline.ladder = PT5S,PT30S,PT2M,PT10M  [default]",
        "msgx.identity.retention = P400D  [default]",
    }


def test_help_names_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["config", "--help"])

    assert ended.value.code == 0
    assert {"check", "show"} <= set(capsys.readouterr().out.split())


@pytest.mark.covers("R37")
def test_files_of_tls_are_looked_at_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("a-secret-word")
    monkeypatch.setenv("MSGX_CONTROL__TLS_CERT", str(tmp_path / "missing"))
    monkeypatch.setenv("MSGX_CONTROL__TLS_KEY", str(tmp_path / "key"))

    assert main(["config", "check", "--service", "api"]) == 1

    assert capsys.readouterr().out.splitlines() == [
        "api: the configuration is not usable:",
        "  MSGX_CONTROL__TLS_CERT cannot be read: No such file or directory",
    ]
