"""
Scores of shallow baselines on the synthetic corpus, as docs/results/table-1.md reports them.

    PYTHONPATH=. python benchmarks/corpus_baselines.py

F1 and accuracy are in percent. Without a comment, a baseline is trained on the training
file and scored on `dev`.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, groupby, pairwise, takewhile
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
    """F1 in percent of the spans of all sentences."""
    correct = 0
    total = 0
    for gold_spans, predicted_spans in zip(gold, predicted, strict=True):
        expected = set(gold_spans)
        found = set(predicted_spans)
        correct += len(expected & found)
        total += len(expected) + len(found)
    return 200 * correct / total


def bag_classifier(classifier: LinearSVC | LogisticRegression) -> Pipeline:
    """A linear classifier of bags of features."""
    return make_pipeline(CountVectorizer(analyzer=list), classifier)


def read_ner(name: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The words and the tags of each sentence."""
    sentences = read_columns(CORPUS / "ner" / name, min_columns=4)
    return [(sentence.columns[0], sentence.columns[3]) for sentence in sentences]


def most_frequent(counts: Counter[str]) -> str:
    return counts.most_common(1)[0][0]


def ner_gazetteer(name: str) -> float:
    """The longest match of a training name, with the most frequent type of the name."""
    types: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for words, tags in read_ner("eng.train"):
        for start, end, label in spans_from_tags(tags):
            types[words[start:end]][label] += 1

    def longest_name(words: tuple[str, ...], start: int) -> int:
        """
        The end of the longest name that begins at `start`; `start` if there is none.
        """
        end = min(start + 5, len(words))
        while end > start and words[start:end] not in types:
            end -= 1
        return end

    def tag(words: tuple[str, ...]) -> list[Span]:
        spans = []
        start = 0
        while start < len(words):
            end = longest_name(words, start)
            if end > start:
                label = most_frequent(types[words[start:end]])
                spans.append(Span(start, end, label))
            start = max(end, start + 1)
        return spans

    sentences = read_ner(name)
    return span_f1(
        [spans_from_tags(tags) for _, tags in sentences],
        [tag(words) for words, _ in sentences],
    )


def ner_classifier(window: int) -> float:
    """
    A linear classifier of single tokens; features are the form of the token and its
    neighbours.
    """

    def features(words: tuple[str, ...], index: int) -> list[str]:
        word = words[index]
        found = [
            f"lower {word.lower()}",
            f"suffix {word[-3:]}",
            f"prefix {word[:3]}",
            f"capital {word[0].isupper()}",
            f"first {index == 0}",
            f"both {word[0].isupper() and index == 0}",
        ]
        padded = ["<s>"] * window + list(words) + ["</s>"] * window
        for offset in range(2 * window + 1):
            found.append(f"{offset} {padded[index + offset]}")
        return found

    rows = []
    labels: list[str] = []
    for words, tags in read_ner("eng.train"):
        rows += [features(words, index) for index in range(len(words))]
        labels += tags
    model = bag_classifier(LinearSVC(C=0.5, random_state=0)).fit(rows, labels)
    gold = []
    predicted = []
    for words, tags in read_ner("eng.testa"):
        gold.append(spans_from_tags(tags))
        rows = [features(words, index) for index in range(len(words))]
        predicted.append(spans_from_tags(list(model.predict(rows))))
    return span_f1(gold, predicted)


def entailment_classifier(kind: str) -> float:
    """
    A linear classifier of the hypothesis, of both sentences, or of pairs of a word from
    each.
    """

    def features(record: dict[str, str]) -> list[str]:
        premise = distinct_words(record["sentence1"])
        hypothesis = distinct_words(record["sentence2"])
        found = [f"hypothesis {word}" for word in hypothesis]
        if kind != "hypothesis":
            found += [f"premise {word}" for word in premise]
            found.append(f"{len(hypothesis - premise)} new words")
        if kind == "pairs":
            for first in premise:
                found += [f"pair {first} {second}" for second in hypothesis]
        return found

    def read(name: str) -> tuple[list[list[str]], list[str]]:
        lines = (CORPUS / f"snli/snli_1.0_{name}.jsonl").read_text().splitlines()
        records = [json.loads(line) for line in lines]
        rows = [features(record) for record in records]
        return rows, [record["gold_label"] for record in records]

    model = bag_classifier(LogisticRegression(C=0.1, tol=0.01))
    rows, labels = read("train")
    model.fit(rows, labels)
    rows, labels = read("dev")
    return 100 * model.score(rows, labels)


def distinct_words(text: str) -> set[str]:
    return set(re.findall(r"[\w']+", text.lower()))


def sentiment_classifier(name: str) -> float:
    """
    A linear classifier of words and bigrams, trained on phrases of four words and more.
    """

    def features(words: Words) -> list[str]:
        bigrams = [f"{first} {second}" for first, second in pairwise(words)]
        return list(words) + bigrams

    rows = []
    labels = []
    for tree in read_trees(CORPUS / "sst/train.txt"):
        for phrase in tree.phrases:
            if phrase.length >= 4:
                rows.append(features(tree.words[phrase.start : phrase.end]))
                labels.append(phrase.label)
    model = bag_classifier(LinearSVC(C=0.05, random_state=0)).fit(rows, labels)
    scored = list(read_trees(CORPUS / f"sst/{name}.txt"))
    rows = [features(tree.words) for tree in scored]
    return 100 * model.score(rows, [tree.root.label for tree in scored])


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
    words = normalize(text).split()
    return {stem(word) for word in words if word not in FUNCTION_WORDS}


def look_up(passage: str, question: str) -> str:
    """
    The first phrase of the expected kind in the sentence that shares most words with
    the question.
    """
    given = stems(question)

    def shared_words(sentence: str) -> int:
        return len(given & stems(sentence))

    without_initials = re.sub(r"\b(Mr|Mrs|Dr|[A-Z])\.", r"\1", passage)
    sentences = re.split(r"(?<=[a-z0-9][.?]) (?=[A-Z\"])", without_initials)
    sentence = max(sentences, key=shared_words)
    tokens = re.findall(r"\w[\w,']*\w|\w|[.,\"]", sentence)
    phrases = new_phrases(tokens, given)
    interrogative = question.split()[0]
    if interrogative in ADJUNCT_STARTS:
        phrases = new_adjuncts(tokens, given, ADJUNCT_STARTS[interrogative])
    for phrase in phrases:
        if phrase:
            return " ".join(phrase)
    return sentence


def new_phrases(tokens: list[str], given: set[str]) -> list[list[str]]:
    """
    The longest runs of words that the question does not have, without function words in
    front.
    """

    def is_new(token: str) -> bool:
        if token in ',."' or token.lower() in PHRASE_ENDS:
            return False
        return stem(token) not in given

    def is_function_word(token: str) -> bool:
        return token.lower() in FUNCTION_WORDS

    phrases = []
    for new, run in groupby(tokens, key=is_new):
        if new:
            phrases.append(list(dropwhile(is_function_word, run)))
    return phrases


def new_adjuncts(
    tokens: list[str], given: set[str], starts: list[str]
) -> list[list[str]]:
    """
    At most five words from each of `starts` to the next mark, where the next two are
    not in the question.
    """

    def is_word(token: str) -> bool:
        return token not in ',."'

    phrases = []
    for place, token in enumerate(tokens[:-1]):
        following = " ".join(tokens[place + 1 : place + 3])
        if token.lower() in starts and given.isdisjoint(stems(following)):
            phrases.append(list(takewhile(is_word, tokens[place : place + 5])))
    return phrases


def answer_look_up(name: str) -> float:
    """F1 of `look_up` in percent."""
    metric = SquadEmAndF1()
    articles = json.loads((CORPUS / f"squad/{name}-v1.1.json").read_text())["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answers = [answer["text"] for answer in asked["answers"]]
                found = look_up(paragraph["context"], asked["question"])
                metric([found], [answers])
    return 100 * metric.get_metric()["f1"]


def distance(index: int, predicate: int) -> int:
    """Tokens from the predicate, at most 6."""
    return max(-6, min(6, index - predicate))


Key = Callable[[Words, Words, int, int], object]
"""Of words, tags, the index of the predicate and the index of a token."""


def word_and_distance(words: Words, tags: Words, predicate: int, i: int) -> object:
    return words[i], distance(i, predicate)


def verb_and_distance(words: Words, tags: Words, predicate: int, i: int) -> object:
    return words[predicate], distance(i, predicate)


def word_form_and_distance(words: Words, tags: Words, predicate: int, i: int) -> object:
    return words[i], tags[predicate], distance(i, predicate)


def tags_and_side(words: Words, tags: Words, predicate: int, i: int) -> object:
    return tags[i], tags[predicate], i > predicate


ROLE_KEYS: list[Key] = [
    word_and_distance,
    verb_and_distance,
    word_form_and_distance,
    tags_and_side,
]


def role_look_up(key: Key) -> float:
    """
    The most frequent label of tokens with the same key, else at the same distance from
    the predicate.
    """

    counts: dict[object, Counter[str]] = defaultdict(Counter)
    for words, tags, predicate, arguments in read_predicates("train"):
        labels = token_labels(arguments, len(words))
        for i, label in enumerate(labels):
            counts[key(words, tags, predicate, i)][label] += 1
            counts[distance(i, predicate)][label] += 1

    def look_up_label(words: Words, tags: Words, predicate: int, i: int) -> str:
        if i == predicate:
            return "O"
        same_key = counts.get(key(words, tags, predicate, i))
        if same_key is None:
            return most_frequent(counts[distance(i, predicate)])
        return most_frequent(same_key)

    gold = []
    predicted = []
    for words, tags, predicate, arguments in read_predicates("development"):
        labels = [look_up_label(words, tags, predicate, i) for i in range(len(words))]
        gold.append(arguments)
        predicted.append(runs_of_labels(labels))
    return span_f1(gold, predicted)


def read_predicates(name: str) -> Iterator[tuple[Words, Words, int, list[Span]]]:
    """
    The words and tags of the sentence of each predicate, its index and its arguments.
    """
    for document in read_documents(CORPUS / "srl" / name / "world.gold_conll"):
        for sentence in document.sentences:
            for frame in sentence.frames():
                arguments = [span for span in frame.arguments if span.label != "V"]
                yield sentence.words, sentence.pos, frame.predicate, arguments


def token_labels(spans: Iterable[Span], length: int) -> list[str]:
    """The label of each token; `O` outside of all spans."""
    labels = ["O"] * length
    for span in spans:
        for index in range(span.start, span.end):
            labels[index] = span.label
    return labels


def runs_of_labels(labels: Sequence[str]) -> list[Span]:
    """The longest spans of tokens with equal labels, except `O`."""
    spans = []
    start = 0
    for label, run in groupby(labels):
        end = start + len(list(run))
        if label != "O":
            spans.append(Span(start, end, label))
        start = end
    return spans


PRONOUNS = "he him his himself she her herself it its itself they them their themselves"


def string_matching() -> float:
    """Equal names, pronouns and descriptions corefer."""
    metric = CorefScores()
    for document in read_documents(CORPUS / "coref/dev.gold_conll"):
        words: list[str] = []
        for sentence in document.sentences:
            words += sentence.words
        groups: dict[str, list[tuple[int, int]]] = defaultdict(list)
        start = 0
        while start < len(words):
            end = end_of_mention(words, start)
            if end > start:
                groups[" ".join(words[start:end]).lower()].append((start, end))
            start = max(end, start + 1)
        clusters = [cluster for cluster in groups.values() if len(cluster) > 1]
        metric(clusters, document_clusters(document))
    return 100 * metric.get_metric()["f1"]


def end_of_mention(words: Sequence[str], start: int) -> int:
    """
    The end of a pronoun, of `the` and a word, or of a name; `start` if none begins
    here.
    """
    first = words[start].lower()
    if first in PRONOUNS.split():
        return start + 1
    if first == "the":
        return min(start + 2, len(words))
    end = start
    while end < len(words) and is_name(words[end], words):
        end += 1
    return end


def is_name(word: str, words: Sequence[str]) -> bool:
    """Whether a word has a capital, and the text does not have it in lower case."""
    return word[0].isupper() and word.lower() not in words


def show(name: str, score: float) -> None:
    print(f"{name:50} {score:6.1f}")


def main() -> None:
    show("NER, names of the training file, on that file", ner_gazetteer("eng.train"))
    show("NER, names of the training file", ner_gazetteer("eng.testa"))
    for width in (0, 1, 2):
        show(f"NER, classifier of tokens, window {width}", ner_classifier(width))
    for kind in ("hypothesis", "both", "pairs"):
        show(f"SNLI, {kind}", entailment_classifier(kind))
    show("SST, on the training file", sentiment_classifier("train"))
    show("SST", sentiment_classifier("dev"))
    show("SQuAD", answer_look_up("dev"))
    show("SQuAD, on the test file", answer_look_up("test"))
    for number, key in enumerate(ROLE_KEYS):
        show(f"SRL, key {number}", role_look_up(key))
    show("coreference, equal strings", string_matching())


if __name__ == "__main__":
    main()
