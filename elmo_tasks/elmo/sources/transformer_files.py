"""Loading a transformer and its tokenizer from a folder."""

import json
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from elmo_tasks.elmo.allocation import parameters_of_at_most
from elmo_tasks.errors import InputError, is_out_of_memory
from elmo_tasks.formats.bilm_files import is_bilm_config
from elmo_tasks.formats.fetching.fetch import files_in, fits_any
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.system.run_names import CONFIG

SAFETENSORS = "model*.safetensors"
PICKLES = "pytorch_model*.bin*"
"""Of the names of weights; pickles are never read, and an error says so."""

_INDEX = "model*.safetensors.index.json"

HINT = (
    "config.json and model.safetensors, which transformers writes with "
    "AutoModel.from_pretrained(NAME).save_pretrained(FOLDER)"
)

PATTERNS = (
    "config.*json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
    SAFETENSORS,
    _INDEX,
)
"""Of the names of all files: the only ones that transformers sees."""

_SETTINGS = ("config.*json", "tokenizer_config.json", _INDEX)
"""Of the names of files that can name others."""

_LISTS = ("weight_map", "fast_tokenizer_files", "configuration_files")
"""Keys under which they do."""

_MOST_JSON = 2**26  # bytes of an index, or of a tokenizer's settings
_SMALL = 2**24  # bytes that any model may have
_MOST_TENSORS = 10**6

_RARE = "a \U00013000"
"""A text with a character that hardly any tokenizer knows, by which a model is tried."""

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
    tokenizer: Any  # splits long texts into windows that overlap by half
    blank: bool  # each word is given with a blank before it
    n_layers: int  # L+1, with that of the embeddings
    width: int  # D
    ignores_padding: bool  # else texts of other lengths in a batch change the layers


def is_in(names: Collection[str], config: Mapping[str, Any]) -> bool:
    """Whether files with these names are those of a model, with this `config.json`."""
    weights = [name for name in names if fits_any(name, (SAFETENSORS, PICKLES))]
    has_config = CONFIG in names and len(weights) > 0
    return not is_bilm_config(config) and (has_config or "model_type" in config)


def load(folder: Path, dtype: torch.dtype) -> Loaded:
    """
    Load any encoder of the installed transformers, of an encoder-decoder model its
    encoder, from safetensors. No code of the model is run, and nothing is fetched.

    Raises `InputError` if a file is missing or invalid, the model needs code of its
    own, its layers do not have one vector for each piece, or the tokenizer is slow; or
    for a version of transformers with a known hole.
    """
    with tempfile.TemporaryDirectory() as seen, _quiet(folder, seen):
        for name, file in files_in(folder, PATTERNS).items():
            if fits_any(name, _SETTINGS):
                Path(seen, name).write_text(json.dumps(_own_settings(file)), "utf-8")
            else:
                Path(seen, name).symlink_to(file.absolute())
        return _from_pretrained(folder, Path(seen), dtype)


def _own_settings(file: Path) -> Any:
    """
    The content of a file of JSON, without the paths where files of the tokenizer once
    were. Raises `InputError` if it lists files of another folder.
    """
    given = read_json(file, "the settings of a model", most_bytes=_MOST_JSON)
    if not isinstance(given, dict):
        return given
    for key in _LISTS:
        listed = given.get(key, [])
        if isinstance(listed, dict):
            listed = listed.values()
        for name in listed:
            if Path(name).name != name:
                problem = f"expected files of the same folder, got {name!r}"
                raise InputError(problem, file=file)
    return {key: value for key, value in given.items() if not key.endswith("_file")}


def require_text_model(folder: Path) -> None:
    """
    Raises `InputError` for another model than of text, for a config that cannot be
    read, and for a version of transformers with a known hole. Nothing else is read.
    """
    with _quiet(folder):
        _config(folder)


@contextmanager
def one_error(folder: Path, doing: str, seen: str = "") -> Iterator[None]:
    """
    Inside, errors of transformers are an `InputError` about the folder, which it may
    have `seen` at another path. What is out of memory stays as it is.
    """
    try:
        yield
    except BaseException as error:
        is_panic = type(error).__name__ == "PanicException"  # of a tokenizer, in Rust
        is_ours = isinstance(error, InputError) and error.file is not None
        if is_ours or not (is_panic or isinstance(error, Exception)):
            raise
        if doing == "run" and is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        if "trust_remote_code" in reason:
            reason = "it needs the code in its own files, which is never run"
        if seen:
            reason = reason.replace(seen, str(folder))
        problem = f"cannot {doing} the transformer: {reason[:300]}"
        raise InputError(problem, file=folder) from None


@contextmanager
def _quiet(folder: Path, seen: str = "") -> Iterator[None]:
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
    major_and_minor = [int(number) for number in re.findall(r"\d+", version)[:2]]
    if [4, 48] <= major_and_minor < [4, 52] or major_and_minor >= [5, 5]:
        return
    hole = (
        "4.52 to 5.4 can load kernels or code that a model's config names"
        " (CVE-2026-4372, CVE-2026-5241), and versions before 4.48 run pickles"
    )
    raise InputError(
        f"expected transformers 4.48 to 4.51, or 5.5 and later, got {version}: {hole}",
        hint="pip install 'elmo-tasks[transformers]'",
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
    settings = AutoTokenizer.from_pretrained(seen, config=config, **_LOCAL)
    if not settings.is_fast:
        problem = f"expected a fast tokenizer, got {type(settings).__name__}"
        raise InputError(problem, file=folder)
    model = _model(config, folder, seen, dtype)
    if config.is_encoder_decoder and hasattr(model, "get_encoder"):
        model = model.get_encoder()
    model = model.eval().requires_grad_(False)
    model.config.name_or_path = ""  # the folder may be moved
    tokenizer = settings.backend_tokenizer
    blank = _prepare(tokenizer, _most_pieces(model, settings), folder)
    row = torch.tensor([tokenizer.encode(_RARE).ids])  # [1, S]
    layers = hidden_states(model, row, torch.ones_like(row))
    for layer in layers:
        if layer.shape[:2] != row.shape or layer.shape[2] != layers[0].shape[2]:
            problem = "expected layers with one vector of the same width for each piece"
            got = type(model).__name__
            raise InputError(f"{problem}, got those of {got}", file=folder)
    return Loaded(
        model,
        tokenizer,
        blank,
        n_layers=len(layers),
        width=layers[0].shape[2],
        ignores_padding=_ignores_padding(model, row, layers),
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
    size = sum([file.stat().st_size for file in folder.glob(SAFETENSORS)])
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
    _own_settings(folder / CONFIG)
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


def _prepare(tokenizer: Any, most_pieces: int, folder: Path) -> bool:
    """
    Have a tokenizer split a word always alike, and long texts into windows. Returns
    whether each word must be given with a blank before it, for its pieces to be those
    that it has in a text: most tokenizers mark where a word begins, or are set to.
    Raises `InputError` if windows have no room.
    """
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if hasattr(tokenizer.model, "dropout"):  # with it, a text is split at random
        tokenizer.model.dropout = None
    if hasattr(tokenizer.pre_tokenizer, "add_prefix_space"):  # that of RoBERTa or GPT-2
        tokenizer.pre_tokenizer.add_prefix_space = True
    options = {"add_special_tokens": False}
    words = tokenizer.encode(["a", "a"], is_pretokenized=True, **options).ids
    second = tokenizer.encode([" a"], is_pretokenized=True, **options).ids
    in_text = tokenizer.encode("a a", **options).ids
    special = tokenizer.num_special_tokens_to_add(False)
    room = most_pieces - special
    if room < 2:  # windows overlap by half
        problem = f"expected a model that reads at least {special + 2} pieces"
        raise InputError(
            f"{problem} with its {special} special tokens, got {most_pieces}"
            " (model_max_length, or its positions)",
            file=folder,
        )
    tokenizer.enable_truncation(most_pieces, stride=room // 2)
    return words != in_text and in_text[-len(second) :] == second


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


def _ignores_padding(model: Any, row: Tensor, layers: tuple[Tensor, ...]) -> bool:
    """
    Whether the layers of a few pieces [1, S] stay the same, up to rounding, if padding
    follows. The convolutions of ConvBERT mix it in. After so short a text, BigBird
    attends to all pieces, and no more to some by chance.
    """
    padding = torch.full_like(row, padding_id(model))
    mask = torch.cat([torch.ones_like(row), torch.zeros_like(row)], 1)
    padded_layers = hidden_states(model, torch.cat([row, padding], 1), mask)
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
    most = int(min(tokenizer.model_max_length, 2**31))
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
