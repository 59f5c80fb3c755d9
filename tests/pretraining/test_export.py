"""A trained language model -> official files -> AllenNLP's ELMo, and back."""

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch

from elmo_tasks.bilm.bilm import BiLM
from elmo_tasks.elmo.models.card import CardSettings
from elmo_tasks.errors import InputError
from elmo_tasks.formats.bilm_files import Format
from elmo_tasks.formats.hdf5 import round_mantissa
from elmo_tasks.pretraining.export import export_run, load_start, load_trained
from tests.pretraining import toy


@pytest.fixture
def run(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def exported(run: Path, tmp_path: Path) -> Path:
    export_run(run, tmp_path / "exported")
    return tmp_path / "exported"


def test_a_run_without_weights(run: Path, tmp_path: Path) -> None:
    (run / "best.th").unlink()
    with pytest.raises(InputError, match="with best.th"):
        export_run(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"softmax/W": np.zeros((4, 12))}, "softmax/W of shape"),
        ({"softmax/b": np.zeros(4)}, "the softmax cannot be read"),
    ],
)
def test_invalid_softmax_files(
    exported: Path, values: dict[str, Any], message: str
) -> None:
    with h5py.File(exported / "softmax.hdf5", "w") as file:
        for name, array in values.items():
            file[name] = array
    with pytest.raises(InputError, match=message):
        load_trained(exported)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("options.json", '{"theme": "dark"}'),
        ("vocabulary.txt", "apple\nbanana\n"),
        ("weights.hdf5", "precious"),
        ("config.json", '{"model_type": "bert"}'),
        ("config.json", '{"model": {}}'),
        ("config.json", "x"),
    ],
)
def test_files_of_something_else_stay(
    name: str, text: str, run: Path, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    file = tmp_path / "out" / name
    file.write_text(text)
    chosen: Format = "safetensors" if name == "config.json" else "hdf5"
    with pytest.raises(InputError, match=f"out: expected a folder without {name}"):
        export_run(run, tmp_path / "out", chosen=chosen)
    assert list((tmp_path / "out").iterdir()) == [file] and file.read_text() == text


def test_an_export_that_was_killed_is_repeated(exported: Path, run: Path) -> None:
    for name in ("softmax.hdf5", "vocabulary.txt", "weights.hdf5"):
        (exported / name).unlink()
    export_run(run, exported)
    load_trained(exported)


NAMES = ["README.md", "options.json", "softmax.hdf5", "vocabulary.txt", "weights.hdf5"]


@pytest.mark.parametrize("bits", [None, 3])
def test_the_files_of_an_export(run: Path, tmp_path: Path, bits: int | None) -> None:
    """All numbers are rounded, those of the softmax too."""
    out = tmp_path / "new/out"
    assert export_run(run, out, mantissa_bits=bits) == run / "best.th"
    assert sorted(path.name for path in out.iterdir()) == NAMES
    before, after = load_trained(run), load_trained(out)
    assert after.source == out / "weights.hdf5" and before.source == run / "best.th"
    assert after.vocabulary.words == before.vocabulary.words
    own = before.model.state_dict()
    for name, value in after.model.state_dict().items():
        expected = torch.from_numpy(round_mantissa(own[name].numpy(), bits))
        assert torch.equal(value, expected), name
    for trained in (before, after):
        assert not trained.model.training
        assert all(one.requires_grad for one in trained.model.parameters())


def test_an_export_as_safetensors(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    names = ["README.md", "config.json", "model.safetensors", "softmax.hdf5"]
    names.append("vocabulary.txt")
    for _ in range(2):  # the second replaces the first
        export_run(run, out, chosen="safetensors")
        assert sorted(path.name for path in out.iterdir()) == names
    before, after = load_trained(run), load_trained(out)
    assert after.source == out / "model.safetensors"
    own = before.model.state_dict()
    for name, value in after.model.state_dict().items():
        assert torch.equal(value, own[name]), name
    bilm, trained, _ = load_start(str(out))
    assert trained is not None and trained.model.bilm is bilm
    (out / "softmax.hdf5").unlink()
    assert load_start(str(out)).trained is None
    with pytest.raises(InputError, match=r"missing: softmax.hdf5"):
        load_trained(out)


def test_a_card_has_the_perplexity_of_the_best_validation(
    run: Path, tmp_path: Path
) -> None:
    about = CardSettings(language="la", text="letters")
    export_run(run, tmp_path / "unknown", about=about)
    assert "| held-out perplexity | not stated |" in card(tmp_path / "unknown")
    points = [{"step": step, "perplexity": 210.5 - step} for step in (1, 3, 2)]
    lines = [json.dumps(point) for point in points]
    (run / "curve.jsonl").write_text("\n".join(lines) + "\n")
    export_run(run, tmp_path / "known", about=about)
    text = card(tmp_path / "known")
    assert "| held-out perplexity | 207.5 (`<UNK>`: not stated) |" in text
    assert "# known\n" in text
    assert "| language | la |" in text and "| text | letters |" in text
    load_trained(tmp_path / "known")
    (run / "curve.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="curve.jsonl: expected validations, got Key"):
        export_run(run, tmp_path / "damaged", about=about)
    assert not (tmp_path / "damaged").exists()


def card(folder: Path) -> str:
    return (folder / "README.md").read_text("utf-8")


def test_where_a_bilm_is_taken_from(run: Path, exported: Path, tmp_path: Path) -> None:
    names = ("options.json", "weights.hdf5")
    pair = "+".join([str(exported / name) for name in names])
    for source, has_softmax in ((run, True), (exported, True), (pair, False)):
        bilm, trained, _ = load_start(str(source))
        assert isinstance(bilm, BiLM) and (trained is not None) == has_softmax
        if trained is not None:
            assert trained.model.bilm is bilm
    alone = tmp_path / "alone"
    alone.mkdir()
    for name in names:
        shutil.copy(exported / name, alone / name)
    assert load_start(str(alone)).trained is None
    with pytest.raises(InputError, match="none: no such model"):
        load_start(str(tmp_path / "none"))
    with pytest.raises(InputError, match="with its softmax, got a biLM without"):
        load_trained("elmo-small")


def test_other_names_of_a_language_model(exported: Path, tmp_path: Path) -> None:
    """Its ZIP; by default the embedded one."""
    found = load_trained(shutil.make_archive(str(tmp_path / "packed"), "zip", exported))
    assert found.vocabulary.words == load_trained(exported).vocabulary.words
    assert len(load_trained().vocabulary) > 10_000
    assert len(load_trained("bundled").vocabulary) > 10_000
    bilm, trained, _ = load_start("bundled")
    assert trained is not None and trained.model.bilm is bilm


def test_the_folder_of_a_run_with_an_export_in_it(run: Path, exported: Path) -> None:
    """The config says that it is a run."""
    shutil.copy(exported / "options.json", run / "options.json")
    assert load_trained(run).source == run / "best.th"
    (run / "config.json").unlink()
    with pytest.raises(
        InputError, match="expected a biLM's options.json and weights.hdf5"
    ):
        load_trained(run)


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("{", "config.json:1: expected the "),
        ("[]", "config.json: it has no model: "),
        ("{}", "config.json: it has no model: 'model'"),
        ('{"model": {}}', "config.json: it has no model: 'type'"),
        ('{"model": "elmo_tasks_bilm"}', "config.json: it has no model: "),
        (
            '{"model": {"type": "other"}}',
            "run: expected a run of elmo_tasks_bilm or elmo_tasks_tuned_bilm, got other",
        ),
    ],
)
def test_runs_of_other_configs(run: Path, config: str, problem: str) -> None:
    (run / "config.json").write_text(config)
    with pytest.raises(InputError) as caught:
        load_trained(run)
    assert problem in str(caught.value)


def test_the_options_of_a_tuned_run(run: Path, exported: Path, tmp_path: Path) -> None:
    """Those in its folder come first, since the biLM it started from may be gone."""
    model = {"type": "elmo_tasks_tuned_bilm", "bilm": str(exported)}
    (run / "config.json").write_text(json.dumps({"model": model}))
    assert (
        load_trained(run).model.bilm.options == load_start(str(exported)).bilm.options
    )
    shutil.copy(exported / "options.json", run / "options.json")
    shutil.rmtree(exported)
    load_trained(run)
    (run / "options.json").unlink()
    with pytest.raises(InputError, match="/exported: no such model"):
        load_trained(run)


def test_weights_of_other_models(run: Path) -> None:
    state = torch.load(run / "best.th")
    for changed in (
        {"other": torch.ones(2)},
        {**state, "language_model.more": torch.ones(2)},
        {name: value[:1] for name, value in state.items()},
    ):
        torch.save(changed, run / "best.th")
        with pytest.raises(InputError, match="best.th: it does not have this model's"):
            load_trained(run)
    torch.save({**state, "of_another_part": torch.ones(2)}, run / "best.th")
    load_trained(run)
    (run / "best.th").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match="best.th: it does not have this model's"):
        load_trained(run)


@pytest.mark.parametrize("name", ["softmax/W", "softmax/b"])
def test_numbers_of_a_softmax_that_are_not_finite(name: str, exported: Path) -> None:
    with h5py.File(exported / "softmax.hdf5", "r+") as file:
        file[name][-1] = np.inf
    with pytest.raises(InputError, match=f"expected finite numbers in {name}"):
        load_trained(exported)
