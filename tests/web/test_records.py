"""`elmo-tasks serve --examples FILE`."""

import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.tasks import TASKS
from elmo_tasks.web.records import MOST, read_examples
from tests.archives.make import STORED
from tests.test_flow import elmo_tasks
from tests.web.conftest import texts
from tests.web.serving import serving

NER = STORED / "1" / "ner.tar.gz"
WORDS = {"tokens": ["Mira", "left", "Tarn", "."]}
TEXT = {"sentence": "Mira left Tarn."}

PAGE = {
    "title": "Tags",
    "about": "A model.",
    "boxes": [["sentence", "Sentence", 2, "text"]],
    "script": "",
}
"""Of a model of another package."""


def described(task: str) -> dict[str, Any]:
    """A model of this task, as the page is told of it."""
    return {"task": task, "page": None if task in TASKS else PAGE}


def write(file: Path, *inputs: Any) -> Path:
    file.write_text("".join([json.dumps(one) + "\n" for one in inputs]))
    return file


def test_examples_are_the_lines_without_gold_answers_and_ids(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(f"{json.dumps(WORDS | {'id': 7})}\n\n{json.dumps(TEXT)}")
    assert read_examples(str(file), [described("ner")] * 2) == [
        {"input": WORDS, "gold": None},
        {"input": TEXT, "gold": None},
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "mine.jsonl: expected at least one line, got none"),
        ("\n{\n", "mine.jsonl:2: .*one JSON object per line, as for predict"),
        ("Mira left .\n", "mine.jsonl:1: .*one JSON object per line, as for predict"),
        ("3\n", "mine.jsonl:1: expected a JSON object, got 3"),
        (
            (json.dumps(TEXT) + "\n") * (MOST + 1),
            f"mine.jsonl: expected at most {MOST} lines, got more",
        ),
    ],
)
def test_files_that_cannot_be_read(text: str, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(text)
    with pytest.raises(InputError, match=expected):
        read_examples(str(file), [described("ner")])


@pytest.mark.parametrize(
    ("tasks", "given", "expected"),
    [
        (["ner"], {"premise": "a"}, "mine.jsonl:2: .*keys among id, sentence, tokens"),
        (["ner"], {"sentence": 3}, "mine.jsonl:2: 'sentence': .*string, got 3"),
        (["ner"], {}, "mine.jsonl:2: expected either 'sentence' or 'tokens'"),
        (["ner", "sst"], TEXT, "--examples: expected models of one task, got ner, sst"),
        (["sentence_tagger"], WORDS, "mine.jsonl:2: expected the key 'sentence'"),
    ],
)
def test_lines_that_are_no_input_of_the_task(
    tasks: list[str], given: Any, expected: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "mine.jsonl", TEXT, given)
    with pytest.raises(InputError, match=expected):
        read_examples(str(file), [described(task) for task in tasks])


@pytest.mark.slow
def test_the_command_ends_with_the_line_of_the_error(tmp_path: Path) -> None:
    file = write(tmp_path / "mine.jsonl", TEXT, {"text": "Mira left ."})
    with pytest.raises(InputError, match="mine.jsonl:2: expected an object with keys"):
        elmo_tasks("serve", "--port", 0, NER, "--examples", file)


@pytest.mark.slow
def test_the_page_shows_them(browser: Any, tmp_path: Path) -> None:
    file = write(tmp_path / "mine.jsonl", WORDS | {"id": 7}, TEXT)
    with serving(NER, f"other={NER}", "--examples", file) as server:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/#view=ner&model=ner&with=other")
        page.wait_for_selector("article")
        page.wait_for_load_state("networkidle")
        assert texts(page, ".examples button") == ["Mira left Tarn."] * 2
        assert texts(page, ".examples td") == ["none", "none"]
        assert page.locator(".gold, .badge").count() == 0
        about = page.locator("#examples-about").inner_text()
        assert about.startswith("2 texts of mine.jsonl.")
        for row, value in enumerate(["Mira left Tarn .", "Mira left Tarn."]):
            page.locator(".examples button").nth(row).click()
            assert page.locator("textarea").input_value() == value
        page.close()


@pytest.mark.slow
def test_without_examples_the_form_is_empty(browser: Any) -> None:
    """As for a model of somebody's own data: nothing is asked."""
    asked: list[str] = []
    with serving(NER, f"other={NER}") as server:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.method))
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.wait_for_selector("textarea")
        page.wait_for_load_state("networkidle")
        assert page.locator("textarea").input_value() == ""
        assert not page.locator("#overview").is_visible()
        page.locator("#other").select_option("other")
        page.wait_for_load_state("networkidle")
        assert set(asked) == {"GET"}
        page.locator("textarea").fill("Mira left Tarn.")
        page.locator("#run").click()
        page.get_by_text("The answers are the same").first.wait_for()
        assert page.locator(".gold, .badge").count() == 0
        page.close()
