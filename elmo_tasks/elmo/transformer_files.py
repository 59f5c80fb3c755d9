"""The files of a transformer: a folder, or a model of the Hugging Face hub; found, hashed, archived and loaded."""

import hashlib
import io
import re
import tarfile
import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from elmo_tasks.elmo.transformer_config import (
    require_held,
    require_sound_version,
    safe_copy,
)
from elmo_tasks.errors import InputError
from elmo_tasks.formats import unpacking
from elmo_tasks.formats.fetch import file_sha256, hub_model, model_path
from elmo_tasks.formats.models import MODELS
from elmo_tasks.formats.tar import is_tar, without_owner

OTHERS = (
    *("config.json", "tokenizer*", "special_tokens_map.json", "added_tokens.json"),
    *("vocab*", "merges.txt", "*.model"),
)
_MANYLANGS = ("*.json", "*.dic", "*.pkl")
WEIGHTS = ("model*.safetensors*", "pytorch_model*.bin*")
"""The first kind that a folder has is used, and no other file."""


def find_model(name: str) -> Path:
    """
    The absolute path of a folder, of that of a ZIP or published model (see `model_path`), or of that of the hub's model
    of this name, downloaded unless `HF_HUB_OFFLINE` is set. Raises `InputError` if the hub has no such model.
    """
    folder = Path(name).expanduser()
    if name in MODELS or "://" in name or folder.is_file():
        return model_path(name).absolute()
    if folder.is_dir() or not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name):
        return folder.absolute()
    try:
        for weights in WEIGHTS:
            folder = hub_model(name, [*OTHERS, weights])
            if any(folder.glob(weights)):
                break
    except InputError as error:
        problem = f"no such folder, and no model of this name from the Hugging Face hub: {error}"
        raise InputError(
            problem, file=name, hint="set the key or option model"
        ) from None
    return folder


def model_files(folder: Path) -> list[Path]:
    """The files that are read, sorted by name."""
    weights = next(
        (pattern for pattern in WEIGHTS if any(folder.glob(pattern))), WEIGHTS[0]
    )
    patterns = _MANYLANGS if (folder / "encoder.pkl").is_file() else (*OTHERS, weights)
    return sorted(
        {
            path
            for pattern in patterns
            for path in folder.glob(pattern)
            if path.is_file()
        }
    )


def folder_sha256(folder: Path) -> str:
    """A digest of the names and contents of the files that are read."""
    lines = "".join(
        f"{file_sha256(path)}  {path.name}\n" for path in model_files(folder)
    )
    return hashlib.sha256(lines.encode()).hexdigest()


def pack(folder: Path) -> Tensor:
    """The files that are read, as an uncompressed tar file, uint8."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for path in model_files(folder):
            archive.add(path.resolve(), path.name, filter=without_owner)
    return torch.from_numpy(np.frombuffer(packed.getbuffer(), np.uint8))


def unpack(packed: Tensor, folder: Path) -> None:
    """Write what `pack` returned, which is not compressed, to a folder."""
    if not is_tar(packed[:512].numpy().tobytes()):
        raise InputError("expected a tar file in the archive, got another one")
    names = (*OTHERS, *WEIGHTS, *_MANYLANGS)
    unpacking.unpack(
        io.BytesIO(packed.numpy().data), folder, names, file="the archived model"
    )


def load(folder: Path, dtype: torch.dtype) -> tuple[Any, Any]:
    """
    The frozen model and its fast tokenizer, from files alone, without running code in them: see `transformer_config`.
    Raises `InputError` if a file is missing or invalid, the model is of an architecture that is not documented, the
    tokenizer is slow, or the two are not of one model; or for a version of transformers with a known hole.
    """
    import transformers

    require_sound_version(transformers.__version__)
    files = model_files(folder)
    with tempfile.TemporaryDirectory() as temporary:
        safe = Path(temporary)
        config = safe_copy(folder, files, safe)
        size = sum(file.stat().st_size for file in files if _is_weights(file))
        model, found, tokenizer = _loaded(safe, folder, config, size, dtype)
    if missing := [
        name for name in found["missing_keys"] if "pooler." not in name
    ]:  # of no layer
        raise InputError(
            f"expected the weights of {type(model).__name__}, got none for {missing[0]}",
            file=folder,
        )
    if not tokenizer.is_fast:
        hint = "save the fast one as tokenizer.json, with tokenizer.save_pretrained"
        raise InputError(
            f"expected a fast tokenizer, got {type(tokenizer).__name__}",
            file=folder,
            hint=hint,
        )
    if (given := len(tokenizer)) > (
        known := model.get_input_embeddings().num_embeddings
    ):
        raise InputError(
            f"expected a tokenizer of at most {known} pieces as the model, got {given}",
            file=folder,
        )
    return model.eval().requires_grad_(False), tokenizer


def _is_weights(file: Path) -> bool:
    return any(fnmatch(file.name, pattern) for pattern in WEIGHTS)


def _loaded(
    safe: Path, folder: Path, settings: dict[str, Any], size: int, dtype: torch.dtype
) -> tuple[Any, dict[str, Any], Any]:
    """What transformers loads from a safe copy of a folder, whose weights have `size` bytes."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer, logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()  # what is missing or unused is reported below
    local: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    try:
        config = AutoConfig.for_model(**settings)
        config.use_cache = config.reference_compile = (
            False  # keys of GPT-2 and of ModernBERT
        )
        with torch.device("meta"):
            require_held(AutoModel.from_config(config), size, folder)
        options = {
            "config": config,
            "torch_dtype": dtype,
            "use_safetensors": any(safe.glob(WEIGHTS[0])),
        }
        model, found = AutoModel.from_pretrained(
            safe, output_loading_info=True, **options, **local
        )
        model.config.name_or_path = ""  # the path of the copy
        return (
            model,
            found,
            AutoTokenizer.from_pretrained(safe, add_prefix_space=True, **local),
        )
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        reason = " ".join(str(error).split()).replace(str(safe), str(folder))
        raise InputError(
            f"cannot load the transformer: {reason[:300] or type(error).__name__}",
            file=folder,
        ) from None
    finally:
        logging.set_verbosity(verbosity)
