"""
Scores of shallow baselines on the synthetic corpus, as docs/RESULTS.md reports them.

    PYTHONPATH=. python benchmarks/corpus_baselines.py

F1 and accuracy are in percent. Without a comment, a baseline is trained on the training file and scored on `dev`.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import dropwhile, groupby, takewhile
from pathlib import Path

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from elmo_tasks.formats.columns import read_columns
from elmo_tasks.formats.ontonotes import read_documents
from elmo_tasks.formats.spans import Span, spans_from_tags
from elmo_tasks.formats.trees import read_trees
from elmo_tasks.tasks.coref.metric import CorefScores
from elmo_tasks.tasks.coref.reader import document_clusters
from elmo_tasks.tasks.squad.metric import SquadEmAndF1, normalize

CORPUS = Path(__file__).resolve().parents[1] / "fixtures" / "miniworld"

Words = Sequence[str]


def span_f1(
    gold: Sequence[Iterable[Span]], predicted: Sequence[Iterable[Span]]
) -> float:
    pairs = [
        (set(spans), set(found)) for spans, found in zip(gold, predicted, strict=True)
    ]
    return (
        200 * sum(len(a & b) for a, b in pairs) / sum(len(a) + len(b) for a, b in pairs)
    )


def bag_classifier(classifier: LinearSVC | LogisticRegression) -> Pipeline:
    """A linear classifier of bags of features."""
    return make_pipeline(CountVectorizer(analyzer=list), classifier)


def read_ner(name: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [
        (s.columns[0], s.columns[3])
        for s in read_columns(CORPUS / "ner" / name, min_columns=4)
    ]


def ner_gazetteer(name: str) -> float:
    """The longest match of a training name, with the most frequent type of the name."""
    types: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for words, tags in read_ner("eng.train"):
        for start, end, label in spans_from_tags(tags):
            types[words[start:end]][label] += 1

    def tag(words: tuple[str, ...]) -> list[Span]:
        spans, start = [], 0
        while start < len(words):
            ends = (
                end
                for end in range(min(start + 5, len(words)), start, -1)
                if words[start:end] in types
            )
            end = next(ends, start)
            if end > start:
                spans.append(
                    Span(start, end, types[words[start:end]].most_common(1)[0][0])
                )
            start = max(end, start + 1)
        return spans

    sentences = read_ner(name)
    return span_f1(
        [spans_from_tags(tags) for _, tags in sentences],
        [tag(words) for words, _ in sentences],
    )


def ner_classifier(window: int) -> float:
    """A linear classifier of single tokens; features are the form of the token and its neighbours."""

    def features(words: tuple[str, ...], index: int) -> list[str]:
        word, padded = words[index], (*["<s>"] * window, *words, *["</s>"] * window)
        form = [f"lower {word.lower()}", f"suffix {word[-3:]}", f"prefix {word[:3]}"]
        capital = [
            f"capital {word[0].isupper()}",
            f"first {index == 0}",
            f"both {word[0].isupper() and index == 0}",
        ]
        context = padded[index : index + 2 * window + 1]
        return (
            form
            + capital
            + [f"{offset} {other}" for offset, other in enumerate(context)]
        )

    train, dev = read_ner("eng.train"), read_ner("eng.testa")
    rows = [features(words, index) for words, _ in train for index in range(len(words))]
    model = bag_classifier(LinearSVC(C=0.5, random_state=0)).fit(
        rows, [tag for _, tags in train for tag in tags]
    )
    predicted = [
        model.predict([features(words, index) for index in range(len(words))])
        for words, _ in dev
    ]
    return span_f1(
        [spans_from_tags(tags) for _, tags in dev],
        [spans_from_tags(list(tags)) for tags in predicted],
    )


def entailment_classifier(kind: str) -> float:
    """A linear classifier of the hypothesis, of both sentences, or of pairs of a word from each."""

    def features(record: dict[str, str]) -> list[str]:
        premise, hypothesis = (
            set(re.findall(r"[\w']+", record[f"sentence{n}"].lower())) for n in (1, 2)
        )
        found = [f"hypothesis {word}" for word in hypothesis]
        if kind != "hypothesis":
            found += [f"premise {word}" for word in premise] + [
                f"{len(hypothesis - premise)} new words"
            ]
        if kind == "pairs":
            found += [
                f"pair {first} {second}" for first in premise for second in hypothesis
            ]
        return found

    def read(name: str) -> tuple[list[list[str]], list[str]]:
        lines = (CORPUS / f"snli/snli_1.0_{name}.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return [features(record) for record in records], [
            record["gold_label"] for record in records
        ]

    return 100 * bag_classifier(LogisticRegression(C=0.1, tol=0.01)).fit(
        *read("train")
    ).score(*read("dev"))


def sentiment_classifier(name: str) -> float:
    """A linear classifier of words and bigrams, trained on phrases of four words and more."""

    def features(words: Words) -> list[str]:
        return [
            *words,
            *(
                f"{first} {second}"
                for first, second in zip(words, words[1:], strict=False)
            ),
        ]

    train, scored = (
        list(read_trees(CORPUS / f"sst/{file}.txt")) for file in ("train", name)
    )
    phrases = [
        (tree, phrase)
        for tree in train
        for phrase in tree.phrases
        if phrase.length >= 4
    ]
    rows = [features(tree.words[phrase.start : phrase.end]) for tree, phrase in phrases]
    model = bag_classifier(LinearSVC(C=0.05, random_state=0)).fit(
        rows, [phrase.label for _, phrase in phrases]
    )
    return 100 * model.score(
        [features(tree.words) for tree in scored], [tree.root.label for tree in scored]
    )


FUNCTION_WORDS = """
who whom what which when where why how long did was were by to of a an the in on at with for from and it its his her
their some somebody someone had has that said but
""".split()
PHRASE_ENDS = "was were by to had has that who which and".split()
ADJUNCT_STARTS = {
    "When": "in on at before after during all last the within for until towards".split(),
    "Where": "in on at near under off by beside behind outside".split(),
    "Why": "because for after out on to over of at".split(),
    "How": "with without in by against from on as together for until throughout all".split(),
}


def stem(word: str) -> str:
    return re.sub(r"(ed|s|ing|e)$", "", word.lower())


def stems(text: str) -> set[str]:
    return {
        stem(word) for word in normalize(text).split() if word not in FUNCTION_WORDS
    }


def look_up(passage: str, question: str) -> str:
    """The first phrase of the expected kind in the sentence that shares most words with the question."""
    given = stems(question)
    sentences = re.split(
        r"(?<=[a-z0-9][.?]) (?=[A-Z\"])",
        re.sub(r"\b(Mr|Mrs|Dr|[A-Z])\.", r"\1", passage),
    )
    sentence = max(sentences, key=lambda sentence: len(given & stems(sentence)))
    tokens = re.findall(r"\w[\w,']*\w|\w|[.,\"]", sentence)

    def is_new(token: str) -> bool:
        return (
            token not in ',."'
            and stem(token) not in given
            and token.lower() not in PHRASE_ENDS
        )

    starts = ADJUNCT_STARTS.get(question.split()[0])
    if starts is None:
        runs = [list(run) for new, run in groupby(tokens, key=is_new) if new]
        phrases = [
            list(dropwhile(lambda token: token.lower() in FUNCTION_WORDS, run))
            for run in runs
        ]
    else:
        places = [i for i, token in enumerate(tokens[:-1]) if token.lower() in starts]
        new = [i for i in places if not stems(" ".join(tokens[i + 1 : i + 3])) & given]
        phrases = [
            list(takewhile(lambda token: token not in ',."', tokens[i : i + 5]))
            for i in new
        ]
    return next((" ".join(phrase) for phrase in phrases if phrase), sentence)


def answer_look_up(name: str) -> float:
    metric = SquadEmAndF1()
    articles = json.loads((CORPUS / f"squad/{name}-v1.1.json").read_text())["data"]
    for paragraph in (
        paragraph for article in articles for paragraph in article["paragraphs"]
    ):
        for asked in paragraph["qas"]:
            answers = [answer["text"] for answer in asked["answers"]]
            metric([look_up(paragraph["context"], asked["question"])], [answers])
    return 100 * metric.get_metric()["f1"]


def distance(index: int, predicate: int) -> int:
    return max(-6, min(6, index - predicate))


Key = Callable[[Words, Words, int, int], object]
"""Of words, tags, the index of the predicate and the index of a token."""

ROLE_KEYS: list[Key] = [
    lambda words, tags, predicate, i: (words[i], distance(i, predicate)),
    lambda words, tags, predicate, i: (words[predicate], distance(i, predicate)),
    lambda words, tags, predicate, i: (
        words[i],
        tags[predicate],
        distance(i, predicate),
    ),
    lambda words, tags, predicate, i: (tags[i], tags[predicate], i > predicate),
]


def role_look_up(key: Key) -> float:
    """The most frequent label of tokens with the same key, else at the same distance from the predicate."""

    def read(name: str) -> list[tuple[Words, Words, int, list[Span]]]:
        documents = read_documents(CORPUS / "srl" / name / "world.gold_conll")
        sentences = [
            sentence for document in documents for sentence in document.sentences
        ]
        frames = [(s, frame) for s in sentences for frame in s.frames()]
        return [
            (s.words, s.pos, f.predicate, [a for a in f.arguments if a.label != "V"])
            for s, f in frames
        ]

    counts: dict[object, Counter[str]] = defaultdict(Counter)
    for words, tags, predicate, arguments in read("train"):
        for i in range(len(words)):
            label = next((a.label for a in arguments if a.start <= i < a.end), "O")
            counts[key(words, tags, predicate, i)][label] += 1
            counts[distance(i, predicate)][label] += 1

    def label_spans(words: Words, tags: Words, predicate: int) -> list[Span]:
        keys = [
            (key(words, tags, predicate, i), distance(i, predicate))
            for i in range(len(words))
        ]
        found = [
            (counts.get(first) or counts[second]).most_common(1)[0][0]
            for first, second in keys
        ]
        labels = ["O" if i == predicate else label for i, label in enumerate(found)]
        runs = [
            (label, list(run))
            for label, run in groupby(range(len(words)), key=labels.__getitem__)
        ]
        return [Span(run[0], run[-1] + 1, label) for label, run in runs if label != "O"]

    dev = read("development")
    return span_f1(
        [arguments for *_, arguments in dev], [label_spans(*case[:3]) for case in dev]
    )


PRONOUNS = "he him his himself she her herself it its itself they them their themselves"


def string_matching() -> float:
    """Equal names, pronouns and descriptions corefer."""
    metric = CorefScores()
    for document in read_documents(CORPUS / "coref/dev.gold_conll"):
        words = [word for sentence in document.sentences for word in sentence.words]
        groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
        start = 0
        while start < len(words):
            end = start
            while (
                end < len(words)
                and words[end][0].isupper()
                and words[end].lower() not in words
            ):
                end += 1
            if words[start].lower() in (*PRONOUNS.split(), "the"):
                end = min(
                    start + (2 if words[start].lower() == "the" else 1), len(words)
                )
            if end > start:
                groups[" ".join(words[start:end]).lower()].append((start, end))
            start = max(end, start + 1)
        metric(
            [cluster for cluster in groups.values() if len(cluster) > 1],
            document_clusters(document),
        )
    return 100 * metric.get_metric()["f1"]


BASELINES: dict[str, Callable[[], float]] = {
    "NER, names of the training file, on that file": partial(
        ner_gazetteer, "eng.train"
    ),
    "NER, names of the training file": partial(ner_gazetteer, "eng.testa"),
    **{
        f"NER, classifier of tokens, window {width}": partial(ner_classifier, width)
        for width in (0, 1, 2)
    },
    **{
        f"SNLI, {kind}": partial(entailment_classifier, kind)
        for kind in ("hypothesis", "both", "pairs")
    },
    "SST, on the training file": partial(sentiment_classifier, "train"),
    "SST": partial(sentiment_classifier, "dev"),
    "SQuAD": partial(answer_look_up, "dev"),
    "SQuAD, on the test file": partial(answer_look_up, "test"),
    **{
        f"SRL, key {number}": partial(role_look_up, key)
        for number, key in enumerate(ROLE_KEYS)
    },
    "coreference, equal strings": string_matching,
}

if __name__ == "__main__":
    for name, baseline in BASELINES.items():
        print(f"{name:50} {baseline():6.1f}")
