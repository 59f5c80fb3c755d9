"""
The settings of a transformer that may come from anywhere: known keys of known
architectures, and nothing else.

The keys of a `config.json` and a `tokenizer_config.json` can name Python files,
kernels, other repositories and files outside of the folder, and more of them in each
version of transformers. Only what describes a model is passed on.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elmo_tasks.errors import InputError, shown
from elmo_tasks.formats.json_files import read_json
from elmo_tasks.formats.tensor_files import load_tensors

CONFIG = "config.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
_TOKENIZER = "tokenizer.json"
_SPECIAL_TOKENS = "special_tokens_map.json"
_INDEX = ".index.json"
"""Ends the name of the file that says which file has which weights."""

_MOST_TOKENIZER = 2**27
"""Bytes of `tokenizer.json`; those of large vocabularies have 2**24."""

_MOST_GROWTH = 100
"""How many times as long a text may get by a tokenizer's normalizer."""

_DEEPEST = 8
"""Lists and objects in each other."""

MODEL_TYPES = {
    "bert": "BERT",
    "roberta": "RoBERTa",
    "distilbert": "DistilBERT",
    "deberta-v2": "DeBERTa-v2",
    "modernbert": "ModernBERT",
    "electra": "ELECTRA",
    "gpt2": "GPT-2",
}

_SIZES = """
vocab_size type_vocab_size pad_token_id bos_token_id eos_token_id cls_token_id
sep_token_id hidden_size embedding_size dim n_embd num_hidden_layers n_layer n_layers
num_attention_heads n_heads n_head attention_head_size intermediate_size hidden_dim
n_inner max_position_embeddings n_positions n_ctx
"""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers")
_FUNCTIONS = """
hidden_act hidden_activation activation activation_function layer_norm_eps
layer_norm_epsilon norm_eps norm_bias hidden_dropout_prob attention_probs_dropout_prob
dropout attention_dropout embedding_dropout mlp_dropout resid_pdrop embd_pdrop
attn_pdrop initializer_range initializer_cutoff_factor attention_bias mlp_bias
"""
_POSITIONS = """
position_embedding_type relative_attention max_relative_positions position_buckets
norm_rel_ebd share_att_key pos_att_type position_biased_input legacy conv_kernel_size
conv_act conv_groups scale_attn_weights scale_attn_by_inverse_layer_idx
reorder_and_upcast_attn global_rope_theta local_rope_theta rope_parameters
global_attn_every_n_layers local_attention layer_types
"""
_KEYS = frozenset((_SIZES + _FUNCTIONS + _POSITIONS).split())

_TOKENIZATION = """
model_max_length do_lower_case strip_accents tokenize_chinese_chars do_basic_tokenize
never_split trim_offsets errors clean_up_tokenization_spaces split_by_punct vocab_type
added_tokens_decoder additional_special_tokens extra_special_tokens tokenizer_class
"""
_TOKENIZER_KEYS = frozenset(_TOKENIZATION.split())
_TOKEN = re.compile(r"(bos|eos|unk|sep|pad|cls|mask)_token")
_TOKENIZER_CLASS = re.compile(
    r"(PreTrained|Bert|Roberta|DistilBert|DebertaV2|Electra|GPT2)Tokenizer(Fast)?"
    r"|TokenizersBackend"
)
_WORD = re.compile(r"[\w.+-]{0,64}")

_MOST_LAYERS = 1000
_MOST_SIZE = 10**7
_MOST_BUFFERS = 2**30
"""Elements of the masks that a model makes for its positions."""


def require_sound_version(version: str) -> None:
    """
    Raises `InputError` for a version of transformers with a known security hole, so
    that safety does not rest on the checks of this module alone.
    """
    numbers = re.findall(r"\d+", version)
    major_and_minor = [int(number) for number in numbers[:2]]
    if [4, 48] <= major_and_minor < [4, 56] or major_and_minor >= [5, 3]:
        return
    hole = (
        "4.56 to 5.2 can load kernels that a model's config names (CVE-2026-4372), "
        "and versions before 4.48 run pickles"
    )
    raise InputError(
        f"expected transformers 4.48 to 4.55, or 5.3 and later, got {version}: {hole}",
        hint="pip install 'transformers>=4.48,<4.56'",
    )


def safe_copy(folder: Path, files: Iterable[Path], target: Path) -> dict[str, Any]:
    """
    Copy the files of a transformer to the empty folder `target`: of settings, the keys
    that are passed on; other files as links. Returns the model's settings.

    Raises `InputError` if the model is of an architecture that is not documented, a
    value is invalid, or a pickle has more than tensors.
    """
    config = _model_settings(folder / CONFIG)
    for file in files:
        copy = target / file.name
        settings: dict[str, Any] | None = config
        if file.name != CONFIG:
            settings = _settings_in(file)
        if settings is None:
            _check(file)
            copy.symlink_to(file.resolve())
        else:
            copy.write_text(json.dumps(settings), "utf-8")
    return config


def _settings_in(file: Path) -> dict[str, Any] | None:
    """
    What is passed on of a file of settings other than the model's; `None` for another.
    """
    if file.name == TOKENIZER_CONFIG:
        return _tokenizer_settings(file)
    if file.name == _SPECIAL_TOKENS:
        found = _object(file)
        return {key: found[key] for key in found if _TOKEN.fullmatch(key)}
    if file.name.endswith(_INDEX):
        return _index(file)
    return None


def _check(file: Path) -> None:
    """Raises `InputError` if a file that is no file of settings could do harm."""
    if file.suffix == ".bin":
        _check_pickle(file)
    elif file.name == _TOKENIZER:
        _check_normalizer(file)


def require_held(model: Any, size: int, folder: Path) -> None:
    """
    Raises `InputError` if a model, which has no memory yet, needs more parameters than
    weights of `size` bytes hold.
    """
    needed = sum([parameter.numel() for parameter in model.parameters()])
    masks = sum([buffer.numel() for buffer in model.buffers()])
    if needed > size or masks > _MOST_BUFFERS:
        problem = f"it describes {needed:,} parameters, got weights of {size:,} bytes"
        raise _wrong(folder / CONFIG, problem)


def _wrong(file: Path, problem: str) -> InputError:
    return InputError(f"{file.name}: {problem}", file=file.parent)


def _object(file: Path) -> dict[str, Any]:
    found = read_json(file, "the settings of a transformer")
    if not isinstance(found, dict):
        raise _wrong(file, f"expected an object, got {shown(found)}")
    return found


def _model_settings(file: Path) -> dict[str, Any]:
    """The known keys of `config.json`. Raises `InputError` for another architecture."""
    found = _object(file)
    model_type = found.get("model_type")
    if not isinstance(model_type, str) or model_type not in MODEL_TYPES:
        raise _wrong(file, _other_architecture(found))
    if found.get("quantization_config"):
        problem = "expected a model that is not quantized, got quantization_config"
        raise _wrong(file, problem)
    settings = {key: found[key] for key in found if key in _KEYS}
    for key, value in settings.items():
        if not _is_plain(value):
            raise _wrong(file, f"{key}: expected numbers or names, got {shown(value)}")
    for key in _LAYERS:
        if isinstance(settings.get(key), int) and settings[key] > _MOST_LAYERS:
            problem = f"expected at most {_MOST_LAYERS} layers, got {settings[key]}"
            raise _wrong(file, problem)
    settings["model_type"] = model_type
    return settings


def _other_architecture(found: dict[str, Any]) -> str:
    """
    What is wrong with the settings of a model of an architecture that is not known.
    """
    known = [f"{name} ({kind})" for kind, name in MODEL_TYPES.items()]
    kind = shown(found.get("model_type"))
    problem = f"expected the model_type of {', '.join(known)}, got {kind}"
    if "auto_map" in found:
        problem += "; it needs the code in its own files (auto_map), which is never run"
    return problem


def _is_plain(value: Any, depth: int = 0) -> bool:
    """
    Whether a value is a number, a name that is no path, or a list or an object of such,
    of a few levels.
    """
    if value is None:
        return True
    if isinstance(value, str):
        return _WORD.fullmatch(value) is not None
    if not isinstance(value, list | dict):
        return abs(value) <= _MOST_SIZE
    if depth == _DEEPEST or len(value) > _MOST_LAYERS:
        return False
    parts = list(value)
    if isinstance(value, dict):
        parts += value.values()
    for part in parts:
        if not _is_plain(part, depth + 1):
            return False
    return True


def _check_normalizer(file: Path) -> None:
    """
    Raises `InputError` if a tokenizer's normalizer could make a text more than a
    hundred times as long: its rules replace a character by a text, one after the other.
    """
    if file.stat().st_size > _MOST_TOKENIZER:
        raise _wrong(file, f"expected a file of at most {_MOST_TOKENIZER:,} bytes")
    try:
        found = json.loads(file.read_bytes())
        growth = _growth(found.get("normalizer"))
    except (AttributeError, ValueError, RecursionError):
        raise _wrong(file, "expected the tokenizer of a transformer in JSON") from None
    if growth > _MOST_GROWTH:
        expected = f"a normalizer that makes texts at most {_MOST_GROWTH} times as long"
        raise _wrong(file, f"expected {expected}, got {growth:,} times")


def _growth(normalizer: Any) -> int:
    """How many times as long a text can get."""
    if not isinstance(normalizer, dict):
        return 1
    growth = max(1, len(str(normalizer.get("content", ""))))
    parts = normalizer.get("normalizers")
    if isinstance(parts, list):
        for part in parts:
            growth *= _growth(part)
    return growth


def _tokenizer_settings(file: Path) -> dict[str, Any]:
    """
    The known keys of `tokenizer_config.json`. Raises `InputError` for another class.
    """
    found = _object(file)
    kind = found.get("tokenizer_class")
    if kind is not None and not _TOKENIZER_CLASS.fullmatch(str(kind)):
        known = ", ".join(MODEL_TYPES.values())
        raise _wrong(file, f"expected a tokenizer of {known}, got {shown(kind)}")
    settings = {}
    for key, value in found.items():
        if key in _TOKENIZER_KEYS or _TOKEN.fullmatch(key):
            settings[key] = value
    return settings


def _index(file: Path) -> dict[str, Any]:
    """Which file of the folder has which weights."""
    places = _object(file).get("weight_map")
    if not _is_weight_map(places):
        raise _wrong(file, "expected weight_map with names of files")
    return {"metadata": {}, "weight_map": places}


def _is_weight_map(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_file_name, value.values()))


def _is_file_name(value: Any) -> bool:
    return isinstance(value, str) and Path(value).name == value


def _check_pickle(file: Path) -> None:
    """Raises `InputError` if a pickle is damaged, or has more than tensors."""
    try:
        load_tensors(file, mapped=True)
    except InputError:
        raise
    except Exception as error:  # damaged files raise errors of any kind
        problem = f"cannot load the transformer: {file.name}: {error}"
        raise InputError(problem, file=file.parent) from None
