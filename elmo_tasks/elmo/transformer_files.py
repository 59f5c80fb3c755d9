"""
The files of a transformer, a folder or a model of the Hugging Face hub: find, hash,
archive and load them.
"""

import hashlib
import io
import re
import tarfile
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.elmo.manylangs import ENCODER, WEIGHTS
from elmo_tasks.elmo.transformer_config import (
    require_held,
    require_sound_version,
    safe_copy,
)
from elmo_tasks.errors import InputError
from elmo_tasks.files import file_sha256
from elmo_tasks.formats import unpacking
from elmo_tasks.formats.fetch import hub_model, is_hub_model, model_path
from elmo_tasks.formats.models import published
from elmo_tasks.formats.tar import without_owner

_SETTINGS = [  # of the model and of its tokenizer
    "config.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
]
_SAFETENSORS = "model*.safetensors*"
_PICKLES = "pytorch_model*.bin*"
"""Read where a folder has no safetensors, which are preferred."""

TRANSFORMER_WEIGHTS = (_SAFETENSORS, _PICKLES)

_MANYLANGS = ["*.json", "*.dic", "*.pkl"]
_MANYLANGS_WEIGHTS = [ENCODER, WEIGHTS, "*.dic"]
_HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def find_model(name: str) -> Path:
    """
    The absolute path of the folder of a model: a folder itself, an unpacked ZIP or
    published model (see `model_path`), or the downloaded files of a model of the
    Hugging Face hub, with or without `hf://`. Nothing is downloaded if `HF_HUB_OFFLINE`
    is set. Raises `InputError` if the hub has no such model.
    """
    folder = Path(name).expanduser()
    if is_hub_model(name):
        return _hub_folder(name)
    if published(name) is not None or "://" in name or folder.is_file():
        return model_path(name).absolute()
    if folder.is_dir() or not _HUB_NAME.fullmatch(name):
        return folder.absolute()
    try:
        return _hub_folder(name)
    except InputError as error:
        problem = f"no such folder, and no such model on the Hugging Face hub: {error}"
        raise InputError(
            problem, file=name, hint="set the key or option model"
        ) from None


def _hub_folder(name: str) -> Path:
    """The folder with the files of a model of the hub that are read."""
    found = hub_model(name, _SETTINGS + _MANYLANGS_WEIGHTS + [_SAFETENSORS])
    if _has(found, _SAFETENSORS) or _has(found, ENCODER):
        return found
    return hub_model(name, _SETTINGS + [_PICKLES])


def model_files(folder: Path) -> list[Path]:
    """The files that are read, sorted by name."""
    found = set()
    for pattern in _patterns(folder):
        for path in folder.glob(pattern):
            if path.is_file():
                found.add(path)
    return sorted(found)


def _patterns(folder: Path) -> list[str]:
    """
    The names of the files that are read: of a transformer, or of ELMoForManyLangs.
    """
    if (folder / ENCODER).is_file():
        return _MANYLANGS
    if _has(folder, _PICKLES) and not _has(folder, _SAFETENSORS):
        return _SETTINGS + [_PICKLES]
    return _SETTINGS + [_SAFETENSORS]


def read_beside(folder: Path) -> list[str]:
    """Patterns of the names of all files that loading a folder would read."""
    if _patterns(folder) == _MANYLANGS:
        return _MANYLANGS
    return _SETTINGS + [_SAFETENSORS, _PICKLES]


def _has(folder: Path, pattern: str) -> bool:
    return any(folder.glob(pattern))


def folder_sha256(folder: Path) -> str:
    """A digest of the names and contents of the files that are read."""
    digest = hashlib.sha256()
    for path in model_files(folder):
        digest.update(f"{file_sha256(path)}  {path.name}\n".encode())
    return digest.hexdigest()


def pack(folder: Path) -> Tensor:
    """The files that are read, as the bytes of an uncompressed tar file, uint8 [N]."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in model_files(folder):
            archive.add(path.resolve(), path.name, filter=without_owner)
    return torch.from_numpy(np.frombuffer(packed.getbuffer(), np.uint8))


def unpack(packed: Tensor, folder: Path) -> None:
    """
    Write the files to a folder. `packed` is what `pack` returned, uint8 [N]. Raises
    `InputError` if it is compressed, or no tar file.
    """
    names = _SETTINGS + [_SAFETENSORS, _PICKLES] + _MANYLANGS
    contents = io.BytesIO(packed.numpy().data)
    unpacking.unpack(contents, folder, names, file="the archived model")


def load(folder: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    """
    The frozen model and its fast tokenizer, from files alone, without running code in
    them: see `transformer_config`.

    Raises `InputError` if a file is missing or invalid, the model is of an architecture
    that is not documented, the tokenizer is slow, or the two are not of one model; or
    for a version of transformers with a known hole.
    """
    import transformers

    require_sound_version(transformers.__version__)
    files = model_files(folder)
    size = sum([file.stat().st_size for file in files if _is_weights(file)])
    with tempfile.TemporaryDirectory() as temporary:
        safe = Path(temporary)
        config = safe_copy(folder, files, safe)
        loaded = _load_copy(safe, folder, config, size, dtype)
    _require_whole(loaded, folder)
    return loaded.model.eval().requires_grad_(False), loaded.tokenizer


class _Loaded(NamedTuple):
    """A model and its tokenizer, and the names of the weights that its files lack."""

    model: Any
    missing: list[str]
    tokenizer: Any


def _is_weights(file: Path) -> bool:
    return fnmatch(file.name, _SAFETENSORS) or fnmatch(file.name, _PICKLES)


def _load_copy(
    safe: Path, folder: Path, settings: dict[str, Any], size: int, dtype: torch.dtype
) -> _Loaded:
    """
    What transformers loads from the safe copy of a folder, whose weights have `size`
    bytes. Raises `InputError` if a file is damaged, with the path in the folder.
    """
    from transformers import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what is missing is an error of ours
    try:
        return _from_pretrained(safe, folder, settings, size, dtype)
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        reason = " ".join(str(error).split()).replace(str(safe), str(folder))
        if not reason:
            reason = type(error).__name__
        raise InputError(
            f"cannot load the transformer: {reason[:300]}", file=folder
        ) from None
    finally:
        logging.set_verbosity(verbosity)


def _from_pretrained(
    safe: Path, folder: Path, settings: dict[str, Any], size: int, dtype: torch.dtype
) -> _Loaded:
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    config = AutoConfig.for_model(**settings)
    config.use_cache = False  # a key of GPT-2
    config.reference_compile = False  # a key of ModernBERT
    with torch.device("meta"):
        require_held(AutoModel.from_config(config), size, folder)
    model, found = AutoModel.from_pretrained(
        safe,
        config=config,
        torch_dtype=dtype,
        use_safetensors=_has(safe, _SAFETENSORS),
        output_loading_info=True,
        local_files_only=True,
        trust_remote_code=False,
    )
    model.config.name_or_path = ""  # the path of the copy
    tokenizer = AutoTokenizer.from_pretrained(
        safe, add_prefix_space=True, local_files_only=True, trust_remote_code=False
    )
    return _Loaded(model, list(found["missing_keys"]), tokenizer)


def _require_whole(loaded: _Loaded, folder: Path) -> None:
    """
    Raises `InputError` if a model lacks weights, or has a tokenizer that does not fit.
    """
    model, missing, tokenizer = loaded
    for name in missing:
        if "pooler." not in name:  # the pooler is above the layers
            raise InputError(
                f"expected the weights of {type(model).__name__}, got none for {name}",
                file=folder,
            )
    if not tokenizer.is_fast:
        raise InputError(
            f"expected a fast tokenizer, got {type(tokenizer).__name__}",
            file=folder,
            hint="save the fast one as tokenizer.json, with tokenizer.save_pretrained",
        )
    known = model.get_input_embeddings().num_embeddings
    given = len(tokenizer)
    if given > known:
        raise InputError(
            f"expected a tokenizer of at most the model's {known} pieces, got {given}",
            file=folder,
        )
