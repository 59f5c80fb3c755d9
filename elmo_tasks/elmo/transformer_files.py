"""Loading a transformer and its tokenizer from a folder."""

import tempfile
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import torch

from elmo_tasks.elmo.model_folders import PICKLES, SAFETENSORS, model_files
from elmo_tasks.elmo.transformer_config import (
    require_held,
    require_sound_version,
    safe_copy,
)
from elmo_tasks.errors import InputError


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
    return fnmatch(file.name, SAFETENSORS) or fnmatch(file.name, PICKLES)


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
        use_safetensors=any(safe.glob(SAFETENSORS)),
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
