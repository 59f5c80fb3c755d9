"""The language model's vocabulary: counting, ties, the official file, mistakes in it."""

import gzip
from pathlib import Path

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.pretraining.vocabulary import SENTENCE_END, SENTENCE_START, UNKNOWN, WordVocabulary


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Counts: the 3, cat 2, dog 2, a 1, Straße 1, zoo 1; three sentences, one of them with literal specials."""
    plain, zipped = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    plain.write_text("the cat the dog\n\n   \nzoo the dog cat\n", encoding="utf-8")
    zipped.write_bytes(gzip.compress("<S> a Straße <UNK> </S>\n".encode()))
    return [plain, zipped]


def test_words_come_by_frequency_and_ties_by_code_point(corpus: list[Path]) -> None:
    vocabulary = WordVocabulary.count(corpus)
    assert vocabulary.words == ["<S>", "</S>", "<UNK>", "the", "cat", "dog", "Straße", "a", "zoo"]
    assert WordVocabulary.count(reversed(corpus)).words == vocabulary.words


def test_counts_are_those_of_targets_and_literal_specials_count_once(corpus: list[Path]) -> None:
    vocabulary = WordVocabulary.count(corpus, size=3)
    assert vocabulary.words[3:] == ["the", "cat", "dog"]
    # Three sentences and one literal each; a, Straße, zoo and a literal <UNK> are unknown.
    assert vocabulary.counts == [4, 4, 4, 3, 2, 2]


def test_counting_is_the_same_across_blocks(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_text("x y\n" * 5000 + "y\n")
    assert WordVocabulary.count([path]).counts == [5001, 5001, 0, 5001, 5000]


def test_size_leaves_the_specials_out(corpus: list[Path]) -> None:
    assert len(WordVocabulary.count(corpus, size=2)) == 3 + 2
    assert len(WordVocabulary.count(corpus, size=100)) == 3 + 6


def test_min_count_keeps_the_words_that_reach_it(corpus: list[Path]) -> None:
    assert WordVocabulary.count(corpus, min_count=2).words[3:] == ["the", "cat", "dog"]
    assert WordVocabulary.count(corpus, min_count=3).words[3:] == ["the"]


def test_ids_and_the_unknown_word(corpus: list[Path]) -> None:
    vocabulary = WordVocabulary.count(corpus, size=1)
    assert (vocabulary.id("<S>"), vocabulary.id("</S>")) == (SENTENCE_START, SENTENCE_END) == (0, 1)
    assert vocabulary.id("the") == 3
    assert vocabulary.id("The") == vocabulary.id("cat") == UNKNOWN == WordVocabulary.UNKNOWN == 2


def test_the_official_file_goes_out_and_in(corpus: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "out" / "vocabulary.txt"
    vocabulary = WordVocabulary.count(corpus)
    vocabulary.save(path)
    assert path.read_bytes() == "<S>\n</S>\n<UNK>\nthe\ncat\ndog\nStraße\na\nzoo\n".encode()
    assert [entry.name for entry in path.parent.iterdir()] == ["vocabulary.txt"]
    loaded = WordVocabulary.from_file(path)
    assert (loaded.words, loaded.ids, loaded.counts) == (vocabulary.words, vocabulary.ids, None)


def test_blanks_around_a_word_are_no_part_of_it(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(b"<S> \r\n</S>\n<UNK>\t\n the\n")
    assert WordVocabulary.from_file(path).words == ["<S>", "</S>", "<UNK>", "the"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<S>\n</S>\n<UNK>\nthe\ncat\nthe\n", r":6: 'the' is already on line 4"),
        ("<S>\n</S>\n<UNK>\nthe\n\ncat\n", r":5: .*this line is blank"),
        ("</S>\n<S>\n<UNK>\nthe\n", r":1: <S> was wanted, found '</S>' \(the first three lines"),
        ("<S>\n</S>\nthe\n<UNK>\n", r":3: <UNK> was wanted, found 'the'"),
        ("<S>\n</S>\n", r":3: <UNK> was wanted, the file ends"),
        ("", r":1: <S> was wanted, the file ends"),
        ("<S>\n</S>\n<UNK>\nthe 12\n", r":4: one word was wanted, found 'the 12'"),
    ],
)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "vocabulary.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=r"vocabulary\.txt" + message):
        WordVocabulary.from_file(path)


def test_bad_limits(corpus: list[Path]) -> None:
    with pytest.raises(InputError, match=r"one limit .* found size 2 and min_count 3"):
        WordVocabulary.count(corpus, size=2, min_count=3)
    with pytest.raises(InputError, match="size must be 1 or more, found 0"):
        WordVocabulary.count(corpus, size=0)
    with pytest.raises(InputError, match="min_count must be 1 or more, found -1"):
        WordVocabulary.count(corpus, min_count=-1)


def test_text_without_sentences(tmp_path: Path) -> None:
    path = tmp_path / "blank.txt"
    path.write_text(" \n\n")
    with pytest.raises(InputError, match=r"no sentence to count words in, .*blank\.txt"):
        WordVocabulary.count([path])
    with pytest.raises(InputError, match="no sentence to count words in, no file"):
        WordVocabulary.count([])


def test_wrong_words_in_code() -> None:
    with pytest.raises(ValueError, match="the first words must be"):
        WordVocabulary(["the"])
    with pytest.raises(ValueError, match="1 of 5 words come twice"):
        WordVocabulary(["<S>", "</S>", "<UNK>", "a", "a"])
    with pytest.raises(ValueError, match="one count for each of 4 words, found 1"):
        WordVocabulary(["<S>", "</S>", "<UNK>", "a"], [7])


def test_a_place_that_cannot_be_written(corpus: list[Path], tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    with pytest.raises(InputError, match="taken: cannot write"):
        WordVocabulary.count(corpus).save(taken)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a.txt", "b.txt.gz", "taken"]
