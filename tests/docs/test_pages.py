"""
The pages for newcomers: docs/two-minutes.md, its picture, docs/when-to-use.md, the
index of tasks and the glossary. What their code prints is what they show, each number
is that of a measurement, and links lead to a heading.
"""

import json
import re
import runpy
import statistics
import subprocess
from pathlib import Path

import pytest

from docs import generate_tables
from tests.docs.test_examples import FENCE
from tests.tiny import ROOT

DOCS = ROOT / "docs"
IMAGES = DOCS / "images"
CHOICE = DOCS / "when-to-use.md"

PAGES = [
    "two-minutes",
    "when-to-use",
    "troubleshooting",
    "glossary",
    "how-to",
    "TABLES",
    "PERFORMANCE",
    "RELIABILITY",
    "../CONTRIBUTING",
    "../benchmarks/README",
    "../tests/README",
    "../fixtures/generator/README",
    "../allennlp_archives/README",
]
"""Their links are tested: those out of docs/ are not when the site is built."""

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)

NUMBER = re.compile(r"\d[\d,]*\.\d+(?: ± \d+\.\d)?|\d+,\d{3}\b")
"""Every number with a fraction, with its deviation, and every one above 999."""

MEASURED = {
    "79.2 ± 1.4": r"\| TF-IDF of words \| 79\.2 ± 1\.4",
    "73.2 ± 1.5": r"three layers averaged \| 73\.2 ± 1\.5",
    "1.4": r"gains 1\.4 \(SE 0\.5",
    "0.5": r"gains 1\.4 \(SE 0\.5",
    "2.1": r"\| SST-5 \|.* \+2\.1",
    "22.40": r"\| snli \| not cached \|.* 22\.40 \|",
    "3.48": r"\| snli \| cached \|.* 3\.48 \|",
    "8,670": r"all its layers in float32 at 8,670 tokens",
    "5.1": r"the bundled one 5\.1 million",
    "14.8": r"14\.8 million tokens",
    "93.6": r"93\.6 million parameters",
    "13,100": r"13,100 of 549,367 pairs",
    "30,003": r"30,003 words",
}
"""
For each number of the page that is not computed from runs here, the pattern of where
another page reports the measurement.
"""


def runs(name: str) -> list[dict[str, object]]:
    """The runs in a file of docs/results, with their best dev score in percent."""
    found = []
    for line in (DOCS / "results" / f"{name}.jsonl").read_text("utf-8").splitlines():
        run = json.loads(line)
        scores = run["scores"]
        score = 100 * scores.get("f1", scores.get("accuracy"))
        found.append({"row": run["row"], "score": score})
    return found


def scores_of(name: str, row: str) -> list[float]:
    scores = [run["score"] for run in runs(name) if run["row"] == row]
    assert scores, row
    return scores  # type: ignore[return-value]


def with_deviation(name: str, row: str) -> str:
    """`44.9 ± 1.0`."""
    scores = scores_of(name, row)
    return f"{statistics.mean(scores):.1f} ± {statistics.stdev(scores):.1f}"


def other_pages() -> str:
    """What all other pages say, with one blank between words."""
    texts = [(ROOT / "README.md").read_text("utf-8")]
    for page in sorted(DOCS.rglob("*.md")):
        if page != CHOICE:
            texts.append(page.read_text("utf-8"))
    texts.append((ROOT / "fixtures/bilm/README.md").read_text("utf-8"))
    return re.sub(r" +", " ", "\n".join(texts).replace("**", ""))


def computed() -> set[str]:
    """The numbers of the page that follow from the runs in docs/results."""
    text = CHOICE.read_text("utf-8")
    expected = [
        with_deviation("glove", "wnut-glove-baseline"),
        with_deviation("glove", "wnut-glove-elmo"),
        with_deviation("glove", "sst-glove-baseline"),
        with_deviation("glove", "sst-glove-elmo"),
    ]
    numbers = set(NUMBER.findall(generate_tables.tables()["encoders-compared"]))
    for cell in expected:
        assert cell in text, cell
        numbers |= set(NUMBER.findall(cell))
    return numbers


def test_every_number_is_that_of_a_measurement() -> None:
    weights = (ROOT / "fixtures/bilm/weights.hdf5").stat().st_size
    size = f"{weights / 1e6:.1f}"
    prose = FENCE.sub("", CHOICE.read_text("utf-8"))
    assert f"a file of {size} MB" in prose
    assert set(NUMBER.findall(prose)) == computed() | set(MEASURED) | {size}
    sources = other_pages()
    for number, pattern in MEASURED.items():
        assert re.search(pattern, sources), number


def test_the_scores_in_two_minutes_are_those_of_table_1() -> None:
    text = (DOCS / "two-minutes.md").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for task in ("SQuAD", "SNLI"):
        scores = re.search(rf"{task} (?:rises )?from ([\d.]+) to ([\d.]+)", text)
        assert scores is not None
        row = re.search(
            rf"\| {task} \| [a-z ]+ \| ([\d.]+) ± [\d.]+ \| ([\d.]+) ±", readme
        )
        assert row is not None
        assert scores.groups() == row.groups()


def printed_blocks(page: Path) -> list[tuple[str, str]]:
    """Each block of Python that is followed by what it prints, and that."""
    pairs = []
    blocks = list(FENCE.finditer(page.read_text("utf-8")))
    for code, output in zip(blocks[:-1], blocks[1:], strict=True):
        if code["info"] == "python" and output["info"] == "":
            pairs.append((code["text"], output["text"]))
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two-minutes.md", "when-to-use.md"])
def test_code_prints_what_the_page_shows(
    name: str, environment: dict[str, str], tmp_path: Path
) -> None:
    pairs = printed_blocks(DOCS / name)
    assert len(pairs) == 1
    for code, output in pairs:
        (tmp_path / "block.py").write_text(code, "utf-8")
        done = subprocess.run(
            ["python", "block.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout == output


def test_the_picture_is_what_its_script_draws() -> None:
    drawn = runpy.run_path(str(IMAGES / "elmo.py"))["picture"]()
    assert (IMAGES / "elmo.svg").read_text("utf-8") == drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elmo", "figure-1", "figure-2"])
def test_a_picture_can_be_read_at_400_pixels(name: str, browser: object) -> None:
    """
    No text has letters below 12 pixels, leaves the picture, or lies on another one.
    """
    page = browser.new_page(viewport={"width": 400, "height": 500})  # type: ignore[attr-defined]
    page.set_content((IMAGES / f"{name}.svg").read_text("utf-8"))
    texts = page.evaluate(
        """() => {
          const svg = document.querySelector("svg");
          svg.setAttribute("width", 400);
          svg.removeAttribute("height");
          const origin = svg.getBoundingClientRect();
          return [...svg.querySelectorAll("text")].map(text => {
            const box = text.getBoundingClientRect();
            const size = parseFloat(getComputedStyle(text).fontSize);
            return {text: text.textContent, size: size * origin.width / 480,
                    left: box.left - origin.left, right: box.right - origin.left,
                    top: box.top - origin.top, bottom: box.bottom - origin.top};
          });
        }"""
    )
    page.close()
    assert len(texts) > 10
    for number, one in enumerate(texts):
        assert one["size"] >= 12, one
        assert one["left"] >= 0 and one["right"] <= 400, one
        for other in texts[:number]:
            is_beside = one["left"] >= other["right"] or one["right"] <= other["left"]
            is_apart = one["top"] >= other["bottom"] or one["bottom"] <= other["top"]
            assert is_beside or is_apart, (one, other)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text("utf-8"))):
        text = re.sub(r"[^\w\s-]", "", heading.lower())
        found.add(text.strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_a_file_and_a_heading(name: str) -> None:
    page = DOCS / f"{name}.md"
    links = LINK.findall(FENCE.sub("", page.read_text("utf-8")))
    assert links
    for path, anchor in links:
        target = page if path == "" else (page.parent / path)
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), (path, anchor)


def test_the_index_has_a_line_for_each_task() -> None:
    text = (DOCS / "how-to.md").read_text("utf-8")
    tasks = re.findall(r"^- (.*)$", text, re.MULTILINE)
    assert 25 <= len(tasks) <= 50
    assert len(set(tasks)) == len(tasks)
    for task in tasks:
        assert LINK.search(task), task


def test_the_glossary_is_in_order() -> None:
    text = (DOCS / "glossary.md").read_text("utf-8")
    terms = re.findall(r"^\*\*(.+?)\*\*: ", text, re.MULTILINE)
    assert len(terms) > 50
    plain = [re.sub(r"[^a-z0-9]", "", term.lower()) for term in terms]
    assert plain == sorted(plain)
