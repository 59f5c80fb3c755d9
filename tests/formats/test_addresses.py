"""Addresses with a login or a key are rejected, and not shown."""

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.fetch import NotAllowed, local_path


@pytest.mark.parametrize(
    "address",
    [
        "https://SECRET:SECRET@example.org/a.zip",
        "https://SECRET@example.org:80/a.zip#sha256=" + "0" * 64,
        "https://example.org/a?v=1&sig=SECRET",
        "https://example.org/a?X-Amz-Signature=SECRET&v=1",
        "https://example.org/a;access_token=SECRET",
        "https://example.org/a?X-Goog-Credential=SECRET",
    ],
)
def test_an_address_with_a_login_or_a_key(address: str) -> None:
    with pytest.raises(InputError, match="without a login, key or token") as error:
        local_path(address, offline=True)
    assert "SECRET" not in str(error.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/a@b/keys.zip?download=1",
        "https://example.org/a?to=b@c.d#sha256=" + "0" * 64,
    ],
)
def test_other_addresses(address: str) -> None:
    with pytest.raises(NotAllowed):
        local_path(address, offline=True)
