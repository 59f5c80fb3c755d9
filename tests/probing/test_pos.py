"""Parts of speech: which layer knows them, which words were seen, and what must not be scored."""

from pathlib import Path

import numpy as np
import pytest

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.probing import layers, pos
from elmo_tasks.probing.pos import BASELINE, PosReport, probe_pos
from elmo_tasks.probing.softmax import fit_softmax
from elmo_tasks.probing.tagged import read_tagged
from tests.elmo.samples import random_bilm
from tests.probing.samples import encoder_of, source_of
from tests.tiny import FIXTURES

TRAIN, DEV = FIXTURES / "pos" / "train.conllu", FIXTURES / "pos" / "dev.underscore"


def lengths(words: list[str], t: int) -> list[list[float]]:
    """Layer 0 knows nothing, layer 1 the length of the word, layer 2 that of the word before."""
    return [[1.0], [float(len(words[t]))], [float(len(words[t - 1])) if t else 0.0]]


SOURCE = source_of(encoder_of(lengths))


def probe(folder: Path, train: str, test: str) -> PosReport:
    for name, text in (("train", train), ("test", test)):
        (folder / name).write_text(text)
    return probe_pos(SOURCE, folder / "train", folder / "test")


def told(report: PosReport) -> dict[str, tuple[float | None, ...]]:
    return {row.name: (row.accuracy, row.seen, row.unseen) for row in report.rows}


def test_by_hand(tmp_path: Path) -> None:
    """Short words are S, long ones L, but that `ox` is an L after a long word."""
    train = "a/S harbour/L ox/L it/S\nb/S c/S ferries/L ox/L ox/S ox/S\n" * 10
    report = probe(tmp_path, train, "ox/S a/S steamers/L\ncoal/X\n")
    found = told(report)
    assert found["biLM 1"] == (75, 100, 50)
    assert found["biLM 0"] == (50, 100, 0)  # S, of which there are more
    assert found[BASELINE] == (50, 100, 0)  # no word was seen once, so that unseen ones have the most frequent tag: S
    assert (report.tags, report.train_tokens, report.test_tokens, report.unseen_tokens) == (2, 100, 4, 2)


def test_the_most_frequent_tag(tmp_path: Path) -> None:
    """`ox` is most often S; of the words seen once two are L and one is S, so that unseen ones are L."""
    report = probe(tmp_path, "ox/S ox/S ox/L harbour/L ferry/L a/S\n", "ox/L ox/S sloop/L it/S\n")
    assert told(report)[BASELINE] == (50, 50, 50)


def test_words_differ_by_case_and_may_all_be_seen(tmp_path: Path) -> None:
    assert probe(tmp_path, "Ox/S ferry/L\n", "ox/S ferry/L\n").unseen_tokens == 1
    assert told(probe(tmp_path, "ox/S ferry/L\n", "ferry/L ox/S\n"))["biLM 1"] == (100, 100, None)


def test_layers_by_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "BLOCK_TOKENS", 30)
    bilm = random_bilm().eval().requires_grad_(False)
    rows = {row.name: row for row in probe_pos(source_of(bilm), TRAIN, DEV).rows}
    train, dev = list(read_tagged(TRAIN)), list(read_tagged(DEV))
    tags = sorted({tag for sentence in train for tag in sentence.tags})
    for layer in range(3):
        one, other = (
            np.concatenate([bilm(batch_to_ids([s.words])).layers[layer, 0].half().numpy() for s in part])
            for part in (train, dev)
        )
        fitted = fit_softmax(one, [tags.index(tag) for s in train for tag in s.tags], classes=len(tags))
        right = [tags[p] == tag for p, tag in zip(fitted.predict(other), (t for s in dev for t in s.tags), strict=True)]
        assert rows[f"biLM {layer}"].accuracy == pytest.approx(100 * np.mean(right))
        assert rows[f"biLM {layer}"].fitted is not None and rows[f"biLM {layer}"].fitted.converged


def test_the_training_file_is_not_scored_whatever_it_is_called() -> None:
    with pytest.raises(InputError, match=r"train\.slash: a file that was not trained on.*100% of its sentences"):
        probe_pos(SOURCE, TRAIN, FIXTURES / "pos" / "train.slash")


def test_a_few_shared_sentences_are_told(tmp_path: Path) -> None:
    train = "Yes/UH ./.\nfine/JJ ./.\n"
    assert probe(tmp_path, train, "Yes/UH ./.\nno/UH ./.\nthe/DT ox/NN ./.\n").shared == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="67% of its sentences"):
        probe(tmp_path, train, "Yes/UH ./.\nfine/RB ./.\nthe/DT ox/NN ./.\n")


def test_a_full_disk_is_one_error_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pos.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(pos, "_write_layers", full)
    with pytest.raises(InputError, match=r"cannot write the layers: No space left on device \(TMPDIR"):
        probe_pos(SOURCE, TRAIN, DEV)
    assert list(tmp_path.iterdir()) == []
