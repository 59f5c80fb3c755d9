"""Where the files of a biLM are: paths and URLs -> files on this machine."""

import re
from pathlib import Path
from typing import Any

from elmo_tasks.bilm.weights import file_sha256
from elmo_tasks.errors import InputError
from elmo_tasks.formats.corpora import located

_HUB = "hf://"


def local_path(path_or_url: str | Path) -> Path:
    """
    A path as `located` finds it; a URL is downloaded once to the local cache, which also works offline later.
    `hf://owner/name/file` and `hf://owner/name@revision/file` are files of the Hugging Face Hub. If a URL ends in
    `#sha256=HEX`, the digest is checked.

    Raises `InputError` if a URL cannot be fetched (which needs the packages `cached_path` and `huggingface_hub`), or if
    its digest differs.
    """
    text = str(path_or_url)
    if "://" not in text:
        return Path(located(text))
    url, _, digest = text.partition("#")
    if url != text and not re.fullmatch("sha256=[0-9a-fA-F]{64}", digest):
        raise InputError(f"expected #sha256= and 64 hexadecimal digits after it, got #{digest}", file=url)
    try:
        path = _hub_file(url) if url.startswith(_HUB) else _cached(url)
    except ImportError as error:
        raise InputError(
            f"cannot fetch {url}: {error}", hint="pip install 'elmo-tasks[tasks]', or download the file"
        ) from None
    except Exception as error:  # the transports raise errors of many types
        raise InputError(f"cannot fetch {url}: {error}") from error
    if digest and file_sha256(path) != digest.removeprefix("sha256=").lower():
        hint = f"remove {path} to download it again"
        raise InputError(f"expected {digest}, got {file_sha256(path)}", file=url, hint=hint)
    return path


def _cached(url: str) -> Path:
    from cached_path import cached_path  # type: ignore[import-untyped]

    return Path(cached_path(url))


def _hub_file(url: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    owner, _, rest = url.removeprefix(_HUB).partition("/")
    repository, _, name = rest.partition("/")
    repository, _, revision = repository.partition("@")
    if not (owner and repository and name):
        raise ValueError("expected hf://owner/name/file")
    where: dict[str, Any] = {"repo_id": f"{owner}/{repository}", "filename": name, "revision": revision or None}
    try:
        return Path(hf_hub_download(**where, local_files_only=True))
    except LocalEntryNotFoundError:
        return Path(hf_hub_download(**where))
