"""
A transformer's folder from anywhere: none of its code is run, nothing is fetched, and
what cannot be used is one line.
"""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.models.files import resolve
from elmo_tasks.elmo.sources.transformer import Transformer
from elmo_tasks.elmo.sources.transformer_files import require_sound_version
from elmo_tasks.elmo.sources.types import SourceSettings
from elmo_tasks.errors import InputError
from tests.elmo.samples import Code
from tests.elmo.sources.test_transformer import SENTENCES, ids_of, reference
from tests.elmo.sources.transformer_samples import write_transformer
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
        ("config.json", {"_name_or_path": "owner/other"}),
        ("config.json", {"name_or_path": "owner/other", "_commit_hash": "main"}),
        ("config.json", {"trust_remote_code": True, "auto_map": CODE}),
        ("config.json", {"custom_pipelines": {"a": {"impl": "evil.Pipeline"}}}),
        ("config.json", {"torch_dtype": "bfloat16", "return_dict": False}),
        ("config.json", {"architectures": ["Evil"], "task_specific_params": {"a": 1}}),
        ("tokenizer_config.json", {"auto_map": CODE}),
        ("tokenizer_config.json", {"name_or_path": "owner/other"}),
        ("tokenizer_config.json", {"chat_template": "{{ 1 }}", "use_fast": False}),
        ("special_tokens_map.json", {"auto_map": CODE}),
        ("generation_config.json", {"custom_generate": "owner/other"}),
        ("processor_config.json", {"auto_map": CODE}),
    ],
)
def test_keys_that_have_no_effect(
    file: str, keys: dict[str, Any], folder: Path, bert: Path
) -> None:
    expected = Transformer(bert)(ids_of(SENTENCES)).layers
    change(folder / file, **keys)
    source = Transformer(folder)
    assert torch.equal(source(ids_of(SENTENCES)).layers, expected)
    assert str(folder.parent) not in source.model.config.to_json_string()
    assert not (folder.parent / "trace").exists()


@pytest.mark.parametrize(
    ("file", "keys", "problem"),
    [
        ("config.json", {"model_type": None, "auto_map": CODE}, "which is never run"),
        ("config.json", {"model_type": "evil", "auto_map": CODE}, "which is never run"),
        (
            "config.json",
            {"model_type": "evil", "auto_map": CODE, "trust_remote_code": True},
            "which is never run",
        ),
        ("config.json", {"model_type": "evil"}, "cannot load the transformer"),
        ("config.json", {"model_type": "reformer"}, "which hashes at random"),
        ("config.json", {"_attn_implementation": "owner/kernel"}, "cannot load"),
        ("config.json", {"hidden_act": "owner/kernel"}, "cannot load"),
        ("config.json", {"hidden_size": -16}, "cannot load"),
        ("config.json", {"num_hidden_layers": 5}, "weights of BertModel, got none for"),
        ("config.json", {"num_hidden_layers": 10**6}, "larger model|allocate memory"),
        ("config.json", {"vocab_size": 10**7}, "larger model|allocate memory"),
        ("config.json", {"hidden_size": 10**6}, "larger model|allocate memory"),
        ("config.json", {"intermediate_size": 10**7}, "larger model|allocate memory"),
        (
            "config.json",
            {"max_position_embeddings": 10**7},
            "larger model|allocate memory",
        ),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "evil.Tokenizer"},
            "cannot load",
        ),
        (
            "tokenizer_config.json",
            {"tokenizer_class": "evil.Tokenizer", "auto_map": CODE},
            "cannot load",
        ),
        ("tokenizer.json", {"model": {}}, "cannot load"),
    ],
)
def test_settings_that_are_refused(
    file: str, keys: dict[str, Any], problem: str, folder: Path
) -> None:
    change(folder / file, **keys)
    message = outcome(lambda: Transformer(folder))
    assert message is not None and message.startswith(f"{folder}: ")
    assert re.search(problem, message), message
    assert "\n" not in message and "trust_remote_code" not in message
    assert not (folder.parent / "trace").exists()


@pytest.mark.parametrize("is_part", [False, True])
def test_a_backbone_with_code(is_part: bool, folder: Path) -> None:
    """A model of images, or a part of a model, that names a folder with code to run."""
    code = folder.parent / "code"
    code.mkdir()
    (code / "evil.py").write_text((folder / "evil.py").read_text())
    change(code / "config.json", model_type="evil", auto_map=CODE)
    config: dict[str, Any] = {
        "model_type": "conditional_detr",
        "use_timm_backbone": False,
        "backbone": str(code),
        "use_pretrained_backbone": True,
        "backbone_kwargs": {"trust_remote_code": True},
    }
    if is_part:
        config = {"model_type": "bert", "vision_config": [config]}
    (folder / "config.json").write_text(json.dumps(config))
    message = outcome(lambda: Transformer(folder))
    assert message == f"{folder}: expected a model of text, got conditional_detr"
    assert not (folder.parent / "trace").exists()


def test_layers_of_other_lengths(tmp_path: Path) -> None:
    """Funnel pools pieces, so that its layers have fewer vectors than pieces."""
    config = transformers.FunnelConfig(
        vocab_size=120, d_model=16, n_head=2, d_head=8, d_inner=24, block_sizes=[1, 1]
    )
    write_transformer(tmp_path)
    transformers.FunnelModel(config).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="one vector of the same width for each piece"):
        Transformer(tmp_path)


def test_a_model_that_cannot_ignore_padding(tmp_path: Path) -> None:
    config = transformers.FNetConfig(
        vocab_size=120, hidden_size=16, num_hidden_layers=2, intermediate_size=24
    )
    write_transformer(tmp_path)
    transformers.FNetModel(config).save_pretrained(tmp_path)
    with pytest.raises(
        InputError, match="cannot load the transformer: .*attention_mask"
    ):
        Transformer(tmp_path)


@pytest.mark.parametrize("limit", [-5, 0, 1, 2, 3])
def test_a_limit_without_room_for_pieces(limit: int, folder: Path) -> None:
    """Two of the pieces are special tokens, and windows overlap by half."""
    change(folder / "tokenizer_config.json", model_max_length=limit)
    with pytest.raises(InputError, match=f"at least 4 pieces .*, got {limit}"):
        Transformer(folder)


def test_a_slow_tokenizer(folder: Path) -> None:
    for file in folder.glob("*token*"):
        file.unlink()
    (folder / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\n[PAD]\n[MASK]\na\n")
    change(folder / "tokenizer_config.json", tokenizer_class="BertJapaneseTokenizer")
    message = outcome(lambda: Transformer(folder))
    assert message is not None
    assert re.search("expected a fast tokenizer|cannot load", message)


@pytest.mark.parametrize("name", ["shards/1", "../x", "..", "/x", "missing", ""])
def test_an_index_names_files_of_its_folder(name: str, folder: Path) -> None:
    weights = folder / "model.safetensors"
    for target in ("shards/1", "../x"):
        (folder / target).parent.mkdir(exist_ok=True)
        shutil.copy(weights, folder / f"{target}.safetensors")
    found = transformers.AutoModel.from_pretrained(folder).state_dict()
    weights.unlink()
    index = {"weight_map": dict.fromkeys(found, f"{name}.safetensors")}
    change(folder / f"{weights.name}.index.json", **index)
    with pytest.raises(InputError, match="files of the same folder|cannot load"):
        Transformer(folder)


@pytest.mark.parametrize("is_old", [False, True])
def test_settings_that_name_the_files_of_another(is_old: bool, folder: Path) -> None:
    """As left by a training elsewhere; `is_old` with a list of words alone."""
    other = folder.parent / "other"
    pieces = transformers.AutoTokenizer.from_pretrained(folder).get_vocab()
    words = sorted(pieces, key=lambda word: pieces[word])
    if is_old:
        (folder / "tokenizer.json").unlink()
        (folder / "vocab.txt").write_text("\n".join(words))
    expected = Transformer(folder)(ids_of(SENTENCES)).layers
    write_transformer(other, "Roberta")
    (other / "vocab.txt").write_text("\n".join([*words[:5], *words[:4:-1]]))
    paths = {"tokenizer_file": str(other / "tokenizer.json")}
    paths |= {"vocab_file": str(other / "vocab.txt"), "special_tokens_map_file": "/x"}
    change(folder / "tokenizer_config.json", **paths)
    assert torch.equal(Transformer(folder)(ids_of(SENTENCES)).layers, expected)


@pytest.mark.parametrize("place", ["{other}/", "../other/"])
@pytest.mark.parametrize(
    ("file", "key", "name"),
    [
        ("tokenizer_config.json", "fast_tokenizer_files", "tokenizer.4.0.json"),
        ("config.json", "configuration_files", "config.4.0.json"),
    ],
)
def test_versions_in_another_folder(
    place: str, file: str, key: str, name: str, folder: Path
) -> None:
    """In the same folder, they are a part of the model."""
    other = folder.parent / "other"
    other.mkdir()
    for copy in (other / name, folder / name):
        shutil.copy(folder / name.replace(".4.0", ""), copy)
    change(folder / file, **{key: [name]})
    before = resolve(folder).sha256
    Transformer(folder)
    (folder / name).write_text("{}")
    assert resolve(folder).sha256 != before
    change(folder / file, **{key: [place.format(other=other) + name]})
    with pytest.raises(InputError, match="expected files of the same folder"):
        Transformer(folder)


def test_files_that_are_not_read(folder: Path) -> None:
    """Those of an adapter and of a chat have an effect elsewhere."""
    expected = Transformer(folder)(ids_of(SENTENCES)).layers
    digest = resolve(folder).sha256
    adapter = {"base_model_name_or_path": "owner/other", "peft_type": "LORA"}
    change(folder / "adapter_config.json", **adapter)
    for name in ("README.md", "chat_template.jinja", "adapter_model.safetensors"):
        (folder / name).write_text("{{")
    assert resolve(folder).sha256 == digest
    assert torch.equal(Transformer(folder)(ids_of(SENTENCES)).layers, expected)


def without_unknown_piece(written: dict[str, Any]) -> None:
    del written["model"]["vocab"]["[UNK]"]
    written["added_tokens"] = []


def without_special_tokens(written: dict[str, Any]) -> None:
    """Applying this frame is a panic in Rust."""
    written["post_processor"]["special_tokens"] = {}


def with_another_special_token(written: dict[str, Any]) -> None:
    """The model does not have it."""
    written["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [500]


@pytest.mark.parametrize(
    "change",
    [without_unknown_piece, without_special_tokens, with_another_special_token],
)
def test_a_tokenizer_that_fails_on_a_rare_text(change: Any, folder: Path) -> None:
    """Not in the middle of a corpus, but when the model is opened."""
    file = folder / "tokenizer.json"
    written = json.loads(file.read_text())
    change(written)
    file.write_text(json.dumps(written))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").unlink()
    with pytest.raises(
        InputError, match="^[^\n]*cannot load the transformer: "
    ) as error:
        Transformer(folder)
    assert "\n" not in str(error.value)


def test_an_error_in_the_middle_is_one_line(bert: Path) -> None:
    """Here of a model whose table of words is damaged in memory."""
    source = Transformer(bert)
    source.model.set_input_embeddings(torch.nn.Embedding(1, 16))
    with pytest.raises(InputError, match=f"^{bert}: cannot run the transformer: index"):
        source(ids_of(SENTENCES))


def test_a_model_with_pruned_heads(folder: Path) -> None:
    model = transformers.AutoModel.from_pretrained(folder)
    model.prune_heads({0: [0], 2: [1]})
    model.save_pretrained(folder)
    found = Transformer(folder)(ids_of(SENTENCES)).layers
    for row in (0, 2, 4):
        expected = reference(str(folder), SENTENCES[row])
        torch.testing.assert_close(
            found[:, row, : len(SENTENCES[row])], expected, atol=1e-5, rtol=0.0
        )


@pytest.mark.parametrize(
    ("version", "is_sound"),
    [
        ("4.47.1", False),
        ("4.48.0", True),
        ("4.49.0", True),
        ("4.51.3", True),
        ("4.52.0.dev0", False),
        ("4.55.4", False),
        ("4.57.3", False),
        ("5.0.0rc1", False),
        ("5.4.0", False),
        ("5.5.0", True),
        ("6.0", True),
        ("4.100.0", False),
    ],
)
def test_versions_with_known_holes(version: str, is_sound: bool) -> None:
    if is_sound:
        require_sound_version(version)
        return
    with pytest.raises(
        InputError, match="CVE-2026-4372.*pip install 'elmo-tasks.transformers"
    ):
        require_sound_version(version)


def test_a_version_with_a_hole_opens_no_model(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.__version__", "5.1.0")
    with pytest.raises(InputError, match="expected transformers 4.48 to 4.51"):
        Transformer(bert)


def test_pickles_are_refused(folder: Path) -> None:
    """Also as the model of a config; beside safetensors they are not read."""
    torch.save({"embeddings": Code(folder / "trace")}, folder / "pytorch_model.bin")
    Transformer(folder)
    (folder / "model.safetensors").unlink()
    problem = f"^{folder}: cannot load the transformer: .*model.safetensors"
    with pytest.raises(InputError, match=problem):
        Transformer(folder)
    with pytest.raises(InputError, match=problem):
        Layers.open(SourceSettings(model=folder))
    assert not (folder / "trace").exists()


def test_a_language_model_without_a_pooler(folder: Path) -> None:
    """It has a head more, and a pooler less."""
    expected = Transformer(folder)(ids_of(SENTENCES)).layers
    transformers.BertForMaskedLM.from_pretrained(folder).save_pretrained(folder)
    assert torch.equal(Transformer(folder)(ids_of(SENTENCES)).layers, expected)
