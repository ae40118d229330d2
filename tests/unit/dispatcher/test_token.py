"""The administrator's token: long enough, or none; never said."""

import pytest

from msgx.settings import load
from services.dispatcher.settings import DispatcherSettings

WHOLE = {
    "MSGX_ENVIRONMENT": "test",
    "MSGX_DATABASE__DSN": "host=nowhere",
    "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:1",
    "MSGX_MAILBOX__URL": "mysql://u:p@127.0.0.1:1/s",
}


@pytest.fixture(autouse=True)
def whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WHOLE.items():
        monkeypatch.setenv(name, value)


@pytest.mark.covers("R55")
@pytest.mark.parametrize("given", [None, ""])
def test_not_set_or_empty_there_is_none(
    monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    if given is not None:
        monkeypatch.setenv("MSGX_ADMIN__TOKEN", given)

    assert load(DispatcherSettings).admin.token is None


@pytest.mark.covers("R55")
def test_a_short_one_is_refused_without_saying_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSGX_ADMIN__TOKEN", "guess-me")

    with pytest.raises(SystemExit) as refused:
        load(DispatcherSettings)

    assert "MSGX_ADMIN__TOKEN" in str(refused.value)
    assert "guess-me" not in str(refused.value)


@pytest.mark.covers("R55")
def test_a_long_one_is_kept_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSGX_ADMIN__TOKEN", "sixteen-or-longer")

    settings = load(DispatcherSettings)

    assert settings.admin.token is not None
    assert settings.admin.token.get_secret_value() == "sixteen-or-longer"
    assert "sixteen-or-longer" not in repr(settings)


@pytest.mark.covers("R55", "R37")
def test_the_read_only_token_must_be_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MSGX_ADMIN__TOKEN", "MSGX_ADMIN__READ_TOKEN"):
        monkeypatch.setenv(name, "sixteen-or-longer")

    with pytest.raises(SystemExit, match="read-token must be another one") as refused:
        load(DispatcherSettings)

    assert "sixteen-or-longer" not in str(refused.value)
