"""Corpora whose words are another column, or were removed; and those with words."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.errors import InputError
from elmo_tasks.tasks.tagging.reader import ColumnReader, NerReader
from elmo_tasks.training.checks.construct import check
from elmo_tasks.training.data.first_look import instead_of_words, looked_at, text_fields
from elmo_tasks.training.data.subsampling import ShareDataLoader
from tests.checks.test_training import run
from tests.test_configs import FOLDER
from tests.tiny import REAL_DATA, SAMPLES, read_config

Texts = list[list[str]]


def texts_of(instances: list[Instance]) -> Texts:
    found = []
    for instance in instances:
        for field in text_fields(instance):
            found.append([token.ensure_text() for token in field])
    return found


def reader(task: str, **keys: Any) -> DatasetReader:
    return DatasetReader.from_params(Params({"type": f"elmo_tasks_{task}", **keys}))


FORMS: dict[str, Callable[[int, int, int], str]] = {
    "from 1": lambda sentence, word, all_before: f"{word + 1}",
    "from 0": lambda sentence, word, all_before: f"{word}",
    "through the file": lambda sentence, word, all_before: f"{all_before + 1}",
    "with the sentence": lambda sentence, word, all_before: f"{sentence}-{word + 1}",
    "named": lambda sentence, word, all_before: f"t{word + 1}",
    "padded": lambda sentence, word, all_before: f"w{sentence}.{word:03d}",
    "document": lambda sentence, word, all_before: f"bc/cctv_{sentence // 3}",
    "sentence": lambda sentence, word, all_before: f"s{sentence}",
    "skeleton": lambda sentence, word, all_before: "[WORD]",
    "underscore": lambda sentence, word, all_before: "_",
    "mostly outside": lambda *place: "B-PER" if place[2] % 20 == 5 else "O",
}
"""What a column has for a word: of a sentence, and after how many words of the file."""


@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=50)
@given(lengths=st.lists(st.integers(2, 30), min_size=2, max_size=50))
def test_columns_that_are_no_words(form: str, lengths: list[int]) -> None:
    if sum(lengths) - len(lengths) < 10:
        lengths.append(12)
    running = count()
    texts = []
    for sentence, length in enumerate(lengths):
        words = range(length)
        texts.append([FORMS[form](sentence, word, next(running)) for word in words])
    found = instead_of_words(texts)
    assert found is not None
    is_counted = form in ("from 1", "from 0", "through the file", "named", "padded")
    if is_counted:
        assert found.startswith("numbers that count: ")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("marks", [",.", "?", "-"])
def test_punctuation_that_is_kept_among_them(form: str, marks: str) -> None:
    running = count()
    texts = []
    for sentence in range(20):
        text = [FORMS[form](sentence, word, next(running)) for word in range(9)]
        for place, mark in zip((4, 9, 11), marks * 3, strict=False):
            text.insert(place, mark)
        texts.append(text)
    assert instead_of_words(texts) is not None


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_words_of_a_corpus_are_words(data: st.DataObject) -> None:
    """Any part of it, also among as many texts of numbers."""
    texts = texts_of(list(NerReader().read(SAMPLES["ner"])))
    words = [word for text in texts for word in text]
    chosen = st.lists(st.sampled_from(words), min_size=2, max_size=9, unique=True)
    drawn = data.draw(st.lists(chosen, max_size=12))
    numbers = st.lists(st.integers(0, 2000).map(str), min_size=1, max_size=5)
    for text in data.draw(st.lists(numbers, max_size=len(drawn))):
        drawn.insert(data.draw(st.integers(0, len(drawn))), text)
    assert instead_of_words(drawn) is None


YES = ["yes", "no", "maybe", "never", "always", "often", "soon"]
CALLS = ["030 44017 23", "0170 4401 2389", "+49 30 4401 0", "112"]

WITH_WORDS: dict[str, Texts] = {
    "no text": [],
    "one text": [list("123456789")],
    "an empty text": [[], []],
    "two short texts": [["1", "2", "3"], ["4", "5", "6"]],
    "a refrain": [["no", "no", "no"], ["la", "la", "la", "la"]],
    "single words": [[word] for word in YES],
    "a count among single words": [["1", "2", "3", "4", "5", "6"]]
    + [[word] for word in YES] * 9,
    "a table": [["2019", "2020", "2021"], ["12", "15", "11"], ["7", "8", "2"]] * 5,
    "calls": [call.split() for call in CALLS] * 4,
    "many calls": [["Call", *call.split()] for call in CALLS] * 400,
    "letters": [list("the cat sat on the mat"), list("a aa aaa b")] * 20,
    "bits": [list("0110100110010110"), list("10010110")] * 2,
    "genes": [list("ACCGTAAAATTGC"), list("GGGGACT")] * 200,
    "Braille": [["\u2807\u2815", "\u2809"], ["\u2811", "\u280e\u2801"]] * 200,
}


@pytest.mark.parametrize("name", WITH_WORDS)
def test_words(name: str) -> None:
    assert instead_of_words(WITH_WORDS[name]) is None


@pytest.mark.parametrize(
    ("text", "alarms"), [("12 , 3.5 17 -", True), ("12 , 3.5 17 miles", False)]
)
def test_numbers_in_place_of_words(text: str, alarms: bool) -> None:
    texts = [text.split()] * 20
    assert (instead_of_words(texts) is not None) == alarms
    assert instead_of_words(texts[:19]) is None


CORPORA = [
    *[
        ("ner", f"{name}/eng.{part}")
        for name in ("ner", "ner_wikigold")
        for part in ("train", "testa")
    ],
    ("tagger", "pos/en_ewt-ud-dev.conllu"),
    *[
        ("tagger", f"languages/{name}/pos/train.conllu")
        for name in ("latin", "telugu", "afrikaans")
    ],
    ("snli", "snli/snli_1.0_dev.jsonl"),
    ("squad", "squad/dev-v1.1.json"),
    ("sst", "sst/dev.txt"),
    ("srl", "srl/development"),
    ("coref", "coref/dev.gold_conll"),
]


@pytest.mark.parametrize(("task", "name"), CORPORA)
def test_parts_of_real_corpora(task: str, name: str) -> None:
    """Any two, three, ten or thirty texts in a row have words."""
    file = REAL_DATA / name
    if not file.exists():
        pytest.skip(f"no corpus {file}")
    texts = texts_of(list(reader(task, max_instances=1000).read(file)))
    for size in (2, 3, 10, 30):
        for start in range(0, len(texts), size):
            assert instead_of_words(texts[start : start + size]) is None


def columns(*forms: str) -> str:
    """Twelve sentences of four words in these columns, in which {} is the number."""
    lines = []
    for _ in range(12):
        for word in range(4):
            lines.append("\t".join([form.format(word + 1) for form in forms]))
        lines.append("")
    return "\n".join(lines)


SKELETON = "d\t0\t0\t[WORD]\tVB\t*\tgo\t01\t-\t-\t*\t(V*)\t(1)\n\n"
PAIR = json.dumps(
    {"gold_label": "neutral", "sentence1": "xxx xxx", "sentence2": "xxx xxx"}
)
ANSWERS = [{"text": "xxx", "answer_start": 0}]
QUESTIONS = [
    {"id": f"q{n}", "question": "xxx xxx", "answers": ANSWERS} for n in range(9)
]
PARAGRAPHS = [{"context": "xxx xxx xxx", "qas": QUESTIONS}]

WITHOUT: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "GermEval": (
        "ner",
        {},
        columns("{}", "Wort", "B-PER", "O"),
        "numbers that count: '1', '2', '3', '4' .dataset_reader.word, here 0, is",
    ),
    "CoNLL-U as columns": (
        "tagger",
        {"tag": 3},
        columns("{}", "word", "word", "NOUN", "X", "_", "0", "root", "_", "_"),
        "numbers that count.*dataset_reader.word, here 0",
    ),
    "CoNLL-U without words": (
        "tagger",
        {},
        columns("{}", "_", "_", "NOUN", "X", "_", "0", "root", "_", "_"),
        "one word .*'_'.* .if the corpus comes without its words",
    ),
    "documents": ("ner", {}, columns("bc/1", "Wort", "B-PER"), "dataset_reader.word"),
    "srl": ("srl", {}, SKELETON * 12, "skeleton2conll"),
    "coref": ("coref", {}, SKELETON * 12, "skeleton2conll"),
    "sst": ("sst", {}, "(2 (2 xxx) (2 xxx))\n" * 9, "one word again and again"),
    "snli": ("snli", {}, f"{PAIR}\n" * 9, "one word again and again"),
    "squad": (
        "squad",
        {},
        json.dumps(
            {"version": "1.1", "data": [{"title": "x", "paragraphs": PARAGRAPHS}]}
        ),
        "one word again and again",
    ),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_readers_of_files_without_words(name: str, tmp_path: Path) -> None:
    task, keys, text, message = WITHOUT[name]
    file = tmp_path / "corpus.txt"
    file.write_text(text)
    with pytest.raises(
        InputError, match=f"corpus.txt: expected words, got .*{message}"
    ):
        list(reader(task, **keys).read(file))
    with pytest.raises(InputError, match=message):  # as in a table of samples
        loader = ShareDataLoader(
            reader(task, **keys), str(file), batch_size=1, share=0.5
        )
        list(loader.iter_instances())


def test_check_and_train_name_the_key(tmp_path: Path) -> None:
    file = tmp_path / "corpus.txt"
    file.write_text(WITHOUT["GermEval"][2])
    data = {"train_data_path": str(file), "validation_data_path": str(file)}
    config = read_config(FOLDER / "ner.jsonnet", json.dumps(data)).as_dict(quiet=True)
    (problem,) = check(config).problems
    assert "dataset_reader.word, here 0," in problem
    with pytest.raises(InputError, match="dataset_reader.word, here 0,"):
        run(FOLDER / "ner.jsonnet", tmp_path / "run", **data)
    config["dataset_reader"] |= {"word": 1, "tag": 2}
    found = check(config).problems
    assert all("again and again" in problem for problem in found)  # of one word


def test_a_corpus_is_read_once_and_no_further_than_asked() -> None:
    made = [ColumnReader().text_to_instance(["a", str(number)]) for number in range(9)]
    asked: list[Instance] = []

    def instances() -> Iterator[Instance]:
        for instance in made:
            asked.append(instance)
            yield instance

    looking = looked_at(instances(), ColumnReader(), "x")
    assert next(looking) is made[0] and len(asked) == 1
    assert list(looking) == made[1:] and asked == made
