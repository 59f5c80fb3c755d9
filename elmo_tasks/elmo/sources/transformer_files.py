"""Loading a transformer and its tokenizer from a folder."""

import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_tasks.elmo.allocation import TooLarge, parameters_of_at_most
from elmo_tasks.errors import InputError, is_out_of_memory
from elmo_tasks.formats.fetching.fetch import fits_any
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.system.run_names import CONFIG, SAFETENSORS_FILE

_SETTINGS = (  # of the model and of its tokenizer
    "config.*json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
)
_TOKENIZER_CONFIG = "tokenizer_config.json"

SAFETENSORS = "model*.safetensors*"
PICKLES = "pytorch_model*.bin*"
"""Of the names of weights; pickles are never read, and an error says so."""

_WRITES_SAFETENSORS = (
    "transformers writes it with "
    "AutoModel.from_pretrained(NAME).save_pretrained(FOLDER)"
)

PATTERNS = (*_SETTINGS, SAFETENSORS)
"""Of the names of all files."""

_MOST_JSON = 2**26  # bytes of an index, or of a tokenizer's settings
_SMALL = 2**24  # bytes that any model may have
_MOST_TENSORS = 10**6

_RARE = "a \U00013000"
"""A text with a character that hardly any tokenizer knows."""

_MOST_TRIED = 1024
"""Pieces of the longest row by which a model is tried, which bounds the time."""

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


def files_read(folder: Path) -> list[Path]:
    """
    The files of a transformer that are read: the only ones that transformers sees.
    Raises `InputError` without weights in safetensors, or if their index names a file
    of another folder, or one that is missing.
    """
    found = weight_files(folder)
    for path in folder.iterdir():
        if fits_any(path.name, _SETTINGS) and path.is_file():
            found.append(path)
    return found


def weight_files(folder: Path) -> list[Path]:
    """One file, or else an index and the files that it names."""
    whole = folder / SAFETENSORS_FILE
    index = folder / f"{SAFETENSORS_FILE}.index.json"
    if whole.is_file():
        return [whole]
    if not index.is_file():
        problem = f"expected the weights of a transformer in {SAFETENSORS_FILE}"
        if any(folder.glob(PICKLES)):
            problem += ", got a pickle, pytorch_model.bin"
        raise InputError(problem, file=folder, hint=_WRITES_SAFETENSORS)
    found = read_json(index, "an index of weights", most_bytes=_MOST_JSON)
    try:
        names = sorted(set(found["weight_map"].values()))
        is_sound = all(name.endswith(".safetensors") for name in names)
    except (AttributeError, KeyError, TypeError):
        is_sound = False
    if not is_sound:
        problem = "expected weight_map, with a file of safetensors for each weight"
        raise InputError(problem, file=index)
    _require_beside(names, index)
    return [index, *[folder / name for name in names]]


def _require_beside(names: Iterable[str], file: Path) -> None:
    """Raises `InputError` if a file names others that are not in its folder."""
    for name in names:
        if Path(name).name != name or not (file.parent / name).is_file():
            problem = f"expected files of the same folder, got {name or 'no name'}"
            raise InputError(problem, file=file)


def load(folder: Path, dtype: torch.dtype) -> Loaded:
    """
    Load any encoder of the installed transformers, of an encoder-decoder model its
    encoder, from safetensors. No code of the model is run, and nothing is fetched.

    Raises `InputError` if a file is missing or invalid, the model needs code of its
    own, its layers do not have one vector for each piece, the tokenizer is slow, or the
    two are not of one model; or for a version of transformers with a known hole.
    """
    files = files_read(folder)
    with tempfile.TemporaryDirectory() as seen, _quiet(folder, seen):
        for file in files:
            if file.name == _TOKENIZER_CONFIG:
                Path(seen, file.name).write_text(_own_settings(file), "utf-8")
            else:
                Path(seen, file.name).symlink_to(file.absolute())
        return _from_pretrained(folder, Path(seen), dtype)


def _own_settings(file: Path) -> str:
    """Those of a tokenizer, without the paths where its files once were."""
    given = read_json(file, "the settings of a tokenizer", most_bytes=_MOST_JSON)
    _require_beside(given.get("fast_tokenizer_files", ()), file)
    kept = {key: value for key, value in given.items() if not key.endswith("_file")}
    return json.dumps(kept)


def require_text_model(folder: Path) -> None:
    """
    Raises `InputError` for another model than of text, for a config that cannot be
    read, and for a version of transformers with a known hole. Nothing else is read.
    """
    with _quiet(folder):
        _config(folder)


@contextmanager
def one_error(folder: Path, doing: str, seen: str | None = None) -> Iterator[None]:
    """
    Inside, errors are one `InputError` about the folder, which transformers may have
    `seen` at another path.
    """
    try:
        yield
    except BaseException as error:  # of any type: damaged files, rare texts
        is_panic = type(error).__name__ == "PanicException"  # of a tokenizer, in Rust
        is_ours = isinstance(error, InputError) and not isinstance(error, TooLarge)
        if is_ours or not (is_panic or isinstance(error, Exception)):
            raise
        if doing == "run" and is_out_of_memory(error):
            raise  # callers say of which batch
        reason = " ".join(str(error).split()) or type(error).__name__
        if seen is not None:
            reason = reason.replace(seen, str(folder))
        if "trust_remote_code" in reason:
            reason = "it needs the code in its own files, which is never run"
        raise InputError(
            f"cannot {doing} the transformer: {reason[:300]}", file=folder
        ) from None


@contextmanager
def _quiet(folder: Path, seen: str | None = None) -> Iterator[None]:
    """Inside, transformers logs nothing, and errors are those of `one_error`."""
    import transformers

    require_sound_version(transformers.__version__)
    verbosity = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()  # what is missing is an error of ours
    try:
        with one_error(folder, "load", seen):
            yield
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


def _from_pretrained(folder: Path, seen: Path, dtype: torch.dtype) -> Loaded:
    """The model of a folder, of which transformers sees the files in `seen` alone."""
    from transformers import AutoTokenizer

    config = _config(folder)
    if config.model_type == "reformer":
        problem = "expected a model that gives a text the same layers in each call"
        raise InputError(
            f"{problem}, got Reformer, which hashes at random", file=folder
        )
    config.use_cache = False  # a key of GPT-2
    config.reference_compile = False  # a key of ModernBERT
    tokenizer = AutoTokenizer.from_pretrained(seen, config=config, **_LOCAL)
    model = _model(config, folder, seen, dtype)
    row = _fitting_row(tokenizer, model, folder)
    if config.is_encoder_decoder and hasattr(model, "get_encoder"):
        model = model.get_encoder()
    model = model.eval().requires_grad_(False)
    model.config.name_or_path = ""  # the folder may be moved
    ignores_padding = _ignores_padding(model)
    most_pieces = _most_pieces(model, tokenizer)
    longest = row.repeat(_MOST_TRIED)[: max(1, min(most_pieces, _MOST_TRIED))]
    layers = _layers_of_row(model, longest[None], folder)
    return Loaded(
        model,
        tokenizer.backend_tokenizer,
        most_pieces,
        n_layers=len(layers),
        width=layers[0].shape[2],
        ignores_padding=ignores_padding,
    )


def _model(config: Any, folder: Path, seen: Path, dtype: torch.dtype) -> Any:
    """The model with its weights; of T5, the encoder alone."""
    from transformers import (
        MODEL_FOR_TEXT_ENCODING_MAPPING,
        AutoModel,
        AutoModelForTextEncoding,
    )

    kind: Any = AutoModel
    if type(config) in MODEL_FOR_TEXT_ENCODING_MAPPING:
        kind = AutoModelForTextEncoding
    size = sum([file.stat().st_size for file in weight_files(folder)])
    at_most = _SMALL + torch.float32.itemsize * size  # numbers of a byte or more
    with parameters_of_at_most(at_most, _MOST_TENSORS):
        model, found = kind.from_pretrained(
            seen,
            config=config,
            torch_dtype=dtype,
            use_safetensors=True,
            output_loading_info=True,
            **_LOCAL,
        )
    _require_whole(model, found["missing_keys"], folder)
    return model


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
    given = read_json(folder / CONFIG, "the config of a model")
    _require_beside(given.get("configuration_files", ()), folder / CONFIG)
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


def _require_whole(model: Any, missing: Iterable[str], folder: Path) -> None:
    """Raises `InputError` if a model lacks weights."""
    for name in missing:
        if "pooler." not in name:  # the pooler is above the layers
            raise InputError(
                f"expected the weights of {type(model).__name__}, got none for {name}",
                file=folder,
            )


def _fitting_row(tokenizer: Any, model: Any, folder: Path) -> Tensor:
    """
    The pieces of a text [S], as the tokenizer always splits it. Raises `InputError` if
    the tokenizer is slow, or has a piece or a special token that the model has not.
    """
    if not tokenizer.is_fast:
        raise InputError(
            f"expected a fast tokenizer, got {type(tokenizer).__name__}",
            file=folder,
            hint="save the fast one as tokenizer.json, with tokenizer.save_pretrained",
        )
    pieces = tokenizer.backend_tokenizer.model
    if hasattr(pieces, "dropout"):  # with it, a text is split at random
        pieces.dropout = None
    known = len(model.get_input_embeddings().weight)
    row = tokenizer(_RARE)["input_ids"]
    highest = max([*tokenizer.get_vocab().values(), *row])
    if highest >= known:
        raise InputError(
            f"expected a tokenizer of the model's {known} pieces, got the id {highest}",
            file=folder,
        )
    return torch.tensor(row or [0])


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


def _layers_of_row(model: Any, row: Tensor, folder: Path) -> tuple[Tensor, ...]:
    """
    The layers of a row of pieces [1, S], by which a model is tried. Raises `InputError`
    if a layer has not one vector for each piece, or its width is another.
    """
    layers = hidden_states(model, row, torch.ones_like(row))
    for layer in layers:
        if layer.shape[:2] != row.shape or layer.shape[2] != layers[0].shape[2]:
            name = type(model).__name__
            problem = "expected layers with one vector of the same width for each piece"
            raise InputError(f"{problem}, got those of {name}", file=folder)
    return layers


def _ignores_padding(model: Any) -> bool:
    """
    Whether the layers of a few pieces stay the same, up to rounding, if padding
    follows. The convolutions of ConvBERT mix it in. After so short a text, BigBird
    attends to all pieces, and no more to some by chance.
    """
    layers = hidden_states(model, _TRIED, torch.ones_like(_TRIED))
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
    positions = most
    for key in ("max_encoder_position_embeddings", "max_position_embeddings"):
        positions = int(getattr(model.config, key, None) or positions)
    if positions < 0:  # XLNet's have no limit
        return most
    embeddings = getattr(model, "embeddings", None)
    position_embeddings = getattr(embeddings, "position_embeddings", None)
    padding = getattr(position_embeddings, "padding_idx", None)
    if padding is not None:
        positions -= padding + 1
    return min(positions, most)
