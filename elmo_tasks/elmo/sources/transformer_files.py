"""Loading a transformer and its tokenizer from a folder."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn.modules.module import register_module_parameter_registration_hook

from elmo_tasks.elmo.models.folders import PICKLES, SAFETENSORS
from elmo_tasks.errors import InputError

_TRIED = torch.arange(1, 5)[None]
"""Pieces by which a model is tried, [1, 4]."""

_TEXT = (
    "MASKED_LM",
    "CAUSAL_LM",
    "TEXT_ENCODING",
    "SEQ_TO_SEQ_CAUSAL_LM",
    "TOKEN_CLASSIFICATION",
    "QUESTION_ANSWERING",
)
"""What transformers calls the tasks that only models of text have."""

_LOCAL = {"local_files_only": True, "trust_remote_code": False}

_ROUNDING = {torch.float32: 1e-3, torch.bfloat16: 5e-2}
"""Differences that are rounding, as a share of the largest value."""


class Loaded(NamedTuple):
    """A frozen model and its tokenizer, of the package tokenizers."""

    model: Any
    tokenizer: Any
    most_pieces: int  # of a text, with special tokens
    n_layers: int  # L+1, with that of the embeddings
    width: int  # D
    ignores_padding: bool  # else texts of other lengths in a batch change the layers


def load(folder: Path, dtype: torch.dtype) -> Loaded:
    """
    Load any encoder of the installed transformers, of an encoder-decoder model its
    encoder, from safetensors. No code of the model is run, and nothing is fetched.

    Raises `InputError` if a file is missing or invalid, the model needs code of its
    own, its layers do not have one vector for each piece, the tokenizer is slow, or the
    two are not of one model; or for a version of transformers with a known hole.
    """
    _require_safetensors(folder)
    with _one_line(folder):
        return _from_pretrained(folder, dtype)


def require_text_model(folder: Path) -> None:
    """
    Raises `InputError` for another model than of text, for a config that cannot be
    read, and for a version of transformers with a known hole. Nothing else is read.
    """
    with _one_line(folder):
        _config(folder)


@contextmanager
def _one_line(folder: Path) -> Iterator[None]:
    """Inside, errors are `InputError` and transformers logs nothing else."""
    import transformers

    require_sound_version(transformers.__version__)
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()  # what is missing is an error of ours
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        reason = " ".join(str(error).split()) or type(error).__name__
        if "trust_remote_code" in reason:
            reason = "it needs the code in its own files, which is never run"
        raise InputError(
            f"cannot load the transformer: {reason[:300]}", file=folder
        ) from None
    finally:
        transformers.logging.set_verbosity(verbosity)


def require_sound_version(version: str) -> None:
    """
    Raises `InputError` for a version of transformers that runs code of a model although
    it was told not to.
    """
    numbers = re.findall(r"\d+", version)
    major_and_minor = [int(number) for number in numbers[:2]]
    if [4, 48] <= major_and_minor < [4, 52] or major_and_minor >= [5, 5]:
        return
    hole = (
        "4.52 to 5.4 can load kernels or code that a model's config names"
        " (CVE-2026-4372, CVE-2026-5241), and versions before 4.48 run pickles"
    )
    raise InputError(
        f"expected transformers 4.48 to 4.51, or 5.5 and later, got {version}: {hole}",
        hint="pip install 'transformers>=4.48,<4.52'",
    )


def _require_safetensors(folder: Path) -> None:
    if any(folder.glob(SAFETENSORS)):
        return
    problem = "expected the weights of a transformer in model.safetensors"
    hint = "transformers writes it with AutoModel.from_pretrained(NAME).save_pretrained(FOLDER)"
    if any(folder.glob(PICKLES)):
        problem += ", got a pickle, pytorch_model.bin"
    raise InputError(problem, file=folder, hint=hint)


def _from_pretrained(folder: Path, dtype: torch.dtype) -> Loaded:
    from transformers import (
        MODEL_FOR_TEXT_ENCODING_MAPPING,
        AutoModel,
        AutoModelForTextEncoding,
        AutoTokenizer,
    )

    config = _config(folder)
    if config.model_type == "reformer":
        problem = "expected a model that gives a text the same layers in each call"
        raise InputError(
            f"{problem}, got Reformer, which hashes at random", file=folder
        )
    config.use_cache = False  # a key of GPT-2
    config.reference_compile = False  # a key of ModernBERT
    kind: Any = AutoModel
    if type(config) in MODEL_FOR_TEXT_ENCODING_MAPPING:
        kind = AutoModelForTextEncoding  # the encoder of T5
    _require_held(lambda: kind.from_config(config, trust_remote_code=False), folder)
    model, found = kind.from_pretrained(
        folder,
        config=config,
        torch_dtype=dtype,
        use_safetensors=True,
        output_loading_info=True,
        **_LOCAL,
    )
    _require_whole(model, found["missing_keys"], folder)
    tokenizer = AutoTokenizer.from_pretrained(folder, **_LOCAL)
    _require_fitting(tokenizer, model, folder)
    if config.is_encoder_decoder and kind is AutoModel:
        model = model.get_encoder()
    model = model.eval().requires_grad_(False)
    model.config.name_or_path = ""  # the folder may be moved
    layers = _layers_of_few_pieces(model, folder)
    return Loaded(
        model,
        tokenizer.backend_tokenizer,
        most_pieces=_most_pieces(model, tokenizer),
        n_layers=len(layers),
        width=layers[0].shape[2],
        ignores_padding=_ignores_padding(model, layers),
    )


def _config(folder: Path) -> Any:
    """
    The config of a model of text, with all its parts. Models of images can name a
    backbone at any address and ask for its code, which transformers would run.
    """
    from transformers import AutoConfig
    from transformers.models.auto import modeling_auto

    text = set()
    for task in _TEXT:
        text.update(getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES"))
    config = AutoConfig.from_pretrained(folder, **_LOCAL)
    for kind in _model_types(config.to_dict()):
        if kind not in text:
            raise InputError(f"expected a model of text, got {kind}", file=folder)
    return config


def _model_types(config: Any) -> Iterator[str]:
    """Those of a config and of its parts."""
    if isinstance(config, list):
        for part in config:
            yield from _model_types(part)
    if isinstance(config, dict):
        for key, value in config.items():
            if key == "model_type" and isinstance(value, str):
                yield value
            yield from _model_types(value)


def _require_held(build: Callable[[], Any], folder: Path) -> None:
    """
    Build a model without memory. Raises `InputError` at the first parameter with which
    it has more numbers than the files of its weights have bytes.
    """
    size = sum([file.stat().st_size for file in folder.glob(SAFETENSORS)])
    left = size
    thread = threading.get_ident()

    def count(module: Any, name: str, parameter: Any) -> None:
        nonlocal left
        if parameter is None or threading.get_ident() != thread:
            return
        left -= parameter.numel()
        if left < 0:
            problem = "config.json describes more parameters than the weights have"
            raise InputError(f"{problem} bytes, {size:,}", file=folder)

    with register_module_parameter_registration_hook(count), torch.device("meta"):
        build()


def _require_whole(model: Any, missing: Iterable[str], folder: Path) -> None:
    """Raises `InputError` if a model lacks weights."""
    for name in missing:
        if "pooler." not in name:  # the pooler is above the layers
            raise InputError(
                f"expected the weights of {type(model).__name__}, got none for {name}",
                file=folder,
            )


def _require_fitting(tokenizer: Any, model: Any, folder: Path) -> None:
    """
    Raises `InputError` if a tokenizer is slow, or has a piece or a special token that
    the model has not.
    """
    if not tokenizer.is_fast:
        raise InputError(
            f"expected a fast tokenizer, got {type(tokenizer).__name__}",
            file=folder,
            hint="save the fast one as tokenizer.json, with tokenizer.save_pretrained",
        )
    known = len(model.get_input_embeddings().weight)
    ids = [*tokenizer.get_vocab().values(), *tokenizer("a")["input_ids"]]
    if max(ids) >= known:
        raise InputError(
            f"expected a tokenizer of the model's {known} pieces, got the id {max(ids)}",
            file=folder,
        )


def hidden_states(model: Any, ids: Tensor, mask: Tensor) -> tuple[Tensor, ...]:
    """The L+1 layers, each [b, S, D], of pieces with padding [b, S]."""
    output = model(
        input_ids=ids,
        attention_mask=mask,
        output_hidden_states=True,
        return_dict=True,
    )
    states: tuple[Tensor, ...] = output.hidden_states
    return states


def padding_id(model: Any) -> int:
    """The piece that fills rows of a batch; without one of the model, the first."""
    return max(0, model.config.pad_token_id or 0)


def _layers_of_few_pieces(model: Any, folder: Path) -> tuple[Tensor, ...]:
    """
    The layers of some pieces, by which a model is tried. After so short a text, BigBird
    attends to all pieces, and no more to some by chance. Raises `InputError` if a layer
    has not one vector for each piece, or its width is another.
    """
    mask = torch.ones_like(_TRIED)
    layers = hidden_states(model, _TRIED, mask)
    for layer in layers:
        if layer.shape[:2] != mask.shape or layer.shape[2] != layers[0].shape[2]:
            name = type(model).__name__
            problem = "expected layers with one vector of the same width for each piece"
            raise InputError(f"{problem}, got those of {name}", file=folder)
    return layers


def _ignores_padding(model: Any, layers: Sequence[Tensor]) -> bool:
    """
    Whether the layers of the tried pieces stay the same, up to rounding, if padding
    follows. The convolutions of ConvBERT mix it in.
    """
    padding = torch.full_like(_TRIED, padding_id(model))
    mask = torch.cat([torch.ones_like(_TRIED), torch.zeros_like(_TRIED)], 1)
    padded_layers = hidden_states(model, torch.cat([_TRIED, padding], 1), mask)
    for layer, padded in zip(layers, padded_layers, strict=True):
        most = _ROUNDING[layer.dtype] * layer.abs().max()
        if (layer - padded[:, : layer.shape[1]]).abs().max() > most:
            return False
    return True


def _most_pieces(model: Any, tokenizer: Any) -> int:
    """
    The most pieces of a text, special tokens included. RoBERTa's positions begin after
    that of padding.
    """
    most = int(tokenizer.model_max_length)
    positions = int(getattr(model.config, "max_position_embeddings", None) or most)
    if positions < 0:  # XLNet's have no limit
        return most
    embeddings = getattr(model, "embeddings", None)
    position_embeddings = getattr(embeddings, "position_embeddings", None)
    padding = getattr(position_embeddings, "padding_idx", None)
    if padding is not None:
        positions -= padding + 1
    return min(positions, most)
