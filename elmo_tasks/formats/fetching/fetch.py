"""
Where files and models are -> paths on this machine. Nothing else is asked for them:
pooch downloads URLs (`download.py`), huggingface_hub what is on the hub.

| function | takes | gives |
|---|---|---|
| `local_path` | a path, a URL, `hf://owner/name/file` | the path of the file |
| `model_path` | also the name of a published model, a ZIP | the folder of a model, or its one file |
| `hub_model` | a model of the Hugging Face hub, and which files | the folder with these files |

With `offline`, each uses what was downloaded before, and raises `NotAllowed` for
anything else.
"""

import os
import re
import tempfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.fetching.download import (
    download,
    download_target,
    unpacked_folder,
)
from elmo_tasks.formats.fetching.published import published, published_at
from elmo_tasks.formats.unpacking import is_zip, unzip
from elmo_tasks.system.files import file_sha256

HUB = "hf://"
_HUB_REPOSITORY = re.compile(rf"{HUB}[^/#]+/[^/#]+/?")
_HUB_FILE = re.compile(rf"({HUB}[^/]+/[^/@]+(?:@[^/]+)?)/([^/].*)")
_SECONDS_TO_ANSWER = 10.0  # of the hub
_SHA256 = re.compile(r"sha256=([0-9a-fA-F]{64})")
_LOGIN = re.compile(r"\w+://[^/?#]*@")
_KEY = re.compile(
    r"[?&;][^=&;]*(sig|token|key|secret|passw|credential)[^=&;]*=", re.IGNORECASE
)


class NotAllowed(InputError):
    """Something would have to be downloaded where nothing may be."""

    def __init__(self, what: str) -> None:
        problem = "expected a local file, got one that would have to be downloaded"
        hint = "--allow-downloads, or offline=False, allows it"
        super().__init__(problem, file=what, hint=hint)


def is_hub_model(given: str) -> bool:
    """Whether this is `hf://owner/name`, also with `@revision`, and no file of it."""
    return _HUB_REPOSITORY.fullmatch(given) is not None


def model_path(given: str, *, offline: bool = False) -> Path:
    """
    The folder of a model; a ZIP, also of a URL or published by this name, is unpacked
    once. Else `local_path`.
    """
    model = published(given)
    if model is not None:
        given = model.files[-1]
    path = local_path(given, offline=offline)
    if os.path.isfile(path) and (path.suffix.lower() == ".zip" or is_zip(path)):
        return _unpacked(path)
    return path


def local_path(path_or_url: str | Path, *, offline: bool = False) -> Path:
    """
    A path as `located` finds it; a URL of http or https is downloaded once to the local
    cache, which also works offline later. `hf://owner/name/file` and
    `hf://owner/name@revision/file` are files of the Hugging Face hub. The digest of
    a URL which ends in `#sha256=HEX` is checked.

    Raises `NotAllowed` if it would have to be downloaded and `offline` is set, and
    `InputError` if a URL has a login or a key, it cannot be fetched, or its digest
    differs.
    """
    text = str(path_or_url)
    if "://" not in text:
        return Path(located(text))
    if _LOGIN.match(text) or _KEY.search(text):
        # The message does not show them; a config and an archive would.
        problem = "expected an address without a login, key or token"
        raise InputError(problem, hint="download the file, and give its path")
    url, sign, fragment = text.partition("#")
    sha256 = _digest_of(url, fragment) if sign else None
    if not url.startswith(HUB):
        return _downloaded(url, sha256, offline=offline)
    parts = _HUB_FILE.fullmatch(url)
    if parts is None:
        raise InputError(f"cannot fetch {url}: expected hf://owner/name/file")
    address, name = parts.groups()
    path = hub_model(address, [name], offline=offline) / name
    if sha256 is not None and file_sha256(path) != sha256:
        problem = f"expected sha256={sha256}, got {file_sha256(path)}"
        raise InputError(problem, file=path)
    return path


def _digest_of(url: str, fragment: str) -> str:
    """The digest at the end of a URL."""
    digest = _SHA256.fullmatch(fragment)
    if digest is None:
        expected = "#sha256= and 64 hexadecimal digits at the end"
        raise InputError(f"expected {expected}, got something else", file=url)
    return digest[1].lower()


def _downloaded(url: str, sha256: str | None, *, offline: bool) -> Path:
    """A URL's file in the cache."""
    target = download_target(url)
    model = published_at(url)
    known_hash = None
    if sha256 is not None:
        known_hash = f"sha256:{sha256}"
    elif model is not None and model.md5_of(url) is not None:
        known_hash = f"md5:{model.md5_of(url)}"
    if target.is_file() and (sha256 is None or file_sha256(target) == sha256):
        return target
    if offline:
        raise NotAllowed(url)
    download(url, target, known_hash=known_hash)
    return target


def hub_model(address: str, patterns: Sequence[str], *, offline: bool = False) -> Path:
    """
    The folder with those files of a model of the hub, `owner/name`, also with
    `@revision` and after `hf://`, that match the patterns. If the hub cannot be
    reached, or with `offline`, those that were downloaded before. Raises `InputError`
    if there is no such model.
    """
    from huggingface_hub import HfApi, snapshot_download

    name, _, revision = address.removeprefix(HUB).removesuffix("/").partition("@")
    at: dict[str, Any] = {"revision": revision or None}
    failure: InputError = NotAllowed(address)
    if not offline:
        try:
            HfApi().model_info(name, timeout=_SECONDS_TO_ANSWER, **at)
        except Exception as error:  # the hub's errors have many types
            failure = _not_fetched(address, error)
            offline = True
    try:
        found = snapshot_download(
            name, allow_patterns=list(patterns), local_files_only=offline, **at
        )
    except Exception as error:
        if offline:
            raise failure from None
        raise _not_fetched(address, error) from None
    folder = Path(found)
    for path in folder.rglob("*"):
        if fits_any(path.relative_to(folder).as_posix(), patterns):
            return folder
    if offline:
        raise failure
    what = f"file {patterns[0]}" if len(patterns) == 1 else "files of a model"
    raise InputError(f"cannot fetch {address}: it has no {what}")


def _not_fetched(address: str, error: Exception) -> InputError:
    return InputError(f"cannot fetch {address}: {' '.join(str(error).split())[:300]}")


def fits_any(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file's name fits one of the patterns, such as `*.json`."""
    for pattern in patterns:
        if fnmatch(name, pattern):
            return True
    return False


def files_in(folder: Path, patterns: Sequence[str]) -> dict[str, Path]:
    """The files in a folder whose names fit one of the patterns, by name, sorted."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and fits_any(path.name, patterns):
            found[path.name] = path
    return found


def _unpacked(file: Path) -> Path:
    """
    The folder in the cache with the members of a ZIP, which appears when it is
    complete.
    """
    folder = unpacked_folder(file)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
            if not folder.is_dir():
                aside = Path(temporary) / "model"
                aside.mkdir()
                unzip(file, aside)
                aside.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else another process was faster
            raise InputError(
                f"cannot write: {error.strerror or error}", file=folder
            ) from None
    return folder
