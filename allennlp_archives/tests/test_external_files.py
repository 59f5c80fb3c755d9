"""What an archive does not contain: named in one line, given by path, never fetched."""

import contextlib
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

pytest.importorskip("allennlp_models", reason="tested by make test-models")

import torch
from allennlp.common.util import LOADED_SPACY_MODELS

from allennlp_archives import blank_spacy
from allennlp_archives.external_files import is_published
from elmo_tasks.errors import InputError
from elmo_tasks.training.archives.loading import load_archive
from elmo_tasks.training.archives.predictors import predictor_of
from families import BERT, FAMILIES, ROBERTA, T5
from helpers import (
    Trained,
    assert_alike,
    changed,
    described,
    given,
    local,
    opened,
    write_lines,
)
from tests.fuzz.subjects import with_member
from tests.test_flow import elmo_tasks

Train = Callable[[str], Trained]
ELMO = "https://allennlp.s3.amazonaws.com/models/elmo/2x4096_512_2048cnn_2xhighway/"
PUBLISHED = "elmo_2x4096_512_2048cnn_2xhighway"


@contextlib.contextmanager
def heard(name: str) -> Iterator[list[str]]:
    """The warnings of a logger."""
    said: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(record.getMessage())

    handler = Handler(logging.WARNING)
    logging.getLogger(name).addHandler(handler)
    try:
        yield said
    finally:
        logging.getLogger(name).removeHandler(handler)


def shown(archive: Path, paths: Mapping[str, object] = MappingProxyType({})) -> str:
    return "\n".join(described(archive, paths))


def test_a_transformer_is_named(trained: Train, tmp_path: Path) -> None:
    archive = trained("mc").archive
    lines = write_lines("mc", tmp_path / "in.jsonl")
    with pytest.raises(InputError) as got:
        elmo_tasks("predict", archive, lines)
    assert str(got.value) == (
        f"{archive}: the archive needs what is not on this machine: the transformer "
        f"{ROBERTA} (ALLENNLP_ARCHIVES_LOCAL='{{\"{ROBERTA}\": PATH}}' says where it is, "
        "--allow-downloads fetches it)"
    )
    assert f"needs: the transformer {ROBERTA}, NOT FOUND" in shown(archive)


def test_a_transformer_that_the_config_leaves_out_is_named(
    trained: Train, tmp_path: Path
) -> None:
    def without_name(text: str) -> str:
        config = json.loads(text)
        del config["model"]["transformer_model"]
        return json.dumps(config)

    archive = changed(trained("mc").archive, without_name, tmp_path / "model.tar.gz")
    with pytest.raises(InputError, match=f"{ROBERTA}, the transformer roberta-large "):
        load_archive(archive)


def test_a_path_that_is_not_there(trained: Train) -> None:
    archive = trained("mc").archive
    with pytest.raises(
        InputError, match="^/nowhere: ALLENNLP_ARCHIVES_LOCAL: no such file or folder"
    ):
        opened(archive, {ROBERTA: "/nowhere"})


@pytest.mark.parametrize("text", ["[]", '{"a": 3}', "a=b"])
def test_paths_that_are_no_object_of_texts(
    text: str, trained: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLENNLP_ARCHIVES_LOCAL", text)
    with pytest.raises(InputError, match="ARCHIVES_LOCAL: expected a JSON object of"):
        load_archive(trained("mc").archive)


def test_the_folder_of_a_transformer_lacks_files(
    trained: Train, place: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "some"
    folder.mkdir()
    with pytest.raises(InputError, match="some/config.json: cannot read") as got:
        opened(trained("mc").archive, {ROBERTA: str(folder)})
    assert "\n" not in str(got.value)


def test_the_transformer_of_an_archive_is_of_text(
    trained: Train, tmp_path: Path
) -> None:
    """Models of images can name a backbone at any address, whose code would run."""
    config = {"model_type": "conditional_detr", "backbone": "owner/code"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(InputError, match="a model of text, got conditional_detr"):
        opened(trained("mc").archive, {ROBERTA: str(tmp_path)})


def test_the_name_of_a_transformer_matters_not_that_of_its_folder(
    trained: Train, place: Path, tmp_path: Path
) -> None:
    """The reader of SRL makes words lower-case if the name has `uncased`."""
    run = trained("structured_prediction, transformer")
    folder = tmp_path / "my-uncased-copy"
    shutil.copytree(place / BERT, folder)
    loaded = opened(run.archive, {BERT: str(folder)})
    assert loaded.dataset_reader.lowercase_input is False
    to_uncased = changed(
        run.archive,
        lambda text: text.replace(BERT, "bert-tiny-uncased"),
        tmp_path / "model.tar.gz",
    )
    shutil.copytree(place / BERT, tmp_path / "plain")
    local = {"bert-tiny-uncased": str(tmp_path / "plain")}
    assert opened(to_uncased, local).dataset_reader.lowercase_input is True


def test_a_transformer_needs_no_weights_where_the_archive_has_them(
    trained: Train, place: Path, tmp_path: Path
) -> None:
    name = "classification, transformer"
    run = trained(name)
    folder = tmp_path / ROBERTA
    shutil.copytree(
        place / ROBERTA, folder, ignore=shutil.ignore_patterns("*.safetensors")
    )
    loaded = opened(run.archive, {ROBERTA: str(folder)})
    found = predictor_of(loaded).predict_json(FAMILIES[name].lines[0])
    assert_alike(found, run.predictions[0])


@pytest.mark.parametrize("longer", [f"{ROBERTA}/more", "/", ".."])
def test_a_name_that_begins_as_another_does(
    trained: Train, place: Path, tmp_path: Path, longer: str
) -> None:
    """Nothing is written to the user's folders."""

    def with_both(text: str) -> str:
        config = json.loads(text)
        config["dataset_reader"]["token_indexers"]["tokens"]["model_name"] = longer
        return json.dumps(config)

    run = trained("classification, transformer")
    archive = changed(run.archive, with_both, tmp_path / "model.tar.gz")
    folder = tmp_path / "roberta"
    shutil.copytree(place / ROBERTA, folder)
    before = sorted(folder.iterdir())
    loaded = opened(archive, {ROBERTA: str(folder), longer: str(folder)})
    found = predictor_of(loaded).predict_json(
        FAMILIES["classification, transformer"].lines[0]
    )
    assert_alike(found, run.predictions[0])
    assert sorted(folder.iterdir()) == before


def test_t5_needs_the_older_file_of_weights(
    trained: Train, place: Path, tmp_path: Path
) -> None:
    """AllenNLP's own T5 reads no other."""
    run = trained("generation, T5")
    folder = tmp_path / T5
    shutil.copytree(place / T5, folder, ignore=shutil.ignore_patterns("*.bin"))
    with pytest.raises(InputError) as got:
        opened(run.archive, {T5: str(folder)})
    message = f"not on this machine: the pytorch_model.bin of the transformer {T5} "
    assert message in str(got.value)
    text = shown(run.archive, {T5: str(folder)})
    assert f"needs: the pytorch_model.bin of the transformer {T5}, NOT FOUND" in text


CACHED = "owner/roberta-cached"


def test_a_transformer_in_the_cache_of_the_hub(
    trained: Train, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found without a connection, which would be refused."""
    from huggingface_hub import constants

    commit = "0" * 40
    repository = tmp_path / "hub" / "models--owner--roberta-cached"
    shutil.copytree(place / ROBERTA, repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    run = trained("mc")
    archive = changed(
        run.archive, lambda text: text.replace(ROBERTA, CACHED), tmp_path / "a.tar.gz"
    )
    loaded = load_archive(archive)
    found = predictor_of(loaded).predict_json(FAMILIES["mc"].lines[0])
    assert_alike(found, run.predictions[0])
    assert loaded.config["model"]["transformer_model"] == CACHED
    file = repository / "snapshots" / commit / "config.json"
    file.write_text(json.dumps({"model_type": "conditional_detr"}))
    with pytest.raises(InputError, match="a model of text, got conditional_detr"):
        load_archive(archive, allow_downloads=True)


def without_elmo_files(text: str) -> str:
    config = json.loads(text)
    elmo = config["model"]["text_field_embedder"]["token_embedders"]["elmo"]
    elmo["options_file"] = "/gone/options.json"
    elmo["weight_file"] = "/gone/weights.hdf5"
    return json.dumps(config)


def test_the_weights_of_elmo_are_the_archive_s(
    trained: Train, place: Path, tmp_path: Path
) -> None:
    run = trained("pair_classification")
    archive = changed(run.archive, without_elmo_files, tmp_path / "model.tar.gz")
    with pytest.raises(
        InputError, match="the file of ELMo's options /gone/options.json"
    ):
        load_archive(archive)
    local = {"/gone/options.json": str(place / "bilm" / "options.json")}
    predictor = predictor_of(opened(archive, local))
    found = predictor.predict_json(FAMILIES["pair_classification"].lines[0])
    assert_alike(found, run.predictions[0])


def published(text: str) -> str:
    config = json.loads(text)
    elmo = config["model"]["text_field_embedder"]["token_embedders"]["elmo"]
    elmo["options_file"] = f"{ELMO}{PUBLISHED}_options.json"
    elmo["weight_file"] = f"{ELMO}{PUBLISHED}_weights.hdf5"
    return json.dumps(config)


def test_a_published_elmo_needs_no_files(trained: Train, tmp_path: Path) -> None:
    run = trained("pair_classification")
    archive = changed(run.archive, published, tmp_path / "model.tar.gz")
    predictor = predictor_of(load_archive(archive))
    found = predictor.predict_json(FAMILIES["pair_classification"].lines[0])
    assert_alike(found, run.predictions[0])
    assert "NOT" not in shown(archive)


def test_a_published_file_is_known_by_its_name() -> None:
    for name in (f"{PUBLISHED}_weights.hdf5", f"{PUBLISHED}_options.json"):
        assert is_published(f"https://example.org/mirror/{name}")
    for name in ("https://example.org/options.json", "weights.bin", ""):
        assert not is_published(name)


def test_elmo_by_its_name_alone_is_the_published_one(
    trained: Train, tmp_path: Path
) -> None:
    def by_name(text: str) -> str:
        config = json.loads(text)
        embedders = config["model"]["text_field_embedder"]["token_embedders"]
        embedders["elmo"] = "elmo_token_embedder"
        return json.dumps(config)

    run = trained("pair_classification")
    archive = changed(run.archive, by_name, tmp_path / "model.tar.gz")
    predictor = predictor_of(load_archive(archive))
    found = predictor.predict_json(FAMILIES["pair_classification"].lines[0])
    assert_alike(found, run.predictions[0])


@pytest.fixture
def no_spacy_model() -> Iterator[None]:
    LOADED_SPACY_MODELS.clear()
    blank_spacy._warn.cache_clear()
    yield
    assert not LOADED_SPACY_MODELS


@pytest.mark.usefixtures("no_spacy_model")
@pytest.mark.parametrize("name", ["tagging", "coref", "rc", "classification"])
def test_one_warning_without_spacys_model(
    name: str, trained: Train, tmp_path: Path
) -> None:
    run = trained(name)
    lines = write_lines(name, tmp_path / "in.jsonl")
    out = tmp_path / "out.jsonl"
    with heard("allennlp_archives.blank_spacy") as said:
        elmo_tasks("predict", run.archive, lines, "--output-file", out)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert_alike(found, json.loads(json.dumps(run.predictions)))
    assert len(said) == 1
    assert "python -m spacy download en_core_web_sm" in said[0]


@pytest.mark.usefixtures("no_spacy_model")
@pytest.mark.parametrize(
    ("name", "is_needed"),
    [
        ("tagging", True),  # by the predictor
        ("rc", True),  # by the reader's default
        ("classification", True),  # by the predictor, as the reader has no tokenizer
        ("classification, transformer", False),
        ("generation", False),
        ("pair_classification", False),
    ],
)
def test_info_says_that_spacys_rules_split_texts(
    name: str, is_needed: bool, trained: Train, place: Path
) -> None:
    text = shown(trained(name).archive, given(name, place))
    line = "needs: spaCy's en_core_web_sm, not installed: its rules split texts"
    assert (line in text) is is_needed


def default_tokenizer(text: str) -> str:
    config = json.loads(text)
    config["dataset_reader"]["tokenizer"] = {"end_tokens": ["@@NULL@@"]}
    return json.dumps(config)


@pytest.mark.usefixtures("no_spacy_model")
def test_info_knows_the_default_of_tokenizers(trained: Train, tmp_path: Path) -> None:
    """Published archives of textual entailment have such a config."""
    archive = changed(
        trained("pair_classification").archive,
        default_tokenizer,
        tmp_path / "model.tar.gz",
    )
    assert "spaCy's en_core_web_sm, not installed" in shown(archive)


TAGGED = [name for name, family in FAMILIES.items() if family.needs_tags]


@pytest.mark.usefixtures("no_spacy_model")
@pytest.mark.parametrize("name", TAGGED)
def test_parts_of_speech_need_the_model(
    name: str, trained: Train, place: Path, tmp_path: Path
) -> None:
    """A parser would take every word for an unknown part of speech."""
    run = trained(name)
    lines = write_lines(name, tmp_path / "in.jsonl")
    message = "needs parts of speech, .* en_core_web_sm"
    with local(given(name, place)), pytest.raises(InputError, match=message):
        elmo_tasks("predict", run.archive, lines)


def state_of(run: Trained) -> dict[str, torch.Tensor]:
    return dict(torch.load(run.folder / "best.th", weights_only=True))


def with_state(run: Trained, state: dict[str, torch.Tensor], target: Path) -> Path:
    """The run's archive with other weights."""
    torch.save(state, target.with_suffix(".th"))
    content = target.with_suffix(".th").read_bytes()
    target.write_bytes(with_member("weights.th", content, run.archive))
    return target


@pytest.mark.parametrize(
    ("name", "constants"),
    [
        (
            "mc",
            {"embeddings.position_ids": torch.arange(98)[None]},
        ),
        (
            "lm, next token",
            {
                "h.0.attn.bias": torch.ones(1, 1, 96, 96, dtype=torch.uint8).tril(),
                "h.0.attn.masked_bias": torch.tensor(-1e4),
            },
        ),
    ],
)
def test_constants_of_older_transformers(
    name: str,
    constants: dict[str, torch.Tensor],
    trained: Train,
    place: Path,
    tmp_path: Path,
) -> None:
    run = trained(name)
    state = state_of(run)
    first = next(key for key in state if ".transformer_model." in key)
    prefix = first.partition(".transformer_model.")[0] + ".transformer_model."
    added = {f"{prefix}{key}": value for key, value in constants.items()}
    archive = with_state(run, state | added, tmp_path / "model.tar.gz")
    loaded = opened(archive, given(name, place))
    found = predictor_of(loaded).predict_json(FAMILIES[name].lines[0])
    assert_alike(found, json.loads(json.dumps(run.predictions[0])))
    others = {key: value + 1 for key, value in added.items()}
    archive = with_state(run, state | others, tmp_path / "other.tar.gz")
    with pytest.raises(InputError, match="the weights do not fit .* keys: "):
        opened(archive, given(name, place))


@pytest.mark.parametrize("name", FAMILIES)
def test_all_weights_must_be_there(
    name: str, trained: Train, place: Path, tmp_path: Path
) -> None:
    run = trained(name)
    state = state_of(run)
    state.pop(list(state)[-1])
    archive = with_state(run, state, tmp_path / "model.tar.gz")
    with pytest.raises(InputError, match="the weights do not fit the configuration: "):
        opened(archive, given(name, place))
