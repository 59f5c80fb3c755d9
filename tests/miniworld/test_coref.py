"""The coreference view: legal format, mentions that its rules decide, and hard for anything that matches strings."""

import re
from collections import Counter
from pathlib import Path

import pytest

from elmo_tasks.coref.clusters import without_singletons
from elmo_tasks.coref.metric import CorefScores
from elmo_tasks.coref.reader import document_clusters, genre_of
from elmo_tasks.data.mentions import Cluster
from elmo_tasks.data.ontonotes import OntonotesDocument, read_documents
from elmo_tasks.miniworld.coref import SIZES, stories, story_clusters
from elmo_tasks.miniworld.generate import SEED

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "miniworld" / "coref"
PRONOUNS = {
    "m": {"he", "him", "his", "himself"},
    "f": {"she", "her", "herself"},
    "n": {"it", "its", "itself"},
    "p": {"they", "them", "their", "themselves"},
}
ALL_PRONOUNS = set().union(*PRONOUNS.values())

Files = dict[str, list[OntonotesDocument]]


@pytest.fixture(scope="module")
def files() -> Files:
    return {name: list(read_documents(FOLDER / f"{name}.gold_conll")) for name in SIZES}


def words(document: OntonotesDocument) -> list[str]:
    return [word for sentence in document.sentences for word in sentence.words]


def texts(document: OntonotesDocument, cluster: Cluster) -> list[str]:
    every = words(document)
    return [" ".join(every[start:end]) for start, end in cluster]


def test_sizes_and_format(files: Files) -> None:
    assert {name: len(documents) for name, documents in files.items()} == SIZES
    for name, documents in files.items():
        raw = (FOLDER / f"{name}.gold_conll").read_bytes()
        assert len(raw) < 1_000_000 and b"\r" not in raw and raw.endswith(b"#end document\n")
        assert all(len(sentence.columns) == 12 for document in documents for sentence in document.sentences)
        assert {genre_of(document.key) for document in documents} == {"tale"}
        assert {len(document.sentences) for document in documents} == set(range(6, 13))
        assert len({document.key for document in documents}) == len(documents)


def test_the_files_are_those_of_the_seed(files: Files) -> None:
    told = stories("dev", seed=SEED)
    assert [words(document) for document in files["dev"]] == [[w for p in story for w in p.words] for story in told]
    assert [document_clusters(document) for document in files["dev"]] == [story_clusters(story) for story in told]


def test_no_singletons_and_enough_of_each_form(files: Files) -> None:
    for documents in files.values():
        forms: Counter[str] = Counter()
        for document in documents:
            clusters = document_clusters(document)
            assert clusters == without_singletons(clusters)
            for text in (text for cluster in clusters for text in texts(document, cluster)):
                described = re.fullmatch(r"[Tt]he [a-z]+", text)
                forms["pronoun" if text.lower() in ALL_PRONOUNS else "described" if described else "name"] += 1
        assert min(forms[form] for form in ("pronoun", "described", "name")) > 0.2 * forms.total()
        assert sum(len(document_clusters(document)) for document in documents) > 2 * len(documents)


def test_a_cluster_has_one_gender(files: Files) -> None:
    for document in (document for documents in files.values() for document in documents):
        for cluster in document_clusters(document):
            used = {text.lower() for text in texts(document, cluster)} & ALL_PRONOUNS
            assert sum(bool(used & of_one) for of_one in PRONOUNS.values()) <= 1, (document.key, used)


def test_some_pronouns_refer_to_nothing(files: Files) -> None:
    """`It rained`: being a pronoun is not enough to be a mention."""
    for documents in files.values():
        for document in documents:
            mentioned = {mention for cluster in document_clusters(document) for mention in cluster}
            free = [n for n, word in enumerate(words(document)) if word == "It" and (n, n + 1) not in mentioned]
            assert all(words(document)[n + 1] in ("rained", "was", "snowed", "grew") for n in free)
        assert sum(words(document).count("It") for document in documents) > 0.2 * len(documents)


def test_most_heldout_names_are_unseen(files: Files) -> None:
    train = {text for document in files["train"] for c in document_clusters(document) for text in texts(document, c)}
    for name in ("dev", "test"):
        found = [t for d in files[name] for c in document_clusters(d) for t in texts(d, c) if t[0].isupper()]
        names = [text for text in found if text.split()[0].lower() not in {"the", *ALL_PRONOUNS}]
        assert sum(text in train for text in names) / len(names) < 0.3


def by_strings(document: OntonotesDocument) -> list[Cluster]:
    """The look-up model: names, pronouns and `the` with a noun that are spelt alike are one entity."""
    every, groups = words(document), dict[str, Cluster]()
    firsts = {0}
    for sentence in document.sentences:
        firsts.add(max(firsts) + len(sentence.words))
    lower = {word for word in every if word.islower()}
    start = 0
    while start < len(every):
        end = start
        while end < len(every) and every[end][0].isupper() and not (end in firsts and every[end].lower() in lower):
            end += 1
        if every[start].lower() in ALL_PRONOUNS:
            end = start + 1
        elif every[start].lower() == "the" and start + 1 < len(every):
            end = start + 2
        if end > start:
            groups.setdefault(" ".join(every[start:end]).lower(), []).append((start, end))
        start = max(end, start + 1)
    return without_singletons(groups.values())


def test_matching_strings_fails(files: Files) -> None:
    metric = CorefScores()
    for document in files["dev"]:
        metric(by_strings(document), document_clusters(document))
    assert 0.1 < metric.get_metric()["f1"] < 0.45


def test_another_seed_tells_other_stories() -> None:
    assert stories("test", seed=1)[0] != stories("test", seed=2)[0]
