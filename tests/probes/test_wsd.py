"""
Word senses: nearest means with known results, the first-sense fallback, overlapping
files.
"""

import random
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm import batch_to_ids
from elmo_tasks.elmo.layers import Layers
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.probes.layers import BLOCK_TOKENS
from elmo_tasks.experiments.probes.senses import Target
from elmo_tasks.experiments.probes.wsd import (
    SenseCorpus,
    SenseVectors,
    WsdReport,
    evaluation_files_in,
    probe_senses,
    score,
    train_file_in,
)
from tests.elmo.samples import random_bilm
from tests.probes.samples import INDEX_SENSE, SEMCOR, known, write_wsd

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
"""
A word's contribution to the next word's vector in layer 1; layer 0 is that rotated by
90 degrees.
"""


def by_word_before(words: list[str], t: int) -> list[list[float]]:
    x, y = PLANE.get(words[t - 1] if t else "", [0.0, 0.0])
    own = PLANE.get(words[t], [0.0, 0.0])
    return [[-y, x], [x + own[0], y + own[1]]]


ENCODER = known(by_word_before)


def probe(folder: Path, train: list[str], test: list[str]) -> WsdReport:
    train_file = write_wsd(folder / "train.data.xml", *train)
    test_file = write_wsd(folder / "test.data.xml", *test)
    return probe_senses(ENCODER, train_file, [test_file], INDEX_SENSE)


def f1(report: WsdReport) -> dict[str, float]:
    return {row.name: row.scores["test"].f1 for row in report.rows}


def test_the_nearest_mean_by_cosine(tmp_path: Path) -> None:
    """
    The drama is the mean of (1, 0) and (1, 1), the move that of (0, 1) and (0, 9): (1,
    0.5) and (0, 5). To (0.9, 1) their cosines are 0.93 and 0.74. The other test word,
    (0, 1), is the move's by cosine and the drama's by distance.
    """
    drama, move = "play%1:10:01::", "play%1:04:02::"
    train = [f"stage {drama}", f"actor {drama}", f"ball {move}", f"far {move}"]
    assert f1(probe(tmp_path, train, [f"both {drama} ."])) == {
        "first sense": 100,
        "KnownLayers 0": 100,
        "KnownLayers 1": 100,
    }
    assert f1(probe(tmp_path, train, [f"ball {move} ."])) == {
        "first sense": 0,
        "KnownLayers 0": 100,
        "KnownLayers 1": 100,
    }


def test_instances_with_several_keys(tmp_path: Path) -> None:
    report = probe(
        tmp_path,
        ["stage fall%2:30:00::|fall%2:38:03::", "ball fall%2:30:01::"],
        ["new fall%2:38:03:: ."],
    )
    assert report.senses == 3 and report.instances == 2
    assert f1(report)["KnownLayers 1"] == 0  # a tie: the first one is predicted
    report = probe(
        tmp_path,
        ["stage fall%2:30:00::", "ball fall%2:30:01::"],
        ["new fall%2:38:03::|fall%2:30:00:: ."],
    )
    assert f1(report)["KnownLayers 1"] == 100


def test_ties_go_to_the_first_sense_in_training(tmp_path: Path) -> None:
    file = write_wsd(
        tmp_path / "x.data.xml",
        "stage play%1:10:01::",
        "new play%1:04:02::",
        "ball play%1:09:00::",
    )
    vectors = SenseVectors(SenseCorpus.of(file), ENCODER)
    vectors.directions["play%1:10:01::"] = torch.tensor([[1.0, 0.0], [0.9999998, 3e-4]])
    vectors.directions["play%1:04:02::"] = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    target = Target("d0", "play", "NOUN", 0, 1, 1)
    assert (
        vectors.nearest(target, torch.tensor([[2.0, 0.0], [2.0, 0.0]]))
        == ["play%1:10:01::"] * 2
    )
    vectors.directions["play%1:10:01::"][1] = torch.tensor([0.8, 0.6])
    assert vectors.nearest(target, torch.tensor([[2.0, 0.0], [2.0, 0.0]])) == [
        "play%1:10:01::",
        "play%1:04:02::",
    ]


def test_candidates_have_the_same_lemma_and_part_of_speech(tmp_path: Path) -> None:
    train = ["ball play%1:10:01::", "stage play%2:33:00::", "stage rock%1:17:00::"]
    assert (
        f1(probe(tmp_path, train, ["stage play%1:10:01:: ."]))["KnownLayers 1"] == 100
    )


def test_unknown_lemmas_get_the_first_sense(tmp_path: Path) -> None:
    report = probe(
        tmp_path,
        ["stage play%1:10:01::"],
        ["ball rock%1:17:01:: and skiff%1:06:00:: ."],
    )
    assert (report.first_sense_used, report.unanswered) == (2, 1)
    for row in report.rows:
        assert row.scores["test"] == pytest.approx((100, 50, 200 / 3, 1, 2))


@pytest.fixture(scope="module")
def bilm() -> Layers:
    return Layers(random_bilm())


def test_means_against_a_loop(bilm: Layers) -> None:
    """
    Of a text of several blocks: the same sentences again and again, which changes no
    mean.
    """
    corpus = SenseCorpus.of(SEMCOR)
    tokens = sum(len(sentence.words) for sentence in corpus.sentences)
    repeated = corpus._replace(
        sentences=corpus.sentences * (BLOCK_TOKENS // tokens + 1)
    )
    sums: dict[str, list[torch.Tensor]] = {}
    for sentence in corpus.sentences:
        encoded = bilm(batch_to_ids([sentence.words])).layers[:, 0]  # [L+1, T, D]
        for target in sentence.targets:
            for key in corpus.keys[target.id]:
                sums.setdefault(key, []).append(
                    encoded[:, target.start : target.end].mean(1)
                )
    vectors = SenseVectors(repeated, bilm)
    assert vectors.directions.keys() == sums.keys()
    for key, found in sums.items():
        expected = torch.nn.functional.normalize(torch.stack(found).mean(0), dim=1)
        torch.testing.assert_close(vectors.directions[key], expected)


def test_columns(tmp_path: Path, bilm: Layers) -> None:
    lines = {"semeval2007": "a play%1:04:02:: .", "senseval2": "the play%1:10:01:: ?"}
    files = [
        write_wsd(tmp_path / f"{name}.data.xml", line) for name, line in lines.items()
    ]
    scores = probe_senses(bilm, SEMCOR, files, INDEX_SENSE).rows[0].scores
    assert {name: score.f1 for name, score in scores.items()} == {
        "semeval2007": 0,
        "senseval2": 100,
        "all": 50,
        "tests": 100,
    }


def test_mismatched_keys(tmp_path: Path, bilm: Layers) -> None:
    file = write_wsd(
        tmp_path / "x.data.xml", "the play%1:10:01:: and the play%1:10:01:: ."
    )
    keys = tmp_path / "x.gold.key.txt"
    keys.write_text(keys.read_text().replace("d0.t1", "d0.t2"))
    with pytest.raises(
        InputError, match=r"x\.data\.xml:7: .*x\.gold\.key\.txt has no key for 'd0\.t1'"
    ):
        probe_senses(bilm, SEMCOR, [file], INDEX_SENSE)
    keys.write_text(
        "d0.t0 play%1:10:01::\nd0.t1 play%1:10:01::\nd0.t2 play%1:10:01::\n"
    )
    with pytest.raises(
        InputError, match=r"x\.gold\.key\.txt: .*x\.data\.xml has no instance 'd0\.t2'"
    ):
        probe_senses(bilm, SEMCOR, [file], INDEX_SENSE)


def test_files_of_a_folder(tmp_path: Path) -> None:
    for below in (
        "Training_Corpora/SemCor/semcor",
        "Evaluation_Datasets/ALL/ALL",
        "Evaluation_Datasets/a/a",
    ):
        write_wsd(tmp_path / f"{below}.data.xml", "a play%1:10:01::")
    assert (
        train_file_in(tmp_path)
        == tmp_path / "Training_Corpora" / "SemCor" / "semcor.data.xml"
    )
    assert evaluation_files_in(tmp_path) == [
        tmp_path / "Evaluation_Datasets" / "a" / "a.data.xml"
    ]
    for name in ("a", "all"):
        other = tmp_path / f"Evaluation_Datasets/b/{name}.data.xml"
        write_wsd(other, "a play%1:10:01::")
        with pytest.raises(InputError, match="two evaluation sets have the same name"):
            evaluation_files_in(tmp_path)
        other.unlink()


def official(
    gold: dict[tuple[str, str], set[str]], answers: dict[tuple[str, str], str | None]
) -> tuple[float, float, float]:
    """
    As in the official scorer: right and wrong answers, P = right / (right + wrong).
    """
    right = wrong = 0.0
    for name, answer in answers.items():
        if answer is not None:
            right += answer in gold[name]
            wrong += answer not in gold[name]
    precision, recall = right / (right + wrong), right / len(gold)
    return (
        100 * precision,
        100 * recall,
        100 * 2 * precision * recall / (precision + recall),
    )


def test_score_against_the_official_loop() -> None:
    assert score({("x", "a"): {"x"}}, {("x", "a"): None}) == (0, 0, 0, 0, 1)
    rng = random.Random(1)
    gold = {}
    answers: dict[tuple[str, str], str | None] = {}
    for number in range(40):
        name = ("x", str(number))
        gold[name] = set(rng.sample("uvwxyz", rng.randint(1, 3)))
        answers[name] = rng.choice([*"uvwxyz", None])
    assert score(gold, answers)[:3] == pytest.approx(official(gold, answers))
