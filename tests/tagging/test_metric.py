"""Entity scores against a transcription of conlleval, and counts by hand."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.tasks.tagging.metric import EntityF1
from tests.processes import last_line, other_process

BIOUL_AS_BIO = str.maketrans("UL", "BI")

# conlleval's tables over B, I and O: pairs of previous and present tag that end, or start, a chunk.
ENDING_PAIRS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O")}
STARTING_PAIRS = {("B", "B"), ("I", "B"), ("O", "B"), ("O", "I")}

TagAndType = tuple[str, str]


def end_of_chunk(previous: TagAndType, present: TagAndType) -> bool:
    if (previous[0], present[0]) in ENDING_PAIRS:
        return True
    return previous[0] != "O" and previous[1] != present[1]


def start_of_chunk(previous: TagAndType, present: TagAndType) -> bool:
    if (previous[0], present[0]) in STARTING_PAIRS:
        return True
    return present[0] != "O" and previous[1] != present[1]


def tag_and_type(tag: str) -> TagAndType:
    if tag == "O":
        return "O", ""
    letter, label = tag.split("-", 1)
    return letter.translate(BIOUL_AS_BIO), label


class SlowConlleval:
    """Like conlleval, tracks whether the current chunk is correct so far."""

    def __init__(self) -> None:
        self.correct: dict[str, int] = {}
        self.guessed: dict[str, int] = {}
        self.gold: dict[str, int] = {}
        self.before_guess = self.before_gold = ("O", "")
        self.in_correct = False

    def step(self, guess: TagAndType, gold: TagAndType) -> None:
        gold_ends = end_of_chunk(self.before_gold, gold)
        guess_ends = end_of_chunk(self.before_guess, guess)
        if self.in_correct:
            if gold_ends and guess_ends and self.before_gold[1] == self.before_guess[1]:
                self.in_correct = False
                add_one(self.correct, self.before_gold[1])
            elif gold_ends != guess_ends or gold[1] != guess[1]:
                self.in_correct = False
        gold_starts = start_of_chunk(self.before_gold, gold)
        guess_starts = start_of_chunk(self.before_guess, guess)
        if gold_starts and guess_starts and gold[1] == guess[1]:
            self.in_correct = True
        if gold_starts:
            add_one(self.gold, gold[1])
        if guess_starts:
            add_one(self.guessed, guess[1])
        self.before_guess, self.before_gold = guess, gold

    def sentence(self, guesses: list[str], golds: list[str]) -> None:
        for guess, gold in zip(guesses, golds, strict=True):
            self.step(tag_and_type(guess), tag_and_type(gold))
        self.step(("O", ""), ("O", ""))

    def scores(self) -> dict[str, float]:
        types = sorted({*self.guessed, *self.gold})
        counts = (self.correct, self.guessed, self.gold)
        scores = precision_recall_f1(*(sum(of_one.values()) for of_one in counts))
        for label in types:
            of_type = precision_recall_f1(*(of_one.get(label, 0) for of_one in counts))
            scores |= {f"{name}-{label}": value for name, value in of_type.items()}
        return scores


def add_one(counts: dict[str, int], label: str) -> None:
    counts[label] = counts.get(label, 0) + 1


def precision_recall_f1(correct: int, guessed: int, gold: int) -> dict[str, float]:
    precision = correct / guessed if guessed > 0 else 0.0
    recall = correct / gold if gold > 0 else 0.0
    both = precision + recall
    f1 = 2 * precision * recall / both if both > 0 else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


TAGS = st.sampled_from(["O", *(f"{letter}-{x}" for letter in "BIUL" for x in ("PER", "a-b"))])
PAIRED = st.lists(st.tuples(TAGS, TAGS), max_size=9)
# Few differences, so that many entities are correct.
CLOSE = st.lists(st.tuples(TAGS, st.none() | TAGS).map(lambda p: (p[0], p[1] or p[0])), max_size=9)


@settings(deadline=None)
@given(corpus=st.lists(PAIRED | CLOSE, max_size=4))
def test_equals_conlleval(corpus: list[list[tuple[str, str]]]) -> None:
    slow, fast = SlowConlleval(), EntityF1()
    for sentence in corpus:
        guesses, golds = [pair[0] for pair in sentence], [pair[1] for pair in sentence]
        slow.sentence(guesses, golds)
        fast([guesses], [golds])
    assert fast.get_metric() == pytest.approx(slow.scores(), abs=1e-12)
    overall = fast.report()["overall"]
    assert overall == {
        "correct": sum(slow.correct.values()),
        "predicted": sum(slow.guessed.values()),
        "gold": sum(slow.gold.values()),
    }


def test_processes_that_see_different_types_agree(tmp_path: Path) -> None:
    other = """
from elmo_tasks.tasks.tagging.metric import EntityF1
metric = EntityF1()
metric([["U-ORG"]], [["O"]])
metric([["O"]], [["O"]])
print(metric.report())
"""
    with other_process(tmp_path, other) as process:
        metric = EntityF1()
        metric([["U-PER", "O"]], [["U-PER", "U-LOC"]])
        metric([["O"]], [["O"]])
        report = metric.report()
        assert report["overall"] == {"correct": 1, "predicted": 2, "gold": 2}
        assert list(report["labels"]) == ["LOC", "ORG", "PER"]
        assert last_line(process) == str(report)
