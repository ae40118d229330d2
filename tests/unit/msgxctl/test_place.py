"""Where msgxctl looks for services, token and certificates, and what it says of mistakes."""

from pathlib import Path
from typing import Any

import pytest

from msgxctl.failure import Failure, Status
from msgxctl.place import Peer, Place, settle, token
from tests.support.ctl import ctl, sentence

LIST = ("abandoned", "list")


def config(folder: Path, text: str) -> str:
    path = folder / "msgxctl.toml"
    path.write_text(text)
    return str(path)


def test_an_option_goes_before_the_variable_and_the_variable_before_the_file(
    tmp_path: Path,
) -> None:
    file = config(tmp_path, 'intake = "127.0.0.1:1"\ndispatcher = "127.0.0.1:1"\n')

    by_file = ctl("--config", file, *LIST)
    by_variable = ctl("--config", file, *LIST, intake="127.0.0.1:2")
    by_option = ctl("--config", file, "--intake", "127.0.0.1:3", *LIST, intake="127.0.0.1:2")

    assert [one.status for one in (by_file, by_variable, by_option)] == [Status.AWAY] * 3
    assert [sentence(one) for one in (by_file, by_variable, by_option)] == [
        f"intake at 127.0.0.1:{port} does not answer" for port in (1, 2, 3)
    ]


def test_a_users_own_file_is_read_without_being_named(tmp_path: Path) -> None:
    config(tmp_path, 'intake = "127.0.0.1:1"')

    done = ctl(*LIST, home=tmp_path)

    assert sentence(done) == "intake at 127.0.0.1:1 does not answer"


def test_several_addresses_are_instances_of_one_service(tmp_path: Path) -> None:
    given = Path(config(tmp_path, 'api-control = "127.0.0.1:1, 127.0.0.1:2"'))

    assert settle({}, given).addresses(Peer.API) == ("127.0.0.1:1", "127.0.0.1:2")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('intak = "127.0.0.1:1"', "unknown key, intak"),
        ("timeout = true", "wrong value for timeout"),
        ("intake = 7", "wrong value for intake"),
        ("intake = ", "is not TOML"),
        ("timeout = 0.0", "timeout must be from"),
        ('certificate = "a.pem"', "go together"),
        ('token = "abc"', "unknown key, token"),
    ],
)
def test_a_wrong_file_is_one_sentence_and_nothing_is_asked(
    tmp_path: Path, text: str, words: str
) -> None:
    done = ctl("--config", config(tmp_path, text), *LIST)

    assert done.status == Status.USAGE
    assert words in sentence(done)


def test_a_missing_file_and_a_missing_address_are_one_sentence() -> None:
    missing = ctl("--config", "/nonexistent/msgxctl.toml", *LIST)
    unknown = ctl(*LIST)

    assert (missing.status, unknown.status) == (Status.USAGE, Status.USAGE)
    assert "cannot be read" in sentence(missing)
    assert sentence(unknown) == (
        "where does intake answer? --intake HOST:PORT or MSGXCTL_INTAKE says so"
    )


def test_the_token_comes_from_a_file_without_its_line_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("a-secret\n")
    monkeypatch.delenv("MSGXCTL_TOKEN", raising=False)

    assert token(Place(token_file=str(tmp_path / "token"))) == "a-secret"


@pytest.mark.parametrize("text", ["a\nb", "gehéim", "\x1b[31m"])
def test_a_token_that_no_header_takes_is_refused_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    (tmp_path / "token").write_text(text)
    monkeypatch.delenv("MSGXCTL_TOKEN", raising=False)

    with pytest.raises(Failure) as refused:
        token(Place(token_file=str(tmp_path / "token")))

    assert refused.value.status is Status.USAGE
    assert text not in refused.value.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("abandoned", "list", "--limit", "0"), "'--limit': Input should be greater than"),
        (
            ("abandoned", "list", "--why", "BOREDOM"),
            "'--why': 'BOREDOM' is not one of 'MISSING",
        ),
        (("abandoned", "reopen", "7"), "Missing option '--reason'"),
        (("events", "requeue", "x", "--reason", "r"), "Invalid value for"),
        (("frobnicate",), "No such command 'frobnicate'"),
        (("abandoned", "frobnicate\x1b[2J"), "No such command"),
        (("send",), "Missing argument 'files'"),
        (("--frobnicate",), "No such option: --frobnicate"),
    ],
)
def test_a_wrong_command_line_is_one_sentence_that_names_the_help(
    arguments: tuple[str, ...], words: str
) -> None:
    done = ctl("--intake", "127.0.0.1:1", "--dispatcher", "127.0.0.1:1", *arguments)

    command = (
        f"msgxctl {arguments[0]}" if arguments[0] in ("abandoned", "events", "send") else ""
    )
    assert done.status == Status.USAGE
    assert words in sentence(done)
    assert sentence(done).endswith("--help)")
    assert command in sentence(done)
    assert sentence(done).isprintable()
    assert done.out == ""


def test_a_group_without_a_command_shows_its_help() -> None:
    done = ctl("abandoned")

    assert done.status == Status.USAGE
    assert "reopen" in done.out + done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--intake", "127.0.0.1", *LIST), "the address of intake must look like HOST:PORT"),
        (("--intake", "127.0.0.1:1,x:", *LIST), "the address of intake must look like HOST"),
        (("--api", "http://[::1", "send", "-"), "an http or https URL"),
        (("--api", "http://127.0.0.1:99999", "send", "-"), "an http or https URL"),
        (("--ca", "/etc/hostname", *LIST), "the certificates cannot be used"),
        (("message", "show", 2**63), "no number of this kind is so large"),
        (("message", "list", "--from", 2**63), "no number of this kind is so large"),
        (("dead", "replay", 2**63, "--reason", "r"), "no number of this kind is so large"),
    ],
)
def test_what_cannot_be_meant_is_one_sentence_and_nothing_is_asked(
    arguments: tuple[object, ...], words: str
) -> None:
    done = ctl(*arguments, intake="127.0.0.1:1", processor="127.0.0.1:1")

    assert done.status == Status.USAGE
    assert words in sentence(done)


def test_the_system_says_who_acts_unless_somebody_else_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unknown(*_: Any) -> str:
        raise OSError("no such user")

    monkeypatch.setattr("getpass.getuser", unknown)
    reopen = ("abandoned", "reopen", "7", "--reason", "r")

    nobody = ctl("--intake", "127.0.0.1:1", *reopen)
    somebody = ctl("--intake", "127.0.0.1:1", "--operator", "ops", *reopen)

    assert nobody.status == Status.USAGE
    assert "--operator" in sentence(nobody)
    assert somebody.status == Status.AWAY


@pytest.mark.parametrize(
    ("shell", "says"),
    [("bash", "complete -o default"), ("zsh", "#compdef"), ("fish", "complete --command")],
)
def test_completion_is_printed_for_the_shell_in_use(
    monkeypatch: pytest.MonkeyPatch, shell: str, says: str
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: (shell, f"/bin/{shell}"))

    done = ctl("--show-completion")

    assert done.status == 0
    assert says in done.out
    assert "_COMPLETE" in done.out
