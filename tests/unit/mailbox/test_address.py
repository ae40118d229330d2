"""The mailbox URL."""

import pytest

from msgx.config.urls import Address, address


def test_every_part_may_be_percent_encoded() -> None:
    read = address("mysql://a%40b:p%2F%23%3A%25@db.example:3307/s%2Dx")

    assert read == Address(
        host="db.example", port=3307, user="a@b", password="p/#:%", schema="s-x"
    )


def test_the_port_has_a_default() -> None:
    assert address("mysql://u@h/s").port == 3306


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mysql://u:s3cret@h",
        "mysql://u:s3cret@h/",
        "mysql://:s3cret@h/s",
        "postgres://u:s3cret@h/s",
        "mysql://u:s3cret/x@h/s",
        "mysql://u:s3cret#x@h/s",
        "mysql://u:s3cret@h:port/s",
        "mysql://u:s3cret@[h/s",
        "mysql://u:s3cret@h/s/t",
        "mysql://u:s3cret@h/s?ssl=1",
    ],
)
def test_another_form_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match="must look like") as refused:
        address(url)

    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_password_is_not_shown() -> None:
    assert "s3cret" not in repr(address("mysql://u:s3cret@h/s"))
