"""The language model's vocabulary: counting, and the official file."""

import gzip
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.vocabulary import UNKNOWN, WordVocabulary


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """
    Counts: the 3, cat 2, dog 2, a 1, Straße 1, zoo 1; three sentences, one of them with
    literal specials.
    """
    plain, zipped = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("the cat the dog\n\n   \nzoo the dog cat\n", encoding="utf-8")
    zipped.write_bytes(gzip.compress("<S> a Straße <UNK> </S>\n".encode()))
    return [plain, zipped]


def test_words_are_sorted_by_frequency_then_code_point(corpus: list[Path]) -> None:
    vocabulary = WordVocabulary.count(corpus)
    assert vocabulary.words == [
        "<S>",
        "</S>",
        "<UNK>",
        "the",
        "cat",
        "dog",
        "Straße",
        "a",
        "zoo",
    ]
    assert WordVocabulary.count(reversed(corpus)).words == vocabulary.words


def test_limits_do_not_count_special_tokens(corpus: list[Path]) -> None:
    assert WordVocabulary.count(corpus, size=2).words[3:] == ["the", "cat"]
    assert WordVocabulary.count(corpus, min_count=2).words[3:] == ["the", "cat", "dog"]
    for limits in ({"size": 2, "min_count": 3}, {"size": 0}, {"min_count": -1}):
        with pytest.raises(InputError, match="[Vv]ocabulary"):
            WordVocabulary.count(corpus, **limits)


def test_the_official_file_round_trip(corpus: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "out" / "vocabulary.txt"
    vocabulary = WordVocabulary.count(corpus)
    vocabulary.save(path)
    assert (
        path.read_bytes()
        == "<S>\n</S>\n<UNK>\nthe\ncat\ndog\nStraße\na\nzoo\n".encode()
    )
    assert WordVocabulary.from_file(path).ids == vocabulary.ids
    assert (vocabulary.id("the"), vocabulary.id("The")) == (3, UNKNOWN)
    path.write_bytes(b"<S> \r\n</S>\n<UNK>\t\n the\n")
    assert WordVocabulary.from_file(path).words == ["<S>", "</S>", "<UNK>", "the"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<S>\n</S>\n<UNK>\nthe\ncat\nthe\n", r":6: 'the' is already on line 4"),
        ("<S>\n</S>\n<UNK>\nthe\n\ncat\n", r":5: expected one word, got ''"),
        ("</S>\n<S>\n<UNK>\nthe\n", r":1: expected <S>, got '</S>'"),
        ("<S>\n<UNK>\n</S>\n", r":2: expected </S>, got '<UNK>': the first three"),
        ("<S>\n</S>\nthe\n<UNK>\n", r":3: expected <UNK>, got 'the': the first three"),
        ("<S>\n</S>\n", r":3: expected <UNK>, got the end of the file"),
        ("", r":1: expected <S>, got the end of the file"),
        ("<S>\n</S>\n<UNK>\na b\n", r":4: expected one word, got 'a b'"),
        ("<S>\n</S>\n<UNK>\n<S>\n", r":4: '<S>' is already on line 1"),
    ],
)
def test_invalid_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=r"vocabulary\.txt" + message):
        WordVocabulary.from_file(path)


def test_words_that_begin_with_a_mark(tmp_path: Path) -> None:
    """They could not be told from a file put together by `cat`."""
    (tmp_path / "text").write_text("a \ufeffb \ufeff c\n\ufeffd e\ufeff\n")
    vocabulary = WordVocabulary.count([tmp_path / "text"])
    assert sorted(vocabulary.words[3:]) == ["a", "c", "d", "e\ufeff"]
    vocabulary.save(tmp_path / "words")
    assert WordVocabulary.from_file(tmp_path / "words").words == vocabulary.words
    (tmp_path / "words").write_text("<S>\n</S>\n<UNK>\na\n\ufeffb\n")
    with pytest.raises(InputError, match="words:5: expected a word, got a byte order"):
        WordVocabulary.from_file(tmp_path / "words")


def test_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_text("<S>\n</S>\n<UNK>\na\n\n \n")
    assert WordVocabulary.from_file(path).words[3:] == ["a"]


def test_words_of_a_vocabulary() -> None:
    vocabulary = WordVocabulary(["<S>", "</S>", "<UNK>", "a"])
    assert len(vocabulary) == 4 and vocabulary.ids["a"] == 3
    assert (vocabulary.id("<S>"), vocabulary.id("b"), UNKNOWN) == (0, 2, 2)
    with pytest.raises(ValueError, match="first words to be .*, got .*'</S>', 'a'.$"):
        WordVocabulary(["<S>", "</S>", "a", "<UNK>"])
    with pytest.raises(ValueError, match="expected distinct words, got 2 duplicates"):
        WordVocabulary(["<S>", "</S>", "<UNK>", "a", "a", "a"])


@pytest.mark.parametrize(
    ("long", "of", "share", "level"),
    [
        (0, 5, "0.00", "INFO"),
        (1, 4, "25.00", "WARNING"),
        (1, 1000, "0.10", "WARNING"),
        (1, 1001, "0.10", "INFO"),
    ],
)
def test_the_share_of_truncated_words(
    long: int,
    of: int,
    share: str,
    level: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Words of 48 bytes are read as a whole."""
    caplog.set_level("INFO", "elmo_tasks")
    words = ["é" * 24 + "x"] * long + ["é" * 24] * (of - long)
    (tmp_path / "x").write_text(" ".join(words))
    WordVocabulary.count([tmp_path / "x"])
    (record,) = caplog.records
    assert record.levelname == level
    assert record.getMessage() == (
        f"{share} % of the words have more than 48 bytes; a larger"
        " max_characters_per_token reads them whole"
    )
