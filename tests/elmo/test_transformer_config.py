"""
A transformer's folder from anywhere: what its settings name is neither run nor fetched
nor allocated.
"""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.elmo.transformer import Transformer
from elmo_tasks.elmo.transformer_config import require_sound_version
from elmo_tasks.errors import InputError
from elmo_tasks.formats.fetch import downloads
from tests.elmo.test_transformer import SENTENCES, ids_of
from tests.elmo.transformer_samples import write_transformer
from tests.hostile import outcome

CODE = {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}
CODE |= {"AutoTokenizer": ["evil.Tokenizer", "owner/repository--evil.Tokenizer"]}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_transformer(tmp_path_factory.mktemp("bert")))


@pytest.fixture
def folder(bert: Path, tmp_path: Path) -> Path:
    """A copy, with a file of Python that leaves a trace."""
    shutil.copytree(bert, tmp_path / "model")
    trace = str(tmp_path / "trace")
    (tmp_path / "model/evil.py").write_text(f"open({trace!r}, 'w')\nConfig = None")
    return tmp_path / "model"


def change(file: Path, **keys: Any) -> None:
    found = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**found, **keys}))


@pytest.mark.parametrize(
    ("file", "keys"),
    [
        ("config.json", {"auto_map": CODE}),
        ("config.json", {"_attn_implementation": "owner/kernel"}),
        ("config.json", {"_attn_implementation_internal": "owner/kernel"}),
        ("config.json", {"_attn_implementation_autoset": True}),
        ("config.json", {"attn_implementation": "owner/kernel:function"}),
        ("config.json", {"_experts_implementation": "owner/kernel"}),
        ("config.json", {"experts_implementation": "owner/kernel"}),
        ("config.json", {"use_kernels": True, "kernel_config": {"a": "owner/kernel"}}),
        ("config.json", {"_name_or_path": "owner/other"}),
        ("config.json", {"name_or_path": "owner/other", "_commit_hash": "main"}),
        ("config.json", {"trust_remote_code": True}),
        ("config.json", {"custom_pipelines": {"a": {"impl": "evil.Pipeline"}}}),
        (
            "config.json",
            {"sub_configs": {"a": "b"}, "configuration_files": ["evil.py"]},
        ),
        ("config.json", {"transformers_weights": "../other/model.safetensors"}),
        ("config.json", {"torch_dtype": "evil", "dtype": "evil"}),
        ("config.json", {"sinusoidal_pos_embds": True, "is_decoder": True}),
        ("config.json", {"architectures": ["Evil"], "task_specific_params": {"a": 1}}),
        ("tokenizer_config.json", {"auto_map": CODE}),
        ("tokenizer_config.json", {"tokenizer_file": "/etc/passwd"}),
        ("tokenizer_config.json", {"vocab_file": "/etc/passwd", "merges_file": "/x"}),
        ("tokenizer_config.json", {"name_or_path": "owner/other"}),
        ("tokenizer_config.json", {"special_tokens_map_file": "/etc/passwd"}),
        ("tokenizer_config.json", {"chat_template": "{{ 1 }}", "use_fast": False}),
        ("special_tokens_map.json", {"auto_map": CODE}),
        ("adapter_config.json", {"base_model_name_or_path": "owner/other"}),
        ("generation_config.json", {"custom_generate": "owner/other"}),
        ("processor_config.json", {"auto_map": CODE}),
    ],
)
def test_other_keys_have_no_effect(
    file: str, keys: dict[str, Any], folder: Path, bert: Path
) -> None:
    expected = Transformer(bert)(ids_of(SENTENCES)).layers
    change(folder / file, **keys)
    with downloads(allowed=False):
        source = Transformer(folder)
        assert torch.equal(source(ids_of(SENTENCES)).layers, expected)
    assert not (folder.parent / "trace").exists()
    assert "owner" not in source.model.config.to_json_string()
    assert str(folder.parent) not in source.model.config.to_json_string()


def nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


REPLACE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaa"}
BOMB = [REPLACE, {"type": "Sequence", "normalizers": [REPLACE, REPLACE]}]
"""Makes 125 characters of one."""


@pytest.mark.parametrize(
    ("file", "keys", "problem"),
    [
        ("config.json", {"layer_types": nested(900)}, "layer_types: expected numbers"),
        ("tokenizer.json", {"normalizer": {"normalizers": BOMB}}, "at most 100 times"),
        (
            "tokenizer.json",
            {"normalizer": {"type": "Replace", "content": "a" * 101}},
            "at most 100 times",
        ),
        ("config.json", {"model_type": "t5"}, "expected the model_type of BERT"),
        ("config.json", {"model_type": None}, "expected the model_type of BERT"),
        ("config.json", {"model_type": ["bert"]}, "expected the model_type of BERT"),
        ("config.json", {"model_type": "evil", "auto_map": CODE}, "which is never run"),
        ("config.json", {"quantization_config": {"a": 1}}, "not quantized"),
        ("config.json", {"hidden_act": "owner/kernel"}, "hidden_act: expected numbers"),
        ("config.json", {"hidden_act": "evil"}, "cannot load the transformer"),
        ("config.json", {"hidden_size": "x"}, "cannot load the transformer"),
        ("config.json", {"hidden_size": -16}, "cannot load|expected"),
        ("config.json", {"num_hidden_layers": 10**9}, "expected"),
        ("config.json", {"num_hidden_layers": 10**4}, "expected at most 1000 layers"),
        ("config.json", {"vocab_size": 10**7}, "describes .* parameters"),
        ("config.json", {"vocab_size": 10**30}, "vocab_size: expected"),
        ("config.json", {"hidden_size": 10**6}, "describes .* parameters"),
        ("config.json", {"intermediate_size": 10**7}, "describes .* parameters"),
        ("config.json", {"max_position_embeddings": 10**7}, "describes .* parameters"),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "evil.Tokenizer"},
            "a tokenizer of",
        ),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "TransfoXLTokenizer"},
            "tokenizer",
        ),
    ],
)
def test_settings_that_are_refused(
    file: str, keys: dict[str, Any], problem: str, folder: Path
) -> None:
    change(folder / file, **keys)
    message = outcome(lambda: Transformer(folder))
    assert message is not None and message.startswith(f"{folder}: ")
    assert re.search(problem, message)
    assert not (folder.parent / "trace").exists()


def test_masks_of_many_positions(tmp_path: Path) -> None:
    """GPT-2 makes one of positions times positions."""
    folder = Path(write_transformer(tmp_path / "model", "GPT2"))
    change(folder / "config.json", n_positions=10**5)
    message = outcome(lambda: Transformer(folder))
    assert message is not None and "parameters" in message


def test_an_index_names_files_of_the_folder(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-1.safetensors")
    change(
        folder / "model.safetensors.index.json", weight_map={"a": "../x.safetensors"}
    )
    with pytest.raises(InputError, match="weight_map with names of files"):
        Transformer(folder)


@pytest.mark.parametrize(
    ("version", "is_sound"),
    [
        ("4.47.1", False),
        ("4.48.0", True),
        ("4.49.0", True),
        ("4.55.4", True),
        ("4.56.0.dev0", False),
        ("4.57.3", False),
        ("5.0.0rc1", False),
        ("5.2.0", False),
        ("5.3.0", True),
        ("6.0", True),
        ("4.100.0", False),
    ],
)
def test_versions_with_known_holes(version: str, is_sound: bool) -> None:
    if is_sound:
        require_sound_version(version)
        return
    with pytest.raises(InputError, match="CVE-2026-4372.*pip install 'transformers>="):
        require_sound_version(version)


def test_a_version_with_a_hole_opens_no_model(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.__version__", "5.1.0")
    with pytest.raises(InputError, match="expected transformers 4.48 to 4.55"):
        Transformer(bert)
    assert os.path.exists(bert)


@pytest.mark.parametrize("kind", ["LlamaTokenizer", "Bert", "evil.BertTokenizer", 3])
def test_other_tokenizers_are_rejected(folder: Path, kind: Any) -> None:
    change(folder / "tokenizer_config.json", tokenizer_class=kind)
    with pytest.raises(InputError, match="expected a tokenizer of BERT, .* got "):
        Transformer(folder)
