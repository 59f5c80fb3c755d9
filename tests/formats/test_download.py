"""Downloads of URLs: compared with a digest, once, and not if offline."""

from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetching.download import download
from elmo_tasks.formats.fetching.fetch import NotAllowed, local_path
from elmo_tasks.formats.fetching.published import MODELS, PublishedModel
from tests.web_server import CONTENT, MD5, SHA256, Server, cache, server

__all__ = ["cache", "server"]


def kept(cache: Path) -> list[Path]:
    """All files of a cache."""
    return list(cache.glob("downloads/*/*"))


def test_a_file_is_downloaded_once(server: Server, cache: Path) -> None:
    url = f"{server.address}/sound/x.bin"
    with pytest.raises(NotAllowed, match="expected a local file.*--allow-down"):
        local_path(url, offline=True)
    assert not server.requests
    path = local_path(url)
    assert path.read_bytes() == CONTENT and path.name == "x.bin"
    assert local_path(url) == local_path(url, offline=True) == path
    assert server.count["sound"] == 1 and kept(cache) == [path]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone", "HTTP error 404: Not Found"),
        ("longer", "ChunkedEncodingError"),
    ],
)
def test_what_is_no_file_is_one_error(
    name: str, problem: str, server: Server, cache: Path
) -> None:
    with pytest.raises(InputError, match=problem) as error:
        local_path(f"{server.address}/{name}/x.bin?v=1")
    message = str(error.value)
    assert "/x.bin?v=1" in message and server.address in message
    assert "\n" not in message
    assert kept(cache) == []


def test_a_server_that_stops_answering(server: Server, cache: Path) -> None:
    target = cache / "downloads/x/x.bin"
    with pytest.raises(InputError, match="cannot fetch .*/x.bin: Conn"):
        download(f"{server.address}/stalls/x.bin", target, seconds=0.5)
    assert kept(cache) == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "s3://bucket/x", "http://", "http://[/x"]
)
def test_other_addresses_are_one_error(url: str) -> None:
    with pytest.raises(InputError, match="cannot fetch"):
        local_path(url)


def test_a_digest_is_checked_before_a_file_is_kept(server: Server, cache: Path) -> None:
    url = f"{server.address}/sound/x.bin"
    with pytest.raises(InputError, match=f"expected sha256:0+ but got {SHA256}"):
        local_path(f"{url}#sha256={'0' * 64}")
    assert kept(cache) == []
    known = f"{url}#sha256={SHA256.upper()}"
    local_path(known).write_bytes(b"damaged")
    with pytest.raises(NotAllowed):
        local_path(known, offline=True)
    assert local_path(known).read_bytes() == CONTENT
    with pytest.raises(InputError, match="expected #sha256= and 64 hexadecimal"):
        local_path(f"{url}#md5={MD5}")


def test_a_published_md5_is_checked(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{server.address}/sound/x.bin"
    for md5 in ("0" * 32, MD5):
        model = PublishedModel("English", "news", [url], md5=[md5])
        monkeypatch.setitem(MODELS, "elmo-small", model)
        if md5 != MD5:
            with pytest.raises(InputError, match=f"expected md5:{md5} but got {MD5}"):
                local_path(url)
            assert kept(cache) == []
    assert local_path(url).read_bytes() == CONTENT
