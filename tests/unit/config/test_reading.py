"""Where parameters come from, which one wins, and what is refused without saying a value."""

from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from msgx.config.document import MOST_BYTES
from msgx.config.parameters import parameters
from msgx.config.reading import Unusable, read_from
from msgx.settings import AllSettings
from services.dispatcher.settings import DispatcherSettings

WHOLE: Final = {
    "MSGX_ENVIRONMENT": "test",
    "MSGX_DATABASE__DSN": "host=nowhere",
    "MSGX_KAFKA__BOOTSTRAP": "127.0.0.1:1",
    "MSGX_MAILBOX__URL": "mysql://msgx:x@nowhere/mailbox",
}
SECRET: Final = "host=nowhere password=a-secret-word"


def read(environment: dict[str, str], file: str | None = None) -> DispatcherSettings:
    """Read what the dispatcher reads."""
    return read_from(DispatcherSettings, AllSettings, environment, file)[0]


def refusal(environment: dict[str, str], file: Path | None = None) -> list[str]:
    """Return what is said, line by line, beneath the first."""
    with pytest.raises(Unusable) as refused:
        read(environment, None if file is None else str(file))
    first, *rest = str(refused.value).splitlines()
    assert first == "the configuration is not usable:"
    assert "a-secret-word" not in str(refused.value)
    return rest


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "msgx.yaml"


@pytest.mark.covers("R37")
def test_a_file_gives_what_the_environment_does_not(file: Path) -> None:
    file.write_text(
        "msgx:\n"
        "  environment: from-file\n"
        "  schd: {flush-limit: 7, flush-period: PT0.5S}\n"
        "  dispatch: {max-attempts: 3, ladder: [PT1S, PT2S], after-dead: continue}\n"
        "  intake: {near-window: 9}\n"  # of another service, which reads the same file
        "  kafka:\n"
    )

    given = read({**WHOLE, "MSGX_SCHD__FLUSH_LIMIT": "8", "MSGX_CONFIG": str(file)})

    assert given.environment == "test"
    assert given.schd.flush_limit == 8
    assert given.schd.flush_period == timedelta(seconds=0.5)
    assert given.dispatch.ladder == (timedelta(seconds=1), timedelta(seconds=2))
    assert given.dispatch.after_dead == "continue"


@pytest.mark.covers("R37")
def test_every_parameter_may_stand_in_a_file_under_its_name(file: Path) -> None:
    names = [one.key for one in parameters(AllSettings)]
    nested = [
        line
        for group in sorted({name.split(".")[1] for name in names if name.count(".") == 2})
        for line in (
            f"  {group}:",
            *(f"    {one.split('.')[2]}: x" for one in names if one.split(".")[1:2] == [group]),
        )
    ]
    forms = "msgx:\n" + "\n".join(nested), "".join(f"{name}: x\n" for name in names)
    for form in forms:
        file.write_text(form)

        said = refusal(WHOLE, file)

        assert [one for one in said if "unknown" in one] == []
        assert "msgx.schd.batch (in the file): Input should be a valid integer" in "".join(said)


@pytest.mark.covers("R37", "OPS-1")
def test_everything_that_is_wrong_is_named_at_once_with_the_nearest_name(file: Path) -> None:
    file.write_text(
        "msgx:\n"
        "  pipelin: {claim-batch: 5}\n"
        "  pipeline: {claim_batch: a-secret-word, claim-batch: {a: 1}}\n"
        "  dispatch: {pace: soon}\n"
        "  schd: 5\n"
        "  'postgresql://u:a-secret-word@h/': 1\n"
    )

    said = refusal(
        {
            "MSGX_ENVIRONMENT": "test",
            "MSGX_DATABSE__DSN": SECRET,
            "MSGX_KAFKA__PRODUCE_TIMEOUT": "5",
            "MSGX_SOMETHING": "x",
            "msgx_environment": "x",
            "MSGX_TEST_ANYTHING": "of tests",
        },
        file,
    )

    assert said == [
        "MSGX_DATABASE__DSN: must be set",
        "MSGX_DATABSE__DSN: unknown; did you mean MSGX_DATABASE__DSN?",
        "MSGX_KAFKA__BOOTSTRAP: must be set",
        "MSGX_KAFKA__PRODUCE_TIMEOUT: is not a duration of ISO 8601, such as PT5S",
        "MSGX_MAILBOX__URL: must be set",
        "MSGX_SOMETHING: unknown",
        "a name that is no name (in the file): unknown",
        "msgx.dispatch.pace (in the file): is not a duration of ISO 8601, such as PT5S",
        "msgx.pipelin (in the file): unknown; did you mean msgx.pipeline?",
        "msgx.pipeline.claim-batch (in the file): must be a value, not a group",
        "msgx.pipeline.claim_batch (in the file): unknown; did you mean"
        " msgx.pipeline.claim-batch?",
        "msgx.schd (in the file): must be a group of parameters",
        "msgx_environment: unknown; did you mean MSGX_ENVIRONMENT?",
    ]


@pytest.mark.covers("OPS-1")
@pytest.mark.parametrize("place", ["environment", "file"])
def test_a_secret_is_read_from_a_file_of_its_own(
    place: str, tmp_path: Path, file: Path
) -> None:
    (tmp_path / "dsn").write_text(f"\n  {SECRET}\n")
    environment = {name: text for name, text in WHOLE.items() if "DSN" not in name}
    if place == "environment":
        environment["MSGX_DATABASE__DSN_FILE"] = str(tmp_path / "dsn")
        file.write_text("msgx: {database: {dsn: host=elsewhere}}")
    else:
        file.write_text(f"msgx: {{database: {{dsn-file: {tmp_path / 'dsn'}}}}}")

    given = read(environment, str(file))

    assert given.database.dsn.get_secret_value() == SECRET
    assert "a-secret-word" not in repr(given)


@pytest.mark.covers("OPS-1")
@pytest.mark.parametrize("what", ["absent", "folder", "empty", "large", "binary"])
def test_a_secret_that_cannot_be_read_is_one_sentence(what: str, tmp_path: Path) -> None:
    place = tmp_path / "a-secret-word"
    match what:
        case "folder":
            place.mkdir()
        case "empty":
            place.write_text(" \n")
        case "large":
            place.write_bytes(b"x" * (65 * 1024))
        case "binary":
            place.write_bytes(b"\xff\xfe\xff")
        case _:
            pass

    (said,) = refusal({**WHOLE, "MSGX_ADMIN__TOKEN_FILE": str(place)})

    assert said.startswith("MSGX_ADMIN__TOKEN_FILE: names ")


@pytest.mark.covers("OPS-1")
def test_a_secret_given_twice_is_refused_and_one_of_another_service_is_not_opened(
    tmp_path: Path, file: Path
) -> None:
    environment = {**WHOLE, "MSGX_DATABASE__DSN_FILE": str(tmp_path / "not-there")}
    file.write_text("msgx: {redis: {url-file: /not/there, url: 'redis://127.0.0.1'}}")

    said = refusal(environment, file)

    assert said == [
        "MSGX_DATABASE__DSN and MSGX_DATABASE__DSN_FILE are both given: give one of them",
        "msgx.redis.url-file (in the file) and msgx.redis.url (in the file) are both given:"
        " give one of them",
    ]
    file.write_text("msgx: {redis: {url-file: /not/there}}")
    assert read(WHOLE, str(file)).environment == "test"


@pytest.mark.covers("OPS-1")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("- msgx", "the file (in the file): must be a group of parameters"),
        ("a-secret-word", "the file (in the file): must be a group of parameters"),
        ("msgx: {a: 1, a: 2}", "MSGX_CONFIG: names a file that is not plain YAML at line 1"),
        ("msgx: &x {a: *x}", "MSGX_CONFIG: names a file that is not plain YAML at line 1"),
        ("msgx: !!python/name:os.system ''", "MSGX_CONFIG: names a file that is not plain"),
        ("msgx: [a-secret-word", "MSGX_CONFIG: names a file that is not plain YAML"),
        ("a: 1\n---\nb: 2", "MSGX_CONFIG: names a file that is not plain YAML"),
        ("[" * 20_000, "MSGX_CONFIG: names a file that is not plain YAML"),
        ("x" * (MOST_BYTES + 1), "MSGX_CONFIG: names a file of more than 262144 bytes"),
        ("msgx: \x00", "MSGX_CONFIG: names a file that is not plain YAML"),
    ],
)
def test_a_file_that_is_no_plain_document_is_refused(
    content: str, said: str, file: Path
) -> None:
    file.write_text(content)

    (line,) = refusal({**WHOLE, "MSGX_CONFIG": str(file)})

    assert line.startswith(said)


@pytest.mark.covers("OPS-1")
def test_a_file_that_is_not_there_is_refused_and_not_named(tmp_path: Path) -> None:
    (line,) = refusal({**WHOLE, "MSGX_CONFIG": str(tmp_path / "a-secret-word")})

    assert line == "MSGX_CONFIG: names a file that is not there"


@pytest.mark.covers("R37")
def test_an_empty_file_gives_nothing(file: Path) -> None:
    for content in "", "# nothing\n", "msgx:\n", "msgx: {}\n":
        file.write_text(content)

        assert read(WHOLE, str(file)).environment == "test"


@pytest.mark.covers("R37")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MSGX_DATABASE__LOCK_TIMEOUT", "PT0.0004S"),  # to PostgreSQL 0 ms: no limit
        ("MSGX_DATABASE__STATEMENT_TIMEOUT", "P40D"),  # more milliseconds than it takes
        ("MSGX_MAILBOX__TIMEOUT", "P40D"),
        ("MSGX_LEADERSHIP__TIMEOUT", "PT15M1S"),  # Kafka takes no such transactions
        ("MSGX_KAFKA__PRODUCE_TIMEOUT", "PT0.0004S"),
        ("MSGX_DISPATCH__PACE", "P999999999D"),  # longer than a thread can rest
        ("MSGX_DISPATCH__IDLE_INTERVAL", "PT1.1S"),  # deaf to SIGTERM for so long
        ("MSGX_PIPELINE__IDLE_INTERVAL", "PT20S"),  # the leading session would die of silence
        ("MSGX_DISPATCH__BATCH", "100001"),  # more than the producer's queue takes
        ("MSGX_DISPATCH__MAX_MESSAGE_BYTES", "1000000000"),  # with its headers too much for it
        ("MSGX_DISPATCH__BATCH", "99999999999999999999"),
        ("MSGX_DATABASE__DSN", ""),  # libpq would take the surroundings'
        ("MSGX_KAFKA__TOPIC_MSG", ""),
        ("MSGX_KAFKA__PREFIX", "a b"),
        ("MSGX_ADMIN__TOKEN", "a-token-of-operators\u00e9"),  # no header carries it
        ("MSGX_ADMIN__READ_TOKEN", "a-token-of-operators\n"),
    ],
)
def test_a_value_that_could_only_fail_later_is_refused_at_the_start(
    name: str, value: str
) -> None:
    (said,) = refusal({**WHOLE, name: value})

    assert said.startswith(f"{name}: ")


@pytest.mark.covers("R37")
def test_two_topics_of_one_name_are_refused() -> None:
    (said,) = refusal({**WHOLE, "MSGX_KAFKA__TOPIC_MSG": "schd"})

    assert said == "MSGX_KAFKA: topic-msg and topic-schd need names of their own"
