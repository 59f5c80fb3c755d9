"""The CoNLL-2003 view: legal format, and hard for anything that does not read the context."""

import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction import DictVectorizer
from sklearn.svm import LinearSVC

from elmo_tasks.miniworld.annotation import NamedEntity
from elmo_tasks.miniworld.lexicon import token
from elmo_tasks.miniworld.ner import SIZES, chunk_labels, iob1, name_labels

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "ner"
TYPES = ("PER", "LOC", "ORG", "MISC")

Row = list[str]
Span = tuple[int, int, str]


def read(name: str) -> list[list[Row]]:
    blocks = (FOLDER / name).read_text(encoding="utf-8").split("\n\n")
    rows = [[line.split(" ") for line in block.splitlines()] for block in blocks]
    return [sentence for sentence in rows if sentence and sentence[0][0] != "-DOCSTART-"]


@pytest.fixture(scope="module")
def files() -> dict[str, list[list[Row]]]:
    return {name: read(name) for name in SIZES}


def words(sentence: list[Row]) -> list[str]:
    return [row[0] for row in sentence]


def spans(tags: list[str]) -> set[Span]:
    found, start = set(), 0
    for place, (previous, tag) in enumerate(pairwise(["O", *tags, "O"])):
        if previous != "O" and (tag[:1] == "B" or tag[2:] != previous[2:]):
            found.add((start, place, previous[2:]))
        if tag != "O" and (previous == "O" or tag[:1] == "B" or tag[2:] != previous[2:]):
            start = place
    return found


def gold(sentence: list[Row]) -> set[Span]:
    return spans([row[3] for row in sentence])


def named(sentences: list[list[Row]]) -> list[tuple[str, str]]:
    return [(" ".join(words(s)[start:end]), label) for s in sentences for start, end, label in sorted(gold(s))]


def f1(sentences: list[list[Row]], guesses: list[set[Span]]) -> float:
    right = sum(len(gold(s) & guess) for s, guess in zip(sentences, guesses, strict=True))
    return 200 * right / (sum(len(gold(s)) for s in sentences) + sum(len(guess) for guess in guesses))


def test_sizes_and_documents(files: dict[str, list[list[Row]]]) -> None:
    assert {name: len(sentences) for name, sentences in files.items()} == SIZES
    for name in SIZES:
        raw = (FOLDER / name).read_bytes()
        assert len(raw) < 300_000 and b"\r" not in raw
        assert raw.startswith(b"-DOCSTART- -X- -X- O\n\n") and raw.endswith(b" . O O\n")
        assert raw.count(b"-DOCSTART- -X- -X- O\n\n") == SIZES[name] // 10


@pytest.mark.parametrize("name", SIZES)
def test_four_columns_in_iob1(files: dict[str, list[list[Row]]], name: str) -> None:
    rows = [row for sentence in files[name] for row in sentence]
    assert len(rows) > 5000
    assert {len(row) for row in rows} == {4}
    assert all(re.fullmatch(r"[IB]-(NP|VP|PP|ADVP|PRT)|O", row[2]) for row in rows)
    assert {row[3] for row in rows} <= {"O", *(f"{letter}-{label}" for letter in "IB" for label in TYPES)}
    for column in (2, 3):
        for sentence in files[name]:
            for before, after in pairwise(["O", *(row[column] for row in sentence)]):
                assert after[0] != "B" or before[2:] == after[2:], "IOB1 has B- only next to a span of the same type"


def test_every_type_is_frequent(files: dict[str, list[list[Row]]]) -> None:
    for sentences in files.values():
        counts = Counter(label for _, label in named(sentences))
        assert min(counts[label] for label in TYPES) > 0.1 * counts.total()


def test_no_sentence_is_in_two_files(files: dict[str, list[list[Row]]]) -> None:
    every = [tuple(words(sentence)) for sentences in files.values() for sentence in sentences]
    assert len(every) == len(set(every)) == sum(SIZES.values())


def test_most_heldout_names_are_unseen(files: dict[str, list[list[Row]]]) -> None:
    train = {name for name, _ in named(files["eng.train"])}
    for heldout in ("eng.testa", "eng.testb"):
        found = [name for name, _ in named(files[heldout])]
        assert 0.6 < sum(name not in train for name in found) / len(found) < 0.95


def test_many_names_have_several_types(files: dict[str, list[list[Row]]]) -> None:
    for sentences in files.values():
        labels = defaultdict(set)
        for name, label in named(sentences):
            labels[name].add(label)
        ambiguous = sum(len(labels[name]) > 1 for name, _ in named(sentences))
        assert ambiguous > 0.4 * len(named(sentences))


def test_capitals_do_not_tell_names(files: dict[str, list[list[Row]]]) -> None:
    rows = [row for sentences in files.values() for sentence in sentences for row in sentence]
    lower = {row[0] for row in rows if row[0].islower()}
    name_tokens = {row[0] for row in rows if row[3] != "O"}
    both = [token for token in name_tokens if {token.lower(), f"{token.lower()}s"} & lower]
    assert len(both) > 20, sorted(both)
    firsts = [sentence[0] for sentence in files["eng.train"]]
    plain = [row for row in firsts if row[3] == "O" and row[1] in ("NN", "NNS")]
    assert len(plain) > 0.03 * len(firsts), "common nouns stand at the start of sentences"


def test_heldout_contexts_have_words_unseen_in_training(files: dict[str, list[list[Row]]]) -> None:
    train = {row[0] for s in files["eng.train"] for row in s}
    content = [row[0] for s in files["eng.testa"] for row in s if row[1][:2] in ("NN", "VB", "JJ") and row[3] == "O"]
    assert 0.2 < sum(word not in train for word in content) / len(content) < 0.5


def types_by_name(train: list[list[Row]]) -> dict[str, str]:
    """The most frequent type of every name."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, label in named(train):
        counts[name][label] += 1
    return {name: count.most_common(1)[0][0] for name, count in counts.items()}


def gazetteer(known: dict[str, str], sentence: list[str]) -> set[Span]:
    """Longest match of known names."""
    found, start = set(), 0
    while start < len(sentence):
        ends = (end for end in range(min(start + 5, len(sentence)), start, -1))
        end = next((end for end in ends if " ".join(sentence[start:end]) in known), start)
        if end > start:
            found.add((start, end, known[" ".join(sentence[start:end])]))
        start = max(end, start + 1)
    return found


def test_gazetteer_fails(files: dict[str, list[list[Row]]]) -> None:
    train, heldout = files["eng.train"], files["eng.testa"]
    known = types_by_name(train)
    assert f1(train, [gazetteer(known, words(s)) for s in train]) > 50, "it knows the names it was given"
    assert f1(heldout, [gazetteer(known, words(s)) for s in heldout]) < 15


def features(sentence: list[str], place: int, *, window: int) -> dict[str, object]:
    """What a classifier sees that looks at one token and `window` words on either side."""
    word = sentence[place]
    seen: dict[str, object] = {"word": word, "lower": word.lower(), "suffix": word[-3:], "prefix": word[:3]}
    seen |= {"capital": word[0].isupper(), "first": place == 0, "capital first": word[0].isupper() and place == 0}
    for distance in range(1, window + 1):
        seen[f"-{distance}"] = sentence[place - distance] if place >= distance else "<s>"
        seen[f"+{distance}"] = sentence[place + distance] if place + distance < len(sentence) else "</s>"
    return seen


def classifier_f1(train: list[list[Row]], heldout: list[list[Row]], *, window: int) -> float:
    """F1 of a linear classifier over the features of single tokens."""
    vectorizer = DictVectorizer()
    vectors = vectorizer.fit_transform([features(words(s), i, window=window) for s in train for i in range(len(s))])
    inputs = csr_matrix((vectors.data, vectors.indices.astype("int32"), vectors.indptr.astype("int32")), vectors.shape)
    model = LinearSVC(C=0.5, random_state=0).fit(inputs, [row[3] for s in train for row in s])
    guesses = []
    for sentence in heldout:
        rows = [features(words(sentence), i, window=window) for i in range(len(sentence))]
        guesses.append(spans(list(model.predict(vectorizer.transform(rows)))))
    return f1(heldout, guesses)


@pytest.mark.parametrize(("window", "bound"), [(0, 26), (1, 43), (2, 44)])
def test_bag_of_features_fails(files: dict[str, list[list[Row]]], window: int, bound: int) -> None:
    score = classifier_f1(files["eng.train"], files["eng.testa"], window=window)
    assert 10 < score < bound, "a biLSTM with word vectors scores about 59"


def test_iob1_marks_only_adjacent_spans() -> None:
    names = (NamedEntity(0, 1, "PER"), NamedEntity(1, 3, "PER"), NamedEntity(3, 4, "LOC"))
    assert iob1(name_labels(names, length=6)) == ["I-PER", "B-PER", "I-PER", "I-LOC", "O", "O"]


def test_chunks_follow_the_tags() -> None:
    tokens = [
        token("she"),
        token("gave", tag="VBD"),
        token("him"),
        token("a"),
        token("hat"),
        token("at"),
        token("noon"),
    ]
    assert iob1(chunk_labels(tokens)) == ["I-NP", "I-VP", "I-NP", "B-NP", "I-NP", "I-PP", "I-NP"]


def test_possessive_opens_a_chunk() -> None:
    assert iob1(chunk_labels([token("Halden", tag="NNP"), token("'s"), token("hat")])) == ["I-NP", "B-NP", "I-NP"]
