"""Nearest senses worked by hand, the first sense where there is none, and what must not be scored."""

from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.errors import InputError
from elmo_tasks.probing import layers
from elmo_tasks.probing.layers import Source
from elmo_tasks.probing.senses import Target
from elmo_tasks.probing.wsd import SenseCorpus, SenseVectors, WsdReport, probe_senses
from elmo_tasks.probing.wsd_files import evaluation_files_in, train_file_in
from tests.elmo.samples import random_bilm
from tests.probing.samples import INDEX_SENSE, SEMCOR, SETS, WSD, encoder_of, source_of, write_wsd

PLANE = {
    "play": [0.0, 0.0],
    "stage": [1.0, 0.0],
    "actor": [1.0, 1.0],
    "ball": [0.0, 1.0],
    "far": [0.0, 9.0],
    "both": [0.9, 1.0],
    "new": [3.0, 0.0],
    "school": [0.0, 1.0],
}
"""What the word before makes of a vector in layer 1; layer 0 turns it by a quarter."""


def by_word_before(words: list[str], t: int) -> list[list[float]]:
    x, y = PLANE.get(words[t - 1] if t else "", [0.0, 0.0])
    own = PLANE.get(words[t], [0.0, 0.0])
    return [[-y, x], [x + own[0], y + own[1]]]


SOURCE = source_of(encoder_of(by_word_before))


def probe(folder: Path, train: list[str], test: list[str]) -> WsdReport:
    files = [write_wsd(folder / f"{name}.data.xml", *lines) for name, lines in (("train", train), ("test", test))]
    return probe_senses(SOURCE, *files[:1], files[1:], INDEX_SENSE)


def f1(report: WsdReport) -> dict[str, float]:
    return {row.name: row.scores["test"].f1 for row in report.rows}


def test_the_nearest_mean_by_cosine_and_by_hand(tmp_path: Path) -> None:
    """
    The drama is the mean of (1, 0) and (1, 1), the move that of (0, 1) and (0, 9): (1, 0.5) and (0, 5). To (0.9, 1)
    their cosines are 0.93 and 0.74. The other test word, (0, 1), is the move's by cosine and the drama's by distance.
    """
    drama, move = "play%1:10:01::", "play%1:04:02::"
    train = [f"stage {drama}", f"actor {drama}", f"ball {move}", f"far {move}"]
    assert f1(probe(tmp_path, train, [f"both {drama} ."])) == {"first sense": 100, "biLM 0": 100, "biLM 1": 100}
    assert f1(probe(tmp_path, train, [f"ball {move} ."])) == {"first sense": 0, "biLM 0": 100, "biLM 1": 100}


def test_of_senses_that_differ_by_rounding_the_first_is_answered() -> None:
    vectors = SenseVectors.__new__(SenseVectors)
    vectors.by_lemma, vectors._rows = (
        {("play", "NOUN"): ["first", "second", "third"]},
        {"first": 1, "second": 0, "third": 2},
    )
    vectors._directions = torch.tensor(
        [[[1.0, 0.0], [0.9999998, 3e-4], [0.0, 1.0]], [[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]]
    )
    target = Target("d0", "play", "NOUN", 0, 1, 1)
    assert vectors.nearest(target, torch.tensor([[2.0, 0.0], [2.0, 0.0]])) == ["first", "second"]


def test_every_key_of_an_instance_is_trained_and_may_be_right(tmp_path: Path) -> None:
    report = probe(tmp_path, ["stage fall%2:30:00::|fall%2:38:03::", "ball fall%2:30:01::"], ["new fall%2:38:03:: ."])
    assert report.senses == 3 and report.instances == 2
    assert f1(report)["biLM 1"] == 0  # both are as near, and the one that came first is answered
    report = probe(tmp_path, ["stage fall%2:30:00::", "ball fall%2:30:01::"], ["new fall%2:38:03::|fall%2:30:00:: ."])
    assert f1(report)["biLM 1"] == 100


def test_only_senses_of_the_same_lemma_and_part_of_speech_count(tmp_path: Path) -> None:
    train = ["ball play%1:10:01::", "stage play%2:33:00::", "stage rock%1:17:00::"]
    assert f1(probe(tmp_path, train, ["stage play%1:10:01:: ."]))["biLM 1"] == 100


def test_several_tokens_have_their_mean(tmp_path: Path) -> None:
    """In layer 1 `new school` after `stage` is the mean of (1, 0) + (3, 0) and (3, 0) + (0, 1): (3.5, 0.5)."""
    corpus = SenseCorpus.of(
        write_wsd(tmp_path / "x.data.xml", "stage new_school%1:14:00::", "play new_school%1:14:01::")
    )
    vectors = SenseVectors(corpus, SOURCE.encoder)
    vectors.compute()
    expected = torch.nn.functional.normalize(torch.tensor([[3.5, 0.5], [3.0, 0.5]]), dim=1)
    torch.testing.assert_close(vectors._directions[1], expected)


def test_the_first_sense_where_training_has_not_the_lemma(tmp_path: Path) -> None:
    report = probe(tmp_path, ["stage play%1:10:01::"], ["ball rock%1:17:01:: and skiff%1:06:00:: ."])
    assert (report.first_sense_used, report.unanswered) == (2, 1)
    for row in report.rows:
        assert row.scores["test"] == pytest.approx((100, 50, 200 / 3, 1, 2))


def test_the_other_part_of_speech_of_a_lemma_is_not_seen(tmp_path: Path) -> None:
    report = probe(tmp_path, ["stage play%1:10:01::"], ["ball play%2:33:00:: ."])
    assert report.first_sense_used == 1 and f1(report)["biLM 1"] == 100


@pytest.fixture(scope="module")
def bilm() -> Source:
    return source_of(random_bilm().eval().requires_grad_(False))


def test_the_means_against_a_loop(bilm: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "BLOCK_TOKENS", 40)
    corpus = SenseCorpus.of(SEMCOR)
    sums: dict[str, list[torch.Tensor]] = {}
    for sentence in corpus.sentences():
        encoded = bilm.encoder(batch_to_ids([sentence.words])).layers[:, 0]  # [L+1, T, D]
        for target in sentence.targets:
            for key in corpus.keys[target.id]:
                sums.setdefault(key, []).append(encoded[:, target.start : target.end].mean(1))
    vectors = SenseVectors(corpus, bilm.encoder)
    vectors.compute()
    means = torch.stack([torch.stack(found).mean(0) for found in sums.values()], 1)  # [L+1, senses, D]
    torch.testing.assert_close(vectors._directions, torch.nn.functional.normalize(means, dim=2))


def test_sets_and_their_concatenation(bilm: Source) -> None:
    report = probe_senses(bilm, SEMCOR, SETS, INDEX_SENSE)
    assert [row.name for row in report.rows] == ["first sense", "biLM 0", "biLM 1", "biLM 2"]
    harbour, market, both = report.rows[0].scores.values()
    assert list(report.rows[0].scores) == ["harbour", "market", "all"]
    assert (harbour.answered, market.answered, both.answered) == (8, 6, 14)
    assert both.recall == pytest.approx((8 * harbour.recall + 7 * market.recall) / 15)


def test_the_development_set_is_left_out_of_the_tests(tmp_path: Path, bilm: Source) -> None:
    lines = {"semeval2007": "a play%1:04:02:: .", "senseval2": "the play%1:10:01:: ?"}
    files = [write_wsd(tmp_path / f"{name}.data.xml", line) for name, line in lines.items()]
    scores = probe_senses(bilm, SEMCOR, files, INDEX_SENSE).rows[0].scores
    assert {name: score.f1 for name, score in scores.items()} == {
        "semeval2007": 0,
        "senseval2": 100,
        "all": 50,
        "tests": 100,
    }


def test_the_training_file_is_not_scored_whatever_it_is_called(tmp_path: Path, bilm: Source) -> None:
    copy = tmp_path / "other.data.xml"
    copy.write_text(SEMCOR.read_text().replace("d000.", "x.").replace(">\n<", "> <"))
    keys = SEMCOR.with_name("semcor.gold.key.txt").read_text().replace("d000.", "x.")
    copy.with_name("other.gold.key.txt").write_text(keys)
    with pytest.raises(InputError, match=r"other\.data\.xml: a file that was not trained on.*100% of its sentences"):
        probe_senses(bilm, SEMCOR, [SETS[0], copy], INDEX_SENSE)


def test_keys_and_instances_must_fit(tmp_path: Path, bilm: Source) -> None:
    file = write_wsd(tmp_path / "x.data.xml", "the play%1:10:01:: and the play%1:10:01:: .")
    keys = tmp_path / "x.gold.key.txt"
    keys.write_text(keys.read_text().replace("d0.t1", "d0.t2"))
    with pytest.raises(InputError, match=r"x\.data\.xml:7: .*x\.gold\.key\.txt has no key for 'd0\.t1'"):
        probe_senses(bilm, SEMCOR, [file], INDEX_SENSE)
    keys.write_text("d0.t0 play%1:10:01::\nd0.t1 play%1:10:01::\nd0.t2 play%1:10:01::\n")
    with pytest.raises(InputError, match=r"x\.gold\.key\.txt: .*x\.data\.xml has no instance 'd0\.t2'"):
        probe_senses(bilm, SEMCOR, [file], INDEX_SENSE)


def test_equally_named_sets_are_refused(bilm: Source) -> None:
    with pytest.raises(InputError, match="different names were wanted, found harbour, harbour"):
        probe_senses(bilm, SEMCOR, [SETS[0], SETS[0]], INDEX_SENSE)


def test_files_of_a_folder(tmp_path: Path) -> None:
    assert train_file_in(WSD) == SEMCOR
    assert evaluation_files_in(WSD) == SETS
    for below in ("Training_Corpora/SemCor/semcor", "Evaluation_Datasets/ALL/ALL", "Evaluation_Datasets/a/a"):
        write_wsd(tmp_path / f"{below}.data.xml", "a play%1:10:01::")
    assert train_file_in(tmp_path) == tmp_path / "Training_Corpora" / "SemCor" / "semcor.data.xml"
    assert evaluation_files_in(tmp_path) == [tmp_path / "Evaluation_Datasets" / "a" / "a.data.xml"]
    for find in (train_file_in, evaluation_files_in):
        with pytest.raises(InputError, match="was wanted in it"):
            find(tmp_path / "Evaluation_Datasets")


def test_a_tie_goes_to_the_sense_that_training_met_first() -> None:
    corpus = SenseCorpus.of(SEMCOR)
    vectors = SenseVectors(corpus, encoder_of(lambda words, t: [[1.0, 2.0]]))
    vectors.compute()
    target = Target("x", "bank", "NOUN", 0, 1, 1)
    assert vectors.nearest(target, torch.tensor([[2.0, 1.0]])) == ["bank%1:14:00::"]
