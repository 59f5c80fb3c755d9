"""A trained language model -> official files -> AllenNLP's own ELMo, and back."""

import json
import re
import tarfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from allennlp.modules.elmo import Elmo, _ElmoBiLm
from allennlp.modules.elmo import batch_to_ids as allennlp_ids

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.pretraining import export
from elmo_tasks.pretraining.evaluation import perplexity
from elmo_tasks.pretraining.export import EXPORTED, export_run, load_exported, load_run, load_trained
from elmo_tasks.pretraining.language_model import BiLanguageModel
from tests.hdf5_elsewhere import ELSEWHERE, move
from tests.pretraining import toy

WORDS = sorted({word for line in toy.sentences(100, seed=1) for word in line.split()})
SENTENCES = [line.split() for line in toy.sentences(3, seed=5)] + [["Zürich", "?"], ["x" * 60]]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    toy.fake_run(tmp_path / "run", WORDS)
    return tmp_path / "run"


@pytest.fixture
def exported(run: Path, tmp_path: Path) -> Path:
    export_run(run, tmp_path / "exported")
    return tmp_path / "exported"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(toy.sentences(20, seed=9)) + "\nsomething unheard of\n")
    return path


def test_it_writes_four_files_and_nothing_else(exported: Path) -> None:
    assert sorted(path.name for path in exported.iterdir()) == sorted(EXPORTED)
    assert (exported / "vocabulary.txt").read_text().split("\n")[:4] == ["<S>", "</S>", "<UNK>", WORDS[0]]
    with h5py.File(exported / "softmax.hdf5") as file:
        assert file["softmax/W"].shape == (len(WORDS) + 3, 12)
        assert file["softmax/b"].shape == (len(WORDS) + 3,)


def test_allennlp_reads_the_files(exported: Path, run: Path) -> None:
    files = [str(exported / name) for name in ("options.json", "weights.hdf5")]
    theirs = _ElmoBiLm(*files).eval()
    ours = load_run(run).model.bilm
    with torch.no_grad():
        wanted = theirs(allennlp_ids(SENTENCES))["activations"]
        found = ours(batch_to_ids(SENTENCES))
    assert len(wanted) == len(found.layers) == 3
    lengths = [len(sentence) for sentence in SENTENCES]
    for theirs_layer, layer in zip(wanted, found.layers, strict=True):
        for row, length in enumerate(lengths):
            torch.testing.assert_close(layer[row, :length], theirs_layer[row, 1 : length + 1], rtol=0, atol=1e-5)
    elmo = Elmo(*files, num_output_representations=1, dropout=0.0).eval()
    (mixed,) = elmo(allennlp_ids(SENTENCES))["elmo_representations"]
    torch.testing.assert_close(mixed[0], found.layers[:, 0].mean(0), rtol=0, atol=1e-5)


def test_the_perplexity_of_the_files_is_that_of_the_run(exported: Path, run: Path, text: Path) -> None:
    ours = load_run(run)
    model, vocabulary = load_exported(exported)
    ((_, wanted),) = perplexity(ours.model, ours.vocabulary, [text])
    ((_, found),) = perplexity(model, vocabulary, [text])
    assert found == wanted
    assert found.unknown_share == pytest.approx(6 / found.tokens)


def test_rounding_changes_the_values_within_its_bound(exported: Path, run: Path, tmp_path: Path) -> None:
    export_run(run, tmp_path / "rounded", mantissa_bits=8)
    for name, dataset in (("softmax.hdf5", "softmax/W"), ("weights.hdf5", "CNN_proj/W_proj")):
        with h5py.File(exported / name) as whole, h5py.File(tmp_path / "rounded" / name) as rounded:
            before, after = whole[dataset][...], rounded[dataset][...]
        assert not np.array_equal(before, after)
        np.testing.assert_allclose(after, before, rtol=2.0**-9)
        assert after.dtype == np.float32


def test_perplexity_file_by_file_and_over_all(run: Path, text: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("the cook bakes .\n" * 4)
    trained = load_run(run)
    (first, a), (second, b), (last, both) = perplexity(trained.model, trained.vocabulary, [text, other])
    assert (first, second, last) == (str(text), str(other), "all")
    assert both.tokens == a.tokens + b.tokens
    weighted = (np.log(a.forward) * a.tokens + np.log(b.forward) * b.tokens) / both.tokens
    assert np.log(both.forward) == pytest.approx(weighted)
    assert both.geometric == pytest.approx((both.forward * both.backward) ** 0.5)
    ((_, capped),) = perplexity(trained.model, trained.vocabulary, [other], max_tokens=7)
    assert capped.tokens == 2 * 10
    with pytest.raises(InputError, match="max_tokens must be at least 1, found 0"):
        list(perplexity(trained.model, trained.vocabulary, [other], max_tokens=0))


def test_perplexity_moves_the_text_to_the_device_of_the_model(run: Path, text: Path) -> None:
    """Fine-tuning measures a model that may be on a GPU; the device here only shows where the batch comes."""
    trained = load_run(run)
    batches = []
    trained.model.to("meta").register_forward_pre_hook(lambda model, given: batches.append(given[0]))
    with pytest.raises(RuntimeError):  # no values on this device
        list(perplexity(trained.model, trained.vocabulary, [text]))
    assert batches[0].characters.device == batches[0].forward_targets.device == torch.device("meta")


def test_perplexity_does_not_depend_on_the_steps_unrolled(run: Path, text: Path) -> None:
    trained = load_run(run)
    reports = [
        dict(perplexity(trained.model, trained.vocabulary, [text], rows=2, unroll=unroll))[str(text)]
        for unroll in (1, 7, 50)
    ]
    for report in reports[1:]:
        assert report.geometric == pytest.approx(reports[0].geometric, rel=1e-5)
        assert report.tokens == reports[0].tokens


def save_checkpoint(run: Path, name: str, value: float) -> None:
    """A checkpoint that can be told by its softmax bias."""
    model = load_run(run).model
    with torch.no_grad():
        model.softmax.bias.fill_(value)
    state = {f"language_model.{key}": tensor for key, tensor in model.state_dict().items()}
    torch.save(state, run / name)


def test_the_best_weights_go_before_the_latest(run: Path) -> None:
    for name, value in (("model_state_e2_b0.th", 2.0), ("model_state_e10_b0.th", 10.0)):
        save_checkpoint(run, name, value)
    assert load_run(run).source == run / "best.th"
    (run / "best.th").unlink()
    found = load_run(run)
    assert found.source == run / "model_state_e10_b0.th"
    assert float(found.model.softmax.bias[0].detach()) == 10.0


def test_a_half_written_checkpoint_is_passed_over(run: Path) -> None:
    save_checkpoint(run, "model_state_e1_b0.th", 1.0)
    whole = (run / "best.th").read_bytes()
    (run / "best.th").write_bytes(whole[:1000])
    (run / "model_state_e2_b0.th").write_bytes(whole[: len(whole) // 2])
    assert load_run(run).source == run / "model_state_e1_b0.th"


def test_an_archive_is_as_good_as_its_folder(run: Path, tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "model.tar.gz", "w:gz") as archive:
        for name, member in (("best.th", "weights.th"), ("config.json", "config.json"), ("vocabulary", "vocabulary")):
            archive.add(run / name, arcname=member)
    found, wanted = load_run(tmp_path / "model.tar.gz"), load_run(run)
    assert found.source == tmp_path / "model.tar.gz"
    assert_same_model(found.model, wanted.model)


def test_an_exported_model_trains_on(exported: Path, run: Path) -> None:
    model, _ = load_exported(exported, negatives=5, dropout=0.2, precision="bfloat16")
    assert_same_model(model, load_run(run).model)
    assert all(parameter.requires_grad for parameter in model.parameters())
    assert (model.softmax.sampler is not None, model.dropout, model.precision) == (True, 0.2, torch.bfloat16)
    assert_same_model(load_trained(exported).model, model)


def assert_same_model(found: BiLanguageModel, wanted: BiLanguageModel) -> None:
    states = found.state_dict(), wanted.state_dict()
    assert states[0].keys() == states[1].keys()
    assert len(states[0]) > 20
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])


def remove(name: str) -> Any:
    return lambda run: (run / name).unlink()


def write(name: str, text: str) -> Any:
    return lambda run: (run / name).write_text(text)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (remove("best.th"), "no whole weights yet"),
        (remove("config.json"), "config.json is missing"),
        (remove("vocabulary/words.txt"), "words.txt is missing"),
        (write("config.json", "{"), "config.json names no model"),
        (write("config.json", '{"model": {"type": "basic_classifier"}}'), "found basic_classifier"),
        (write("vocabulary/words.txt", "<S>\n</S>\n<UNK>\na\n"), "best.th does not hold this model's weights"),
    ],
)
def test_a_spoilt_run_is_one_clear_error(run: Path, tmp_path: Path, spoil: Any, message: str) -> None:
    spoil(run)
    with pytest.raises(InputError, match=message):
        export_run(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_no_run_and_no_archive(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone: a run's folder or archive was wanted"):
        load_run(tmp_path / "gone")
    (tmp_path / "text.tar.gz").write_text("no archive")
    with pytest.raises(InputError, match=r"text.tar.gz: not an archive of a run"):
        load_run(tmp_path / "text.tar.gz")
    with pytest.raises(InputError, match="mantissa bits must be from 0 to 23, found 24"):
        export_run(tmp_path, tmp_path / "out", mantissa_bits=24)


def test_a_missing_file_of_an_export_is_named(exported: Path) -> None:
    (exported / "softmax.hdf5").unlink()
    with pytest.raises(InputError, match=r"missing: softmax.hdf5 \(`allennlp bilm export`"):
        load_exported(exported)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"softmax/W": np.zeros((4, 12))}, r"softmax/W has the shape \(4, 12\)"),
        ({"softmax/b": np.zeros(4)}, "the dataset softmax/W cannot be read"),
        ({"softmax/W": np.full((len(WORDS) + 3, 12), np.nan)}, "softmax/W holds values that are not finite"),
    ],
)
def test_a_spoilt_softmax_is_one_clear_error(exported: Path, values: dict[str, Any], message: str) -> None:
    with h5py.File(exported / "softmax.hdf5", "w") as file:
        for name, array in values.items():
            file[name] = array
    with pytest.raises(InputError, match=message):
        load_exported(exported)


@pytest.mark.parametrize("to", ELSEWHERE)
def test_softmax_values_outside_of_the_file_are_refused(exported: Path, to: str) -> None:
    move(exported / "softmax.hdf5", "softmax/b", to)
    with pytest.raises(InputError, match=f"softmax.hdf5: expected 'softmax/b' in the file itself, got {to} "):
        load_exported(exported)


def test_nothing_half_written_where_the_disk_is_full(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The third file fails: an older export stays as it was."""
    out = tmp_path / "out"
    export_run(run, out)
    (out / "card.md").write_text("kept")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(*arguments: Any, **named: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export, "write_hdf5", full)
    with pytest.raises(InputError, match="out: cannot write: No space left on device"):
        export_run(run, out, mantissa_bits=3)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_that_cannot_be_made(run: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path}/file: cannot write")):
        export_run(run, tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "run"]


def test_a_read_only_folder(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Denied by the file system itself: root is not stopped by a folder's mode."""

    def denied(path: Path, *arguments: Any, **named: Any) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", denied)
    with pytest.raises(InputError, match="out: cannot write: Permission denied"):
        export_run(run, tmp_path / "out")


def test_the_options_are_the_runs(exported: Path) -> None:
    assert json.loads((exported / "options.json").read_text()) == toy.OPTIONS
    assert BiLM.from_files(exported / "options.json", exported / "weights.hdf5").options.dim == 24
