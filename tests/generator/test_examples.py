"""The page's examples are the ones that the rule draws from the test data."""

from pathlib import Path

import pytest

from fixtures.generator.examples import COUNT, EXAMPLES, drawn, generate_examples

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / "fixtures" / "miniworld"


def test_committed_examples_are_reproduced() -> None:
    differing = []
    for path, text in generate_examples(CORPORA).items():
        committed = (ROOT / "elmo_tasks" / "tasks" / path).read_text("utf-8")
        if committed != text:
            differing.append(path)
    assert differing == [], "run make generated"


def test_texts_are_drawn_at_equal_distances() -> None:
    assert drawn(range(1200)) == [100, 300, 500, 700, 900, 1100]
    assert drawn(range(COUNT)) == list(range(COUNT))
    assert drawn("ab") == ["a", "a", "a", "b", "b", "b"]


@pytest.mark.parametrize("package", EXAMPLES)
def test_gold_spans_are_those_of_the_text(package: str) -> None:
    """Each span has the words, or the characters, that it names."""
    count = 0
    for example in EXAMPLES[package](CORPORA):
        given = example["input"]
        words = given.get("tokens", [])
        for sentence in given.get("sentences", []):
            words = words + sentence
        for span in spans(example["gold"]):
            count += 1
            if "token_start" in span:
                found = " ".join(words[span["token_start"] : span["token_end"]])
            else:
                found = given["passage"][span["start"] : span["end"]]
            assert found == span["text"]
    assert (count > 0) == (package not in ("sst", "snli"))


def spans(value: object) -> list[dict[str, int]]:
    """All objects with a `text`, in an object or list of any depth."""
    if isinstance(value, dict):
        if "text" in value:
            return [value]
        value = list(value.values())
    found = []
    if isinstance(value, list):
        for part in value:
            found += spans(part)
    return found
