"""
The numbers of docs/RESULTS.md, of the pages below docs/results/ and of README:
docs/generate_tables.py computes the tables from the raw rows in docs/results/*.jsonl,
and the tests what the text says of them.
"""

import argparse
import json
import re
import shlex
from collections import defaultdict
from math import hypot
from pathlib import Path
from statistics import mean, stdev

import pytest

from docs import generate_tables
from docs.generate_tables import filled, raw_rows, runs, standard_error
from elmo_tasks.experiments.tables.table import choose_rows, read_table
from elmo_tasks.resources import DATA_VARIABLE
from tests.tiny import ROOT

DOCS = ROOT / "docs"
FOLDER = DOCS / "results"
PAGES = sorted(FOLDER.glob("*.md"))
COMMENT = re.compile("<!--.*?-->")
FENCES = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
TABLE_LINE = re.compile(r"^\|.*$", re.MULTILINE)
JSONNET = re.compile(r"^```jsonnet\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE_DOCUMENT = re.compile(
    r"^cat > (\S+) <<'EOF'\n(.*?)^EOF$", re.MULTILINE | re.DOTALL
)
OPTIONS = argparse.ArgumentParser()
OPTIONS.add_argument("--scale", default="mini")
OPTIONS.add_argument("--rows", nargs="*", default=[])
ABLATE = re.compile(r"elmo-tasks ablate ([\w.]+)([^`\n]*)")
DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\d.])")
NOT_SCORES = {"2.13", "3.11", "5.1", "5.4"}
"""Versions of torch and Python, and sections of the paper."""

TABLE_1 = [
    ("table1:squad-elmo", "table1:squad-baseline"),
    ("table1:snli-elmo", "table1:snli-baseline"),
    ("srl_adam:srl-input", "srl_adam:srl-baseline"),
    ("table1:coref-elmo", "table1:coref-baseline"),
    ("tokens:ner-59M", "tokens:ner-baseline"),
    ("wikigold:wikigold-elmo", "wikigold:wikigold-baseline"),
    ("tokens:sst-59M", "tokens:sst-baseline"),
]
"""The runs with ELMo and without it."""

STATED = [
    (
        "RESULTS.md",
        "SQuAD gains {by aside:squad-elmo%aside_f1 aside:squad-baseline%aside_f1} "
        "(SE {joint aside:squad-elmo%aside_f1 aside:squad-baseline%aside_f1 aside}), "
        "SNLI {by aside:snli-elmo%aside_accuracy "
        "aside:snli-baseline%aside_accuracy} ({joint "
        "aside:snli-elmo%aside_accuracy aside:snli-baseline%aside_accuracy aside}),",
    ),
    (
        "RESULTS.md",
        "SRL {by aside:srl-elmo%aside_f1 aside:srl-baseline%aside_f1} ({joint "
        "aside:srl-elmo%aside_f1 aside:srl-baseline%aside_f1 aside}), coreference {by "
        "aside:coref-elmo%aside_f1 aside:coref-baseline%aside_f1} ({joint "
        "aside:coref-elmo%aside_f1 aside:coref-baseline%aside_f1 aside}),",
    ),
    (
        "RESULTS.md",
        "NER {by aside:ner-elmo%aside_f1 aside:ner-baseline%aside_f1} ({joint "
        "aside:ner-elmo%aside_f1 aside:ner-baseline%aside_f1 aside}), SST-5 nothing ({by "
        "aside:sst-elmo%aside_accuracy aside:sst-baseline%aside_accuracy}, {joint "
        "aside:sst-elmo%aside_accuracy aside:sst-baseline%aside_accuracy aside})",
    ),
    (
        "RESULTS.md",
        "in epochs {passes srl_adam:srl-input#1 srl_adam:srl-baseline#1}, {passes "
        "srl_adam:srl-input#2 srl_adam:srl-baseline#2} and {passes "
        "srl_adam:srl-input#3 srl_adam:srl-baseline#3} of 20",
    ),
    (
        "RESULTS.md",
        "in epochs {value srl_adam:srl-baseline#1 best_epoch .0f}, {value "
        "srl_adam:srl-baseline#2 best_epoch .0f} and {value "
        "srl_adam:srl-baseline#3 best_epoch .0f} (seeds 1 to 3",
    ),
    (
        "results/table-7.md",
        "SST gains {by finetuning:sst-tuned finetuning:sst-elmo} (SE {error "
        "finetuning:sst-tuned finetuning:sst-elmo})",
    ),
    (
        "results/table-7.md",
        "SNLI loses {by ensembles:snli-elmo finetuning:snli-tuned} (SE {error "
        "finetuning:snli-tuned ensembles:snli-elmo})",
    ),
    # The layers of SNLI and NER, by the biLM.
    (
        "results/tokens.md",
        "SNLI {by layers:snli-elmo-15M layers:snli-elmo-4M} ({error layers:snli-elmo-15M "
        "layers:snli-elmo-4M}) and {by layers:snli-elmo layers:snli-elmo-15M} ({error "
        "layers:snli-elmo layers:snli-elmo-15M}).",
    ),
    (
        "results/tokens.md",
        "it is {by layers:snli-baseline layers:snli-last-layer-4M}, {by "
        "layers:snli-baseline layers:snli-last-layer-15M} and {by layers:snli-baseline "
        "layers:snli-last-layer} below the model without ELMo",
    ),
    (
        "results/tokens.md",
        "layer 0 gains {by layers:snli-layer-0 layers:snli-layer-0-4M} from 4 to 59 "
        "million, layer 1 {by layers:snli-layer-1 layers:snli-layer-1-4M}, the last {by "
        "layers:snli-last-layer layers:snli-last-layer-4M}",
    ),
    (
        "RESULTS.md",
        "With biLMs of 4 and 15 million tokens the last layer loses {by "
        "layers:snli-baseline layers:snli-last-layer-4M} and {by layers:snli-baseline "
        "layers:snli-last-layer-15M}",
    ),
    (
        "RESULTS.md",
        "Layer 1 alone has {layers:snli-layer-1}, and layer 0, which has no context, "
        "{layers:snli-layer-0}, as much as all layers ({layers:snli-elmo})",
    ),
    (
        "results/untrained.md",
        "it has {untrained:snli-untrained-input} with it at the input, and "
        "{untrained:snli-untrained-output} at the output (seed 1)",
    ),
    # How long runs took.
    (
        "results/glove.md",
        "{shortest glove (?!snli)} to {longest glove (?!snli)} minutes a run; SNLI",
    ),
    (
        "results/glove.md",
        "(Zen 5), {shortest glove snli} to {longest glove snli} minutes",
    ),
    ("results/int8.md", "2026-11-25, {shortest int8} minutes a run"),
    (
        "results/minilm.md",
        "{shortest minilm (?!snli)} to {longest minilm (?!snli)} minutes a run",
    ),
    (
        "results/minilm.md",
        "EPYC, {shortest minilm snli} and {longest minilm snli} minutes",
    ),
    (
        "results/word-vectors.md",
        "{shortest static} to {longest static} minutes a run",
    ),
    (
        "results/word-vectors.md",
        "{shortest wordvectors} and {longest wordvectors} minutes",
    ),
    ("results/gamma-and-lambda.md", "SQuAD without ELMo has {gamma:squad-baseline}."),
    (
        "results/gamma-and-lambda.md",
        "{shortest gamma squad} to {longest gamma squad} minutes a run. SQuAD without",
    ),
    (
        "results/gamma-and-lambda.md",
        "it the score is {by gamma:squad-last gamma:squad-last-no-gamma} lower, and {by "
        "gamma:squad-baseline gamma:squad-last-no-gamma} below the baseline",
    ),
    (
        "RESULTS.md",
        "layer has {gamma:squad-last} with it and {gamma:squad-last-no-gamma} without, "
        "below the baseline ({gamma:squad-baseline})",
    ),
    (
        "results/gamma-and-lambda.md",
        "in {shortest gamma snli} and {longest gamma snli} minutes on",
    ),
    (
        "results/snli-last-layer.md",
        "{shortest snli_last} to {longest snli_last} minutes a run",
    ),
    (
        "results/squad-attention.md",
        "epochs, {shortest squad_adam} and {longest squad_adam} minutes",
    ),
    (
        "results/srl-optimizer.md",
        "{shortest srl_adam} to {longest srl_adam} minutes a run; Adadelta",
    ),
    (
        "results/srl-optimizer.md",
        '"another processor", {shortest table2 srl} to {longest table2 srl})',
    ),
    (
        "results/srl-optimizer.md",
        "{shortest srl_mechanism} to {longest srl_mechanism} minutes each",
    ),
    (
        "results/tables-8-and-9.md",
        "{shortest ensembles squad-elmo} to {longest ensembles squad-elmo} minutes "
        "a run",
    ),
    (
        "results/tables-8-and-9.md",
        "SNLI: 2026-11-27, {shortest ensembles snli-elmo} minutes",
    ),
    (
        "results/figure-1.md",
        "{shortest figure1 srl} to {longest figure1 srl} minutes a run, float32",
    ),
    (
        "results/figure-1.md",
        "SNLI: {shortest figure1 snli} to {longest figure1 snli} minutes a run",
    ),
    (
        "results/figure-1.md",
        "{shortest shares} to {longest shares} minutes a run on an AMD",
    ),
    (
        "results/tokens.md",
        "2026-11-27, {shortest tokens} to {longest tokens} minutes a run",
    ),
    (
        "results/untrained.md",
        "2026-11-28, {shortest untrained} to {longest untrained} minutes a run",
    ),
    (
        "results/table-1.md",
        "2026-11-27, {shortest aside sn|ner|sst} to {longest aside sn|ner|sst} "
        "minutes a run",
    ),
    ("results/table-1.md", "SQuAD {shortest aside squad} to {longest aside squad},"),
    (
        "results/table-1.md",
        "SRL, in float32, {shortest aside srl} to {longest aside srl}",
    ),
    (
        "results/table-1.md",
        "coreference {shortest aside coref} to {longest aside coref};",
    ),
    (
        "results/tables-2-and-3.md",
        "Table 2, seed 1: {shortest table2 srl} to {longest table2 srl} minutes, EPYC",
    ),
    (
        "results/tables-2-and-3.md",
        "seeds 1 to 3: {shortest srl_adam} to {longest srl_adam} minutes, Intel Xeon",
    ),
    (
        "results/tables-2-and-3.md",
        "output: {shortest table3 coref} to {longest table3 coref} minutes, EPYC",
    ),
]
"""What pages say of runs, with expressions of docs/generate_tables.py."""


def text_of(page: str) -> str:
    """The Markdown of a page below docs/, without comments."""
    return COMMENT.sub("", (DOCS / page).read_text("utf-8"))


def words_of(page: str) -> str:
    """The same, with one blank between words."""
    return " ".join(text_of(page).split())


def files_of_runs() -> list[str]:
    """The files of raw rows that have a row for each run of a table."""
    others = {"peers", "blocks"}  # times of training; scores without a block
    return sorted({path.stem for path in FOLDER.glob("*.jsonl")} - others)


def test_tables_are_up_to_date() -> None:
    for path, text in generate_tables.pages().items():
        assert path.read_text("utf-8") == text, "make reference writes it"


@pytest.mark.parametrize("page", sorted({page for page, _ in STATED}))
def test_what_a_page_says_of_runs(page: str) -> None:
    text = words_of(page)
    for other, stated in STATED:
        if other == page:
            assert filled(stated) in text, stated


def test_every_task_gains_in_every_seed() -> None:
    for high, low in TABLE_1:
        pairs = zip(runs(high).scores, runs(low).scores, strict=True)
        assert all(above > below for above, below in pairs)


def test_the_increases_of_table_1_in_standard_errors() -> None:
    for high, low in TABLE_1:
        error = standard_error(runs(high), runs(low))
        assert error is not None
        ratio = (runs(high).mean - runs(low).mean) / error
        if "wikigold" in high:  # as the page says
            assert f"{ratio:.1f}" == "2.9"
        else:
            assert ratio > 3


def test_the_increases_on_tenths_of_sst() -> None:
    """Their mean, and its error over seeds and tenths together."""
    on_dev = increases_on_tenths("accuracy")
    on_tenths = increases_on_tenths("aside_accuracy")
    of_tenths = [mean(of_seeds) for of_seeds in on_tenths]
    of_seeds = [mean(of_tenth) for of_tenth in zip(*on_tenths, strict=True)]
    over_seeds = stdev(of_seeds) / len(of_seeds) ** 0.5
    over_tenths = stdev(of_tenths) / len(of_tenths) ** 0.5
    stated = f"{mean(of_tenths):.1f} (SE {hypot(over_seeds, over_tenths):.1f})"
    count = len(of_tenths)
    gaining = sum([found > 0 for found in of_tenths])
    text = words_of("results/table-1.md")
    assert f"ELMo gains on {gaining} of {count} tenths" in text
    assert (
        f"the mean increase is {stated}; on dev it is {mean(sum(on_dev, [])):.1f}"
        in text
    )
    assert (
        f"SE is {over_seeds:.1f} over seeds, and {over_tenths:.1f} over tenths" in text
    )
    shown = ", ".join([f"{found:.1f}" for found in of_seeds[:-1]])
    assert f"{shown} and {of_seeds[-1]:.1f} with the three seeds" in text
    assert f"over {count} tenths {stated}" in words_of("RESULTS.md")
    on_both = f"SST-5 gains {stated} on the tenth left out, over ten tenths, and "
    on_both += f"{mean(sum(on_dev, [])):.1f} on dev"
    assert on_both in words_of("../README.md")


def increases_on_tenths(metric: str) -> list[list[float]]:
    """In points, of each tenth with each seed."""
    increases = []
    for tenth in range(1, 11):
        high = runs(f"tenths:sst-elmo-aside-{tenth}%{metric}").scores
        low = runs(f"tenths:sst-baseline-aside-{tenth}%{metric}").scores
        increases.append([one - other for one, other in zip(high, low, strict=True)])
    return increases


def test_blocks_are_of_runs_with_raw_rows() -> None:
    """
    And the score of all blocks is that of the run; so is the accuracy on instances with
    and without an unknown word together.
    """
    found = {}
    for file in files_of_runs():
        for record in raw_rows(file):
            found[record.get("hash")] = record
    correct: dict[tuple[str, str], float] = defaultdict(float)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for block in raw_rows("blocks"):
        record = found[block["hash"]]
        assert (block["row"], block["seed"]) == (record["row"], record["seed"])
        count = 15 if block["row"].startswith("coref") else 20
        if block["row"].startswith("squad") and "aside_f1" in record["scores"]:
            count = {"dev": 14, "aside": 20}[block["data"]]  # some blocks have no unit
        assert len(block["without"]) == count
        data, _, words = block["data"].partition("-")
        score = block["score"]
        if words:
            key = (block["hash"], data)
            counts[key] += sum(block["sizes"])
            correct[key] += sum(block["sizes"]) * score
            score = correct[key] / counts[key]
        if words == "known" or (words and block["metric"] == "f1"):
            continue
        prefix = {"dev": "", "aside": "aside_"}[data]
        expected = record["scores"][prefix + block["metric"]]
        # Scores of float32 differ in their last bit in other batches, and so does the
        # answer to one pair of SNLI or the F1 of one entity in NER.
        assert score == pytest.approx(expected, abs=5e-4)


def test_the_perplexities_of_the_bilms() -> None:
    bilms = json.loads((FOLDER / "tokens.json").read_text("utf-8"))
    cells = [f"{bilm['perplexity']:.1f}" for bilm in bilms.values()]
    row = f"| held-out perplexity | | {' | '.join(cells)} |"
    assert row in text_of("results/tokens.md")


def test_every_raw_row_is_reported() -> None:
    text = generate_tables.SOURCE.read_text("utf-8")
    text += "\n".join([stated for _, stated in STATED])
    used = set()
    for match in generate_tables.RUN.finditer(text):
        file = match["file"]
        for record in runs(match[0]).records:
            used.add((file, record["row"], record["seed"]))
    kept = set()
    for file in files_of_runs():
        for record in raw_rows(file):
            kept.add((file, record["row"], record["seed"]))
    assert kept - used == set()


def test_raw_rows_have_no_paths_of_a_machine() -> None:
    for path in FOLDER.glob("*.jsonl"):
        text = path.read_text("utf-8")
        assert "file" not in json.loads(text.splitlines()[0]), path
        assert re.search(r'": "/|/home|/tmp', text) is None, path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_names_command_machine_date_and_raw_rows(page: Path) -> None:
    text = " ".join(page.read_text("utf-8").split())
    assert "elmo-tasks " in text
    assert "one thread" in text.lower() and re.search(
        "EPYC|Xeon|processor|`mini`", text
    )
    assert "2026-11-" in text
    assert re.search("[Rr]aw rows|Nothing is random", text)
    for file in re.findall(r"\(([\w-]+\.jsonl)\)", text):
        assert (FOLDER / file).is_file()


@pytest.mark.parametrize(
    "page",
    ["PERFORMANCE.md", "../benchmarks/README.md", "../tests/README.md"],
)
def test_measurements_name_their_date(page: str) -> None:
    with_table = 0
    for section in re.split("^## ", text_of(page), flags=re.MULTILINE)[1:]:
        if TABLE_LINE.search(section):
            assert "2026-11-" in section, (page, section.splitlines()[0])
            with_table += 1
    assert with_table >= 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [DOCS / "RESULTS.md", *PAGES], ids=lambda page: page.name
)
def test_a_command_names_a_table_and_its_rows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, "/corpora")
    text = page.read_text("utf-8")
    (tmp_path / "training_config").symlink_to(ROOT / "training_config")
    for name, table in HERE_DOCUMENT.findall(text):
        (tmp_path / name).write_text(table)
    for number, block in enumerate(JSONNET.findall(text)):
        file = tmp_path / f"{number}.jsonnet"
        file.write_text(block)
        assert read_table(file, "small").rows
    for name, options in ABLATE.findall(text.replace("\\\n", " ")):
        given, _ = OPTIONS.parse_known_args(shlex.split(options, comments=True))
        file = tmp_path / name
        if not name.endswith(".jsonnet"):
            file = tmp_path / f"training_config/tables/{name}.jsonnet"
        if file.is_file():  # other files are the blocks above
            assert choose_rows(read_table(file, given.scale), given.rows)


def test_numbers_in_the_text_stand_in_a_table() -> None:
    tables = ""
    for page in ["RESULTS.md"] + [f"results/{path.name}" for path in PAGES]:
        tables += "\n".join(TABLE_LINE.findall(text_of(page)))
    known = set(DECIMAL.findall(tables)) | NOT_SCORES
    text = TABLE_LINE.sub("", FENCES.sub("", text_of("RESULTS.md")))
    assert set(DECIMAL.findall(text)) - known == set()


def test_the_page_is_short() -> None:
    text = text_of("RESULTS.md")
    assert len(text.split()) <= 2200
    (rest,) = re.findall(r"^## What does not agree\n(.*?)^## ", text, re.M | re.S)
    assert len(rest.split()) <= 550
