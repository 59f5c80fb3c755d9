"""Where models are: paths, URLs, ZIPs, and names of published ones -> files on this machine."""

import hashlib
import logging
import os
import re
import tempfile
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.errors import InputError, needs
from elmo_tasks.files import atomic_write
from elmo_tasks.formats.corpora import located
from elmo_tasks.formats.models import MODELS
from elmo_tasks.formats.unpacking import unzip

logger = logging.getLogger(__name__)

NAMES = {
    "options_file": ("options.json", "*options*.json"),
    "weight_file": ("weights.hdf5", "model.hdf5", "*weights*.hdf5"),
}
"""The names of a biLM's files in a folder, by their keys in a config; the first also in a repository of the hub."""

UNPACKED = ("*.json", "*.hdf5", "*.dic", "*.pkl")  # members of a model's ZIP

HUB = "hf://"
_HUB_REPOSITORY = re.compile(rf"{HUB}[^/#]+/[^/#]+/?")


def bilm_file(given: str | Path, key: str) -> Path:
    """
    The file `options_file` or `weight_file` of a biLM, from its path or URL, or from a whole model: the name of a
    published one, a folder, a ZIP (as in the NLPL repository), or `hf://owner/name`. Raises `InputError` as
    `local_path` does, or if a folder or ZIP lacks the file.
    """
    text, names = os.fspath(given), NAMES[key]
    if text in MODELS and MODELS[text].is_bilm:
        return local_path(MODELS[text].files[list(NAMES).index(key)])
    if _HUB_REPOSITORY.fullmatch(text):
        return local_path(f"{text.removesuffix('/')}/{names[0]}")
    path = model_path(text)
    if not path.is_dir():
        return path
    found = next((file for name in names for file in sorted(path.glob(name))), None)
    if found is None:
        raise InputError(
            f"expected a biLM with {' or '.join(names)}, got none", file=given
        )
    return found


def is_whole_model(given: str | Path) -> bool:
    """Whether a path, URL or name is that of a whole model instead of one file of it."""
    text = os.fspath(given)
    is_zip = text.partition("#")[0].lower().endswith(".zip")
    return (
        text in MODELS
        or is_zip
        or bool(_HUB_REPOSITORY.fullmatch(text))
        or os.path.isdir(text)
    )


def model_path(given: str) -> Path:
    """The folder of a model; a ZIP, also of a URL or published by this name, is unpacked once. Else `local_path`."""
    published = MODELS.get(given)
    path = local_path(given if published is None else published.files[-1])
    return _unpacked(path) if os.path.isfile(path) and _is_zip(path) else path


def local_path(path_or_url: str | Path) -> Path:
    """
    A path as `located` finds it; a URL is downloaded once to the local cache, which also works offline later.
    `hf://owner/name/file` and `hf://owner/name@revision/file` are files of the Hugging Face Hub. If a URL ends in
    `#sha256=HEX`, the digest is checked. Raises `InputError` if a URL cannot be fetched, or its digest differs.
    """
    text = str(path_or_url)
    if "://" not in text:
        return Path(located(text))
    url, _, digest = text.partition("#")
    if url != text and not re.fullmatch("sha256=[0-9a-fA-F]{64}", digest):
        raise InputError(
            f"expected #sha256= and 64 hexadecimal digits after it, got #{digest}",
            file=url,
        )
    try:
        path = _hub_file(url) if url.startswith(HUB) else _downloaded(url)
    except Exception as error:  # the transports raise errors of many types
        raise InputError(f"cannot fetch {url}: {error}") from error
    if digest and file_sha256(path) != digest.removeprefix("sha256=").lower():
        hint = f"remove {path} to download it again"
        raise InputError(
            f"expected {digest}, got {file_sha256(path)}", file=url, hint=hint
        )
    return path


def cache_folder() -> Path:
    """Where downloads and unpacked ZIPs are: `elmo_tasks` in `XDG_CACHE_HOME`, by default `~/.cache`."""
    return (
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "elmo_tasks"
    )


def _downloaded(url: str) -> Path:
    name = Path(urlsplit(url).path).name
    target = (
        cache_folder()
        / "downloads"
        / hashlib.sha256(url.encode()).hexdigest()[:16]
        / name
    )
    if not target.is_file():
        logger.warning("downloading %s to %s", url, target)
        with (
            urlopen(url, timeout=60) as answer,
            atomic_write(target) as aside,
            aside.open("wb") as out,
        ):
            while part := answer.read(2**20):
                out.write(part)
            if (size := answer.headers["Content-Length"]) not in (
                None,
                str(out.tell()),
            ):
                raise ValueError(f"expected {size} bytes, got {out.tell()}")
    return target


def _hub_file(url: str) -> Path:
    with needs("'elmo-tasks[tasks]'"):
        from huggingface_hub import hf_hub_download
    owner, _, rest = url.removeprefix(HUB).partition("/")
    repository, _, name = rest.partition("/")
    repository, _, revision = repository.partition("@")
    if not (owner and repository and name):
        raise ValueError("expected hf://owner/name/file")
    return Path(
        hf_hub_download(f"{owner}/{repository}", name, revision=revision or None)
    )


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return path.suffix.lower() == ".zip" or file.read(4) == b"PK\x03\x04"


def _unpacked(file: Path) -> Path:
    """The folder in the cache with the members of a ZIP, which appears when it is complete."""
    folder = cache_folder() / "unpacked" / file_sha256(file)
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
