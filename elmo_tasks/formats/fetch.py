"""
Where files and models are -> paths on this machine. Nothing else in this package opens
a connection for them.

| function | takes | gives |
|---|---|---|
| `local_path` | a path, a URL, `hf://owner/name/file` | the path of the file |
| `model_path` | also the name of a published model, a ZIP | the folder of a model, or its one file |
| `bilm_file` | also `hf://owner/name` | the options or the weights of a biLM |
| `hub_model` | a model of the Hugging Face hub, and which files | the folder with these files |
| `hub_files` | `hf://owner/name` | the names of its files |

`downloads` says whether anything may be fetched, and how.
"""

import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from elmo_tasks.errors import InputError, needs, without_secrets
from elmo_tasks.files import file_sha256, write_text
from elmo_tasks.formats.bilm_files import (
    FORMATS,
    NAMES,
    file_in,
    missing_in,
    written_names,
)
from elmo_tasks.formats.cache_folder import (
    download_target,
    first_digest,
    first_file,
    forget_first,
    unpacked_folder,
)
from elmo_tasks.formats.connection import require_web
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.download import (
    Bounds,
    OtherDigest,
    Progress,
    download,
    no_progress,
    remove,
)
from elmo_tasks.formats.magic import ZIP
from elmo_tasks.formats.models import MODELS, published, published_at
from elmo_tasks.formats.signatures import require_sound
from elmo_tasks.formats.unpacking import DamagedZip, unzip
from elmo_tasks.run_names import VOCABULARY_FILE

logger = logging.getLogger(__name__)

UNPACKED = ("*.json", "*.hdf5", "*.safetensors", "*.dic", "*.pkl", VOCABULARY_FILE)
"""The members of a model's ZIP that are unpacked."""

HUB = "hf://"
_HUB_REPOSITORY = re.compile(rf"{HUB}[^/#]+/[^/#]+/?")
_SHA256 = re.compile(r"sha256=([0-9a-fA-F]{64})")

_WITHOUT_KEY = re.compile(r"[?&=]~[0-9a-f]{8}")

GIGABYTE = 10**9
MOST_GB = 4.0
"""The size of a download whose size is not known from the list of models."""

_SECONDS_TO_ANSWER = 10.0  # of the hub
_OFFLINE = ("OfflineModeIsEnabled", "LocalEntryNotFoundError")
"""Errors of the hub's library."""


@dataclass(frozen=True)
class Downloads:
    """Whether and how files are fetched; see `downloads`."""

    allowed: bool = True
    limit_gb: float | None = None
    seconds: float = 60.0
    wait: float = 1.0
    progress: Progress = no_progress
    refused: list[str] = field(default_factory=list)


_DEFAULT = Downloads()
_CHOSEN: ContextVar[Downloads] = ContextVar("downloads", default=_DEFAULT)


class NotAllowed(InputError):
    """Something would have to be fetched where nothing may be."""


class NotFetched(InputError):
    """The hub does not have something, or cannot be reached."""


@contextmanager
def downloads(**settings: Any) -> Iterator[None]:
    """
    A context that sets how files are fetched. Settings that are not given keep their
    value outside. If a download was refused, raises `NotAllowed` in place of the error
    that followed.

    # Parameters

    - `allowed`: if false, only what was fetched before is used, and this thread opens
      no connection and starts no program, whichever library tries to.
    - `limit_gb`: the largest file, in 10^9 bytes; `None` for what the list of models
      says, else 4.
    - `seconds`: a connection that brings less than 1,000 bytes a second for so long is
      stalled, and tried again.
    - `wait`: seconds before the second of five attempts, which doubles.
    - `progress`: called with the name of a file, its bytes so far, and its size or
      `None`.
    """
    chosen = replace(_CHOSEN.get(), **settings, refused=[])
    if not chosen.allowed:
        _watch_connections()
    token = _CHOSEN.set(chosen)
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if not chosen.allowed and _is_offline(error):
            chosen.refused.append(HUB)
        if chosen.refused:
            raise _not_allowed(chosen.refused[0]) from error
        raise
    finally:
        _CHOSEN.reset(token)


def _is_offline(error: BaseException) -> bool:
    """
    Whether the hub's own library opened no connection, since `HF_HUB_OFFLINE` is set.
    """
    found: BaseException | None = error
    while found is not None:
        if type(found).__name__ in _OFFLINE:
            return True
        found = found.__cause__ or found.__context__
    return False


def require_allowed(what: str) -> None:
    """Raises `NotAllowed` where nothing may be fetched."""
    if not _CHOSEN.get().allowed:
        raise _not_allowed(what)


def _not_allowed(what: str) -> NotAllowed:
    problem = "expected a local file, got one that a trained model wants to download"
    return NotAllowed(problem, file=what, hint="allow it with --allow-downloads")


@cache
def _watch_connections() -> None:
    """
    Has Python ask `_on_event` before any library opens a connection or starts a
    program. This cannot be undone.
    """
    sys.addaudithook(_on_event)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        what = str(arguments[1][0])
    elif event in ("socket.getaddrinfo", "subprocess.Popen"):
        what = str(arguments[0])
    else:
        return
    chosen = _CHOSEN.get()
    if not chosen.allowed:
        chosen.refused.append(what)
        raise _not_allowed(what)


def bilm_file(given: str | Path, key: str) -> Path:
    """
    The file `options_file` or `weight_file` of a biLM, from its path or URL, or from a
    whole model: the name of a published one, a folder, a ZIP (as in the NLPL
    repository), or `hf://owner/name`. Raises `InputError` as `local_path` does, or if a
    folder or ZIP lacks the file.
    """
    text = os.fspath(given)
    model = published(text)
    if model is not None and len(model.files) == len(NAMES["hdf5"]):
        place = list(NAMES["hdf5"]).index(key)
        return local_path(model.files[place])
    if is_hub_model(text):
        return _of_repository(text.removesuffix("/"), key)
    path = model_path(text)
    if not path.is_dir():
        return path
    file = file_in(path, key)
    if file is None:
        raise missing_in(Path(given), key)
    return file


def _of_repository(address: str, key: str) -> Path:
    """
    The file of the biLM in a repository of the hub, official or safetensors. Raises the
    error of the official one if it has neither.
    """
    failures: list[InputError] = []
    for chosen in FORMATS:
        try:
            return local_path(f"{address}/{written_names(chosen)[key]}")
        except (NotFetched, NotAllowed) as error:
            failures.append(error)
    raise failures[0]


def is_whole_model(given: str | Path) -> bool:
    """Whether a path, URL or name means a whole model and not one of its files."""
    text = os.fspath(given)
    if published(text) is not None or is_hub_model(text):
        return True
    address = text.partition("#")[0]
    if "://" in text:
        address = address.partition("?")[0]
    return address.lower().endswith(".zip") or os.path.isdir(os.path.expanduser(text))


def is_hub_model(given: str) -> bool:
    """Whether this is `hf://owner/name`, also with `@revision`, and no file of it."""
    return _HUB_REPOSITORY.fullmatch(given) is not None


def model_path(given: str) -> Path:
    """
    The folder of a model; a ZIP, also of a URL or published by this name, is unpacked
    once. Else `local_path`. A downloaded ZIP that is damaged is an error, and is removed
    from the cache with its digest.
    """
    model = published(given)
    if model is not None:
        given = model.files[-1]
    path = local_path(given)
    if not os.path.isfile(path) or not _is_zip(path):
        return path
    try:
        return _unpacked(path)
    except DamagedZip as error:
        url = given.partition("#")[0]
        if "://" not in url or url.startswith(HUB):
            raise
        remove(path)
        forget_first(url)
        raise InputError(
            error.problem,
            file=without_secrets(url),
            hint="it was removed; repeat the call to download it again",
        ) from None


def local_path(path_or_url: str | Path) -> Path:
    """
    A path as `located` finds it; a URL of http or https is downloaded once to the local
    cache, which also works offline later. `hf://owner/name/file` and
    `hf://owner/name@revision/file` are files of the Hugging Face hub. If a URL ends in
    `#sha256=HEX`, the digest is checked. Raises `InputError` if a URL cannot be fetched
    or has another scheme, the file is too large, or its digest differs; see
    `downloads`.
    """
    text = str(path_or_url)
    if "://" not in text:
        return Path(located(text))
    url, _, fragment = text.partition("#")
    digest = _SHA256.fullmatch(fragment)
    if url != text and digest is None:
        problem = (
            "expected #sha256= and 64 hexadecimal digits at the end, got something else"
        )
        raise InputError(problem, file=url)
    sha256 = None
    if digest is not None:
        sha256 = digest[1].lower()
    if url.startswith(HUB):
        path = _hub_file(url)
    else:
        path = _downloaded(url, sha256)
    if sha256 is not None and file_sha256(path) != sha256:
        hint = f"remove {path} to download it again"
        problem = f"expected sha256={sha256}, got {file_sha256(path)}"
        raise InputError(problem, file=url, hint=hint)
    return path


def hub_files(address: str) -> set[str]:
    """
    The names of the files of `hf://owner/name`, without those in subfolders. If the hub
    cannot be reached, the names of the files that were downloaded before. Raises
    `InputError` if there is no such model.
    """
    with needs("'huggingface_hub<1.0'"):
        from huggingface_hub import HfApi, snapshot_download
    name, revision = _hub_revision(address)

    def known() -> set[str]:
        folder = snapshot_download(name, local_files_only=True, revision=revision)
        return {path.name for path in Path(folder).iterdir()}

    def fetched() -> set[str]:
        about = HfApi().model_info(name, timeout=_SECONDS_TO_ANSWER, revision=revision)
        names = {file.rfilename for file in about.siblings or ()}
        return {name for name in names if "/" not in name}

    return _from_hub(address, known, fetched)


def _hub_revision(address: str) -> tuple[str, str | None]:
    """The `owner/name` of a model of the hub, and the revision if it is given."""
    name, _, revision = address.removeprefix(HUB).removesuffix("/").partition("@")
    return name, revision or None


def hub_model(address: str, patterns: Sequence[str]) -> Path:
    """
    The folder with those files of a model of the hub, `owner/name`, also with
    `@revision` and after `hf://`, that match the patterns, downloaded unless
    `HF_HUB_OFFLINE` is set. Raises `InputError` if the hub has no such model, or they
    are too large together.
    """
    from huggingface_hub import HfApi, snapshot_download

    allowed = list(patterns)
    name, revision = _hub_revision(address)

    def known() -> Path:
        found = snapshot_download(
            name, allow_patterns=allowed, local_files_only=True, revision=revision
        )
        return Path(found)

    def fetched() -> Path:
        about = HfApi().model_info(name, files_metadata=True, revision=revision)
        size = 0
        for file in about.siblings or ():
            if fits_any(file.rfilename, patterns):
                size += file.size or 0
        _require_size(name, size)
        return Path(snapshot_download(name, allow_patterns=allowed, revision=revision))

    return _from_hub(name, known, fetched)


def fits_any(name: str, patterns: Sequence[str]) -> bool:
    """Whether a file's name fits one of the patterns, such as `*.json`."""
    for pattern in patterns:
        if fnmatch(name, pattern):
            return True
    return False


def _downloaded(url: str, sha256: str | None) -> Path:
    """
    A URL's file in the cache. The SHA-256 of what comes without encryption, and of the
    files of published models, is compared with that of the first download.
    """
    target = download_target(url)
    if target.is_file():
        return target
    require_allowed(url)
    if _WITHOUT_KEY.search(url):
        hint = 'an archive does not store keys; pass the whole address: -o \'{"model.elmo.model": "URL"}\''
        raise InputError("expected an address with its key", file=url, hint=hint)
    known = without_secrets(url)
    chosen = _CHOSEN.get()
    logger.info("downloading %s to %s", known, target)
    bounds = Bounds(_most_bytes(url), chosen.seconds, chosen.wait)
    check = partial(require_sound, url=known)
    model = published_at(url)
    md5 = None
    if model is not None:
        md5 = model.md5_of(url)
    is_open = require_web(url).scheme == "http"
    is_compared = sha256 is None and (is_open or model is not None)
    first = None
    if is_compared:
        first = first_digest(url)
    digests = {"sha256": sha256 or first, "md5": md5}
    try:
        download(
            url,
            target,
            bounds,
            digests=digests,
            check=check,
            progress=chosen.progress,
        )
    except OtherDigest as error:
        if first is None or error.algorithm != "sha256":
            raise
        hint = f"{error}; if the change is intended, {_forgetting(url)}"
        raise InputError(
            "it differs from the first download", file=url, hint=hint
        ) from None
    if is_compared and first is None:
        found = file_sha256(target)
        write_text(first_file(url), found)
        if is_open and md5 is None:
            problem = "came without encryption or checksum; later downloads are compared with its sha256"
            logger.warning("%s %s: %s", known, problem, found)
    return target


def _forgetting(url: str) -> str:
    """How a user forgets the first download of a URL."""
    meant = published_at(url)
    for name, model in MODELS.items():
        if model is meant:
            return f"`elmo-tasks models --remove {name}` forgets the first one"
    return f"remove {first_file(url)}"


def _most_bytes(url: str) -> int:
    chosen = _CHOSEN.get().limit_gb
    if chosen is not None:
        return int(chosen * GIGABYTE)
    model = published_at(url)
    if model is not None:
        most = model.most_bytes(url)
        if most is not None:
            return most
    return int(MOST_GB * GIGABYTE)


def _require_size(name: str, size: int) -> None:
    most = _most_bytes(name)
    if size > most:
        problem = f"expected at most {most:,} bytes, got {size:,}"
        raise InputError(problem, file=name, hint="--download-limit raises the limit")


def _hub_file(url: str) -> Path:
    owner, _, rest = url.removeprefix(HUB).partition("/")
    repository, _, name = rest.partition("/")
    repository, _, revision = repository.partition("@")
    if not (owner and repository and name):
        raise InputError(f"cannot fetch {url}: expected hf://owner/name/file")
    with needs("'huggingface_hub<1.0'"):
        from huggingface_hub import hf_hub_download, hf_hub_url
        from huggingface_hub.utils import build_hf_headers, get_session
    which: dict[str, Any] = {
        "repo_id": f"{owner}/{repository}",
        "filename": name,
        "revision": revision or None,
    }

    def known() -> Path:
        return Path(hf_hub_download(**which, local_files_only=True))

    def fetched() -> Path:
        # Asks once; the hub's own functions ask six times, for half a minute, before
        # they say that there is no network.
        headers = {**build_hf_headers(), "Accept-Encoding": "identity"}
        found = get_session().head(
            hf_hub_url(**which),
            headers=headers,
            allow_redirects=True,
            timeout=_SECONDS_TO_ANSWER,
        )
        _require_size(url, int(found.headers.get("Content-Length", 0)))
        return Path(hf_hub_download(**which))

    return _from_hub(url, known, fetched)


_Found = TypeVar("_Found")


def _from_hub(
    name: str, known: Callable[[], _Found], fetched: Callable[[], _Found]
) -> _Found:
    """
    What `fetched` fetches, where that is allowed and works; else what was fetched
    before, as `known` finds it.
    """
    failure: Exception | None = None
    if _CHOSEN.get().allowed:
        try:
            return fetched()
        except InputError:
            raise
        except Exception as error:  # the hub's errors have many types
            failure = error
    try:
        return known()
    except Exception as error:
        require_allowed(name)
        reason = str(failure or error).strip().split("\n")[0]
        raise NotFetched(f"cannot fetch {name}: {reason}") from None


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(len(ZIP)) == ZIP


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
                unzip(file, aside, UNPACKED)
                aside.rename(folder)
    except OSError as error:
        if not folder.is_dir():  # else another process was faster
            raise InputError(
                f"cannot write: {error.strerror or error}", file=folder
            ) from None
    return folder
