"""
The numbers of docs/RESULTS.md, of the pages below docs/results/ and of README's table:
means, deviations, standard errors and differences are computed from the raw rows in
docs/results/*.jsonl, or, where none were kept, from the scores of each seed that
docs/results/table-1.md lists.
"""

import argparse
import json
import re
import runpy
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from elmo_tasks.experiments.tables.table import choose_rows, read_table
from elmo_tasks.resources import DATA_VARIABLE
from tests.tiny import ROOT

DOCS = ROOT / "docs"
FOLDER = DOCS / "results"
PAGES = sorted(FOLDER.glob("*.md"))
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
JACKKNIFE = runpy.run_path("benchmarks/score_blocks.py")["jackknife_error"]
NOT_SCORES = {"2.13", "3.11", "5.1", "5.4"}
"""Versions of torch and Python, and sections of the paper."""

ROUNDED = 0.005
"""By how much the listed scores may differ from those of the runs."""

WITHOUT, WITH = "without ELMo", "with ELMo"
Table = list[list[str]]
"""The cells of a Markdown table, its header first, without the rule."""


@dataclass(frozen=True)
class Runs:
    """Raw rows: all seeds of a run of a table, or one."""

    file: str
    run: str
    seed: int | None = None
    metric: str | None = None

    def records(self) -> list[dict[str, Any]]:
        """The rows, by seed."""
        found = []
        for record in raw_rows(self.file):
            if record["row"] == self.run and self.seed in (None, record["seed"]):
                found.append(record)
        assert found, self
        return sorted(found, key=lambda record: int(record["seed"]))

    def scores(self) -> list[float]:
        """The score of each seed, in percent."""
        found = []
        for record in self.records():
            metric = self.metric or main_metric(record["scores"])
            found.append(100 * record["scores"][metric])
        return found

    def blocks(self, data: str = "dev") -> list[dict[str, Any]]:
        """
        The runs' scores without each block of the data, by seed; none if they were not
        computed.
        """
        hashes = [record["hash"] for record in self.records()]
        found = []
        for block in raw_rows("blocks"):
            if block["hash"] in hashes and block["data"] == data:
                found.append(block)
        return sorted(found, key=lambda block: hashes.index(block["hash"]))


@dataclass(frozen=True)
class Listed:
    """Scores of each seed without raw rows, from docs/results/table-1.md."""

    task: str
    column: str
    scale: str = "`small`"
    seeds: tuple[int, ...] = (1, 2, 3)

    def scores(self) -> list[float]:
        """The score of each seed."""
        table = tables_of("results/table-1.md", "Scores of each seed")[0]
        (row,) = [row for row in table if row[:2] == [self.task, self.scale]]
        cell = row[table[0].index(self.column)]
        found = [float(score) for score in re.findall(r"\d+\.\d+", cell)]
        assert len(found) == 3
        return [found[seed - 1] for seed in self.seeds]


Source = Runs | Listed
TASKS = ["SQuAD", "SNLI", "SRL", "Coref", "NER", "NER, WikiGold", "SST-5"]


SOURCES: dict[tuple[str, str, str], dict[str, Source]] = {
    ("RESULTS.md", "Tables 2 and 3", "SNLI"): {
        WITHOUT: Runs("table1", "snli-baseline"),
        "last only": Runs("table2", "snli-last"),
        "all, λ=1": Runs("table2", "snli-lambda-1"),
        "all, λ=0.001": Runs("table1", "snli-elmo"),
        "input only": Runs("table3", "snli-input"),
        "input and output": Runs("table1", "snli-elmo"),
        "output only": Runs("table3", "snli-output"),
    },
    ("RESULTS.md", "Tables 2 and 3", "SRL"): {
        WITHOUT: Runs("table2", "srl-baseline"),
        "last only": Runs("table2", "srl-last"),
        "all, λ=1": Runs("table2", "srl-lambda-1"),
        "all, λ=0.001": Runs("table2", "srl-lambda-0.001"),
        "input only": Runs("srl_adam", "srl-input"),
        "input and output": Runs("srl_adam", "srl-both"),
        "output only": Runs("srl_adam", "srl-output"),
    },
    ("RESULTS.md", "Tables 2 and 3", "SQuAD"): {
        WITHOUT: Runs("table1", "squad-baseline", seed=1),
        "last only": Runs("table2", "squad-last"),
        "all, λ=1": Runs("table2", "squad-lambda-1"),
        "all, λ=0.001": Runs("table1", "squad-elmo", seed=1),
        "input only": Runs("table3", "squad-input"),
        "input and output": Runs("table1", "squad-elmo", seed=1),
        "output only": Runs("table3", "squad-output"),
    },
    ("RESULTS.md", "Tables 2 and 3", "Coref"): {
        "input only": Runs("table1", "coref-elmo", seed=1),
        "input and output": Runs("table3", "coref-both"),
        "output only": Runs("table3", "coref-output"),
    },
    ("RESULTS.md", "Figure 1", f"SNLI, {WITHOUT}"): {
        "1 %": Runs("figure1", "snli-baseline-0.01"),
        "3 %": Runs("figure1", "snli-baseline-0.03"),
        "10 %": Runs("figure1", "snli-baseline-0.1"),
        "30 %": Runs("figure1", "snli-baseline-0.3"),
        "100 %": Runs("table1", "snli-baseline", seed=1),
    },
    ("RESULTS.md", "Figure 1", f"SNLI, {WITH}"): {
        "1 %": Runs("figure1", "snli-elmo-0.01"),
        "3 %": Runs("figure1", "snli-elmo-0.03"),
        "10 %": Runs("figure1", "snli-elmo-0.1"),
        "30 %": Runs("figure1", "snli-elmo-0.3"),
        "100 %": Runs("table1", "snli-elmo", seed=1),
    },
    ("RESULTS.md", "Figure 1", f"SRL, {WITHOUT}"): {
        "1 %": Runs("figure1", "srl-baseline-0.01"),
        "3 %": Runs("figure1", "srl-baseline-0.03"),
        "10 %": Runs("figure1", "srl-baseline-0.1"),
        "30 %": Runs("figure1", "srl-baseline-0.3"),
        "100 %": Runs("figure1", "srl-baseline-1"),
    },
    ("RESULTS.md", "Figure 1", f"SRL, {WITH}"): {
        "1 %": Runs("figure1", "srl-elmo-0.01"),
        "3 %": Runs("figure1", "srl-elmo-0.03"),
        "10 %": Runs("figure1", "srl-elmo-0.1"),
        "30 %": Runs("figure1", "srl-elmo-0.3"),
        "100 %": Runs("figure1", "srl-elmo-1"),
    },
    ("results/figure-1.md", "SNLI with early", "131"): {
        WITHOUT: Runs("shares", "snli-baseline-0.01"),
        WITH: Runs("shares", "snli-elmo-0.01"),
    },
    ("results/figure-1.md", "SNLI with early", "393"): {
        WITHOUT: Runs("shares", "snli-baseline-0.03"),
        WITH: Runs("shares", "snli-elmo-0.03"),
    },
    ("results/glove.md", "GloVe", "NER, W-NUT 17, dev"): {
        "w2v": Runs("glove", "wnut-w2v-baseline"),
        "w2v, ELMo": Runs("glove", "wnut-w2v-elmo"),
        "GloVe": Runs("glove", "wnut-glove-baseline"),
        "GloVe, ELMo": Runs("glove", "wnut-glove-elmo"),
    },
    ("results/glove.md", "GloVe", "NER, WikiGold, dev"): {
        "w2v": Runs("glove", "wikigold-w2v-baseline"),
        "w2v, ELMo": Runs("glove", "wikigold-w2v-elmo"),
        "GloVe": Runs("glove", "wikigold-glove-baseline"),
        "GloVe, ELMo": Runs("glove", "wikigold-glove-elmo"),
    },
    ("results/glove.md", "GloVe", "SST-5, dev"): {
        "w2v": Listed("SST-5", WITHOUT),
        "w2v, ELMo": Listed("SST-5", WITH),
        "GloVe": Runs("glove", "sst-glove-baseline"),
        "GloVe, ELMo": Runs("glove", "sst-glove-elmo"),
    },
    ("results/glove.md", "GloVe", "SNLI, dev"): {
        "w2v": Listed("SNLI", WITHOUT),
        "w2v, ELMo": Listed("SNLI", WITH),
        "GloVe": Runs("glove", "snli-baseline"),
        "GloVe, ELMo": Runs("glove", "snli-elmo"),
    },
    ("results/int8.md", "Vectors", "dev"): {
        "int8": Runs("int8", "wnut-w2v-int8"),
        "float32": Runs("glove", "wnut-w2v-elmo"),
    },
    ("results/int8.md", "Computed", "NER"): {
        "int8": Runs("int8_computed", "ner-int8"),
        "float32": Runs("tokens", "ner-59M"),
    },
    ("results/int8.md", "Computed", "SNLI, seed 1"): {
        "int8": Runs("int8_computed", "snli-int8"),
        "float32": Runs("table1", "snli-elmo", seed=1),
    },
    ("results/int8.md", "Computed", "SST-5, seed 1"): {
        "int8": Runs("int8_computed", "sst-int8"),
        "float32": Runs("tokens", "sst-59M", seed=1),
    },
    ("results/minilm.md", "MiniLM", "NER, W-NUT 17"): {
        "MiniLM, all layers": Runs("minilm", "ner-minilm-weighted"),
        "MiniLM, last": Runs("minilm", "ner-minilm-last"),
        "biLM, all layers": Listed("NER", WITH, seeds=(1, 2)),
    },
    ("results/minilm.md", "MiniLM", "SST-5"): {
        "MiniLM, all layers": Runs("minilm", "sst-minilm-weighted"),
        "MiniLM, last": Runs("minilm", "sst-minilm-last"),
        "biLM, all layers": Listed("SST-5", WITH, seeds=(1, 2)),
    },
    ("results/minilm.md", "MiniLM", "SNLI"): {
        "MiniLM, all layers": Runs("minilm", "snli-minilm-weighted"),
        "MiniLM, last": Runs("minilm", "snli-minilm-last"),
        "biLM, all layers": Listed("SNLI", WITH, seeds=(1,)),
    },
    ("results/word-vectors.md", "Static ELMo", "NER, W-NUT 17"): {
        "static ELMo": Runs("static", "ner-static"),
        "w2v": Listed("NER", WITHOUT, seeds=(1, 2)),
        "w2v, ELMo": Listed("NER", WITH, seeds=(1, 2)),
    },
    ("results/word-vectors.md", "Static ELMo", "SST-5"): {
        "static ELMo": Runs("static", "sst-static"),
        "w2v": Listed("SST-5", WITHOUT, seeds=(1, 2)),
        "w2v, ELMo": Listed("SST-5", WITH, seeds=(1, 2)),
    },
    ("results/word-vectors.md", "SNLI without", "SNLI"): {
        "layer 0 in place of w2v": Runs("wordvectors", "snli-characters"),
        "all layers in place of w2v": Runs("wordvectors", "snli-elmo-alone"),
        "w2v": Listed("SNLI", WITHOUT, seeds=(1,)),
        "w2v, ELMo": Listed("SNLI", WITH, seeds=(1,)),
    },
    ("results/gamma-and-lambda.md", "Gamma (A.2)", "SNLI, last layer"): {
        "with gamma": Runs("table2", "snli-last", seed=1),
        "without gamma": Runs("gamma", "snli-last-no-gamma"),
    },
    ("results/gamma-and-lambda.md", "Gamma (A.2)", "SNLI, all layers"): {
        "with gamma": Runs("table1", "snli-elmo", seed=1),
        "without gamma": Runs("gamma", "snli-no-gamma"),
    },
    ("results/gamma-and-lambda.md", "Gamma (A.2)", "SRL, `mini`, last layer"): {
        "with gamma": Runs("gamma", "srl-last"),
        "without gamma": Runs("gamma", "srl-last-no-gamma"),
    },
    ("results/gamma-and-lambda.md", "Gamma (A.2)", "SRL, `mini`, all layers"): {
        "with gamma": Runs("gamma", "srl-elmo"),
        "without gamma": Runs("gamma", "srl-no-gamma"),
    },
    ("results/gamma-and-lambda.md", "Lambda for NER", "NER"): {
        WITHOUT: Runs("lambda", "ner-baseline"),
        "λ=0": Runs("lambda", "ner-lambda-0"),
        "λ=0.001": Runs("lambda", "ner-lambda-0.001"),
        "λ=0.01": Runs("lambda", "ner-lambda-0.01"),
        "λ=0.1": Runs("lambda", "ner-lambda-0.1"),
        "λ=1": Runs("lambda", "ner-lambda-1"),
    },
    ("results/encoders.md", "Encoders", "SNLI"): {
        "without": Listed("SNLI", WITHOUT, seeds=(1, 2)),
        "biLM, all layers": Listed("SNLI", WITH, seeds=(1, 2)),
    },
    ("results/encoders.md", "Encoders", "NER, W-NUT 17"): {
        "without": Listed("NER", WITHOUT, seeds=(1, 2)),
        "biLM, all layers": Listed("NER", WITH, seeds=(1, 2)),
    },
    ("results/encoders.md", "Encoders", "SST-5"): {
        "without": Listed("SST-5", WITHOUT, seeds=(1, 2)),
        "biLM, all layers": Listed("SST-5", WITH, seeds=(1, 2)),
    },
    ("results/tables-8-and-9.md", "Tables 8", "SNLI"): {
        "alone": Runs("ensembles", "snli-elmo"),
        "together": Runs("ensembles", "snli-ensemble"),
    },
    ("results/tables-8-and-9.md", "Tables 8", "SQuAD, F1"): {
        "alone": Runs("ensembles", "squad-elmo"),
        "together": Runs("ensembles", "squad-ensemble"),
    },
    ("results/tables-8-and-9.md", "Tables 8", "SQuAD, exact match"): {
        "alone": Runs("ensembles", "squad-elmo", metric="em"),
        "together": Runs("ensembles", "squad-ensemble", metric="em"),
    },
    ("results/table-7.md", "Scale `mini`", "SNLI"): {
        "score before": Runs("ensembles", "snli-elmo"),
        "score after": Runs("finetuning", "snli-tuned"),
    },
    ("results/table-7.md", "Scale `mini`", "SST-5"): {
        "score before": Runs("finetuning", "sst-elmo"),
        "score after": Runs("finetuning", "sst-tuned"),
    },
    ("results/srl-optimizer.md", "Adam and Adadelta", "Adadelta"): {
        WITHOUT: Listed("SRL", WITHOUT, "`small`, Adadelta"),
        "input": Listed("SRL", WITH, "`small`, Adadelta"),
    },
    ("results/srl-optimizer.md", "Adam and Adadelta", "Adam, seeds 1 to 3"): {
        WITHOUT: Runs("srl_adam", "srl-baseline"),
        "input": Runs("srl_adam", "srl-input"),
        "input and output": Runs("srl_adam", "srl-both"),
        "output": Runs("srl_adam", "srl-output"),
    },
    (
        "results/srl-optimizer.md",
        "Adam and Adadelta",
        "Adam, another processor, seed 1",
    ): {
        WITHOUT: Runs("table2", "srl-baseline"),
        "input": Runs("table2", "srl-lambda-0.001"),
    },
    ("results/table-1.md", "With the 15 M biLM", WITHOUT): {
        "SNLI": Listed("SNLI", WITHOUT, "`small`, 15 M"),
        "NER": Listed("NER", WITHOUT, "`small`, 15 M"),
        "SST-5": Listed("SST-5", WITHOUT, "`small`, 15 M"),
    },
    ("results/table-1.md", "With the 15 M biLM", WITH): {
        "SNLI": Listed("SNLI", WITH, "`small`, 15 M"),
        "NER": Listed("NER", WITH, "`small`, 15 M"),
        "SST-5": Listed("SST-5", WITH, "`small`, 15 M"),
    },
}
"""For a page, a heading and a row of its table: what each column is computed from."""

for name in TASKS:
    if name != "NER, WikiGold":
        SOURCES["results/table-1.md", "Scale `mini`", name] = {
            WITHOUT: Listed(name, WITHOUT, "`mini`"),
            WITH: Listed(name, WITH, "`mini`"),
        }

CURVES: dict[tuple[str, str, str], Source] = {
    ("results/squad-attention.md", "Adam", "Adam, without"): Runs(
        "squad_adam", "squad-baseline"
    ),
    ("results/squad-attention.md", "Adam", "Adam, with"): Runs(
        "squad_adam", "squad-elmo"
    ),
}
for seed in (1, 2, 3):
    for label, run in (("without", "squad-baseline"), ("with", "squad-elmo")):
        CURVES[
            "results/squad-attention.md", "Scale `small`", f"{label}, seed {seed}"
        ] = Runs("table1", run, seed)
    for label, run in (("without", "coref-baseline"), ("with", "coref-elmo")):
        CURVES["results/coreference.md", "Coreference: F1", f"{label}, seed {seed}"] = (
            Runs("table1", run, seed)
        )
for seed in (1, 2):
    for label in ("without", "input", "both", "output"):
        if (label, seed) != ("output", 1):
            CURVES[
                "results/srl-optimizer.md", "F1 per epoch", f"{label}, seed {seed}"
            ] = Runs("srl_adam", f"srl-{label}".replace("without", "baseline"), seed)
"""For a page, a heading and a row of its table: the run whose epochs it lists."""

WEIGHTS = {
    "NER, input": Runs("tokens", "ner-59M", seed=1),
    "NER, WikiGold, input": Runs("wikigold", "wikigold-elmo", seed=1),
    "Coref, input": Runs("table1", "coref-elmo", seed=1),
    "SNLI, input": Runs("table1", "snli-elmo", seed=1),
    "SNLI, output": Runs("table1", "snli-elmo", seed=1),
    "SST, input": Runs("tokens", "sst-59M", seed=1),
    "SST, output": Runs("tokens", "sst-59M", seed=1),
    "SRL, input": Runs("srl_adam", "srl-input", seed=1),
    "SQuAD, input": Runs("table1", "squad-elmo", seed=1),
    "SQuAD, output": Runs("table1", "squad-elmo", seed=1),
}
"""Rows of docs/results/figure-2.md: the run whose layer weights they show."""


Place = tuple[str, str, str, str]
"""A page, a heading, a row and a column."""

ENCODERS = ("results/encoders.md", "Encoders")
TUNED = ("results/table-7.md", "Scale `mini`")
ADADELTA = ("results/tables-2-and-3.md", "SRL with Adadelta", "SRL, Adadelta")
STATED: list[tuple[str, str, Place, Place]] = [
    (
        ENCODERS[0],
        "SNLI by {} (SE {})",
        (*ENCODERS, "SNLI", "biLM, all layers"),
        (*ENCODERS, "SNLI", "BERT, all layers"),
    ),
    (
        ENCODERS[0],
        "NER by {} (SE {})",
        (*ENCODERS, "NER, W-NUT 17", "biLM, all layers"),
        (*ENCODERS, "NER, W-NUT 17", "BERT, all layers"),
    ),
    (
        ENCODERS[0],
        "SST by {} (SE {})",
        (*ENCODERS, "SST-5", "biLM, all layers"),
        (*ENCODERS, "SST-5", "BERT, all layers"),
    ),
    (
        ENCODERS[0],
        "BERT gains {} (SE {})",
        (*ENCODERS, "SNLI", "BERT, all layers"),
        (*ENCODERS, "SNLI", "without"),
    ),
    (
        ENCODERS[0],
        "do not differ significantly ({}, SE {})",
        (*ENCODERS, "SST-5", "biLM, all layers"),
        (*ENCODERS, "SST-5", "biLM, last"),
    ),
    (
        TUNED[0],
        "SST gains {} (SE {})",
        (*TUNED, "SST-5", "score after"),
        (*TUNED, "SST-5", "score before"),
    ),
    (
        TUNED[0],
        "SNLI loses {} (SE {})",
        (*TUNED, "SNLI", "score before"),
        (*TUNED, "SNLI", "score after"),
    ),
    (
        TUNED[0],
        "SQuAD's gain of {} (SE {})",
        (*TUNED, "SQuAD, contexts", "score after"),
        (*TUNED, "SQuAD, contexts", "score before"),
    ),
    (
        "results/srl-optimizer.md",
        "both places were {} (SE {}) below the input",
        (*ADADELTA, "input only"),
        (*ADADELTA, "input and output"),
    ),
    (
        "results/srl-optimizer.md",
        "the output alone {} (SE {}) below no ELMo",
        (*ADADELTA, WITHOUT),
        (*ADADELTA, "output only"),
    ),
    (
        "results/sentiment.md",
        "It gains {} (SE {})",
        (
            "results/sentiment.md",
            "Sentiment",
            "`sst_allennlp`, with ELMo, 40 million tokens",
            "mean",
        ),
        ("results/sentiment.md", "Sentiment", "`sst_allennlp`, without ELMo", "mean"),
    ),
]
"""Differences in the text of a page: of which two cells."""

MINUTES = [
    ("results/glove.md", "{} to {} minutes a run; SNLI", "glove", "(?!snli)"),
    ("results/glove.md", "(Zen 5), {} to {} minutes", "glove", "snli"),
    ("results/int8.md", "2026-11-25, {} minutes a run", "int8", ""),
    ("results/minilm.md", "{} to {} minutes a run", "minilm", "(?!snli)"),
    ("results/minilm.md", "EPYC, {} and {} minutes", "minilm", "snli"),
    ("results/word-vectors.md", "{} to {} minutes a run", "static", ""),
    ("results/word-vectors.md", "{} and {} minutes", "wordvectors", ""),
    ("results/gamma-and-lambda.md", "in {} and {} minutes on", "gamma", "snli"),
    ("results/snli-last-layer.md", "{} to {} minutes a run", "snli_last", ""),
    ("results/squad-attention.md", "epochs, {} and {} minutes", "squad_adam", ""),
    ("results/srl-optimizer.md", "{} to {} minutes a run beside", "srl_adam", ""),
    ("results/srl-optimizer.md", '"another processor", {} to {})', "table2", "srl"),
    ("results/srl-optimizer.md", "{} to {} minutes each", "srl_mechanism", ""),
    ("results/tables-8-and-9.md", "{} to {} minutes a run", "ensembles", "squad-elmo"),
    (
        "results/tables-8-and-9.md",
        "SNLI: 2026-11-27, {} minutes",
        "ensembles",
        "snli-elmo",
    ),
    ("results/figure-1.md", "{} to {} minutes a run, float32", "figure1", "srl"),
    ("results/figure-1.md", "SNLI: {} to {} minutes a run", "figure1", "snli"),
    ("results/figure-1.md", "{} to {} minutes a run on an AMD", "shares", ""),
    ("results/tokens.md", "2026-11-27, {} to {} minutes a run", "tokens", ""),
    ("results/untrained.md", "2026-11-28, {} to {} minutes a run", "untrained", ""),
    ("results/table-1.md", "2026-11-27, {} to {} minutes a run", "aside", "sn|ner|sst"),
    ("results/table-1.md", "SQuAD {} to {},", "aside", "squad"),
    ("results/table-1.md", "SRL, in float32, {} to {}", "aside", "srl"),
    ("results/table-1.md", "coreference {} to {};", "aside", "coref"),
    ("results/tables-2-and-3.md", "| {} to {} | EPYC (Zen 5), 2026", "table2", "srl"),
    ("results/tables-2-and-3.md", "| {} to {} | Intel Xeon", "srl_adam", ""),
    (
        "results/tables-2-and-3.md",
        "| {} to {} | EPYC (Zen 5), 2026-11-27",
        "table3",
        "coref",
    ),
]
"""
How a page states the shortest and the longest time of a file's runs, those whose name
begins so.
"""


@cache
def raw_rows(file: str) -> list[dict[str, Any]]:
    """The rows of a file in docs/results/."""
    lines = (FOLDER / f"{file}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def files_of_runs() -> list[str]:
    """The files of raw rows that have a row for each run of a table."""
    others = {"peers", "blocks"}  # times of training; scores without a block
    return sorted({path.stem for path in FOLDER.glob("*.jsonl")} - others)


def main_metric(scores: dict[str, float]) -> str:
    """F1 or accuracy, whichever the task has."""
    return "f1" if "f1" in scores else "accuracy"


@cache
def text_of(page: str) -> str:
    """The Markdown of a page below docs/."""
    return (DOCS / page).read_text("utf-8")


def section_of(page: str, heading: str) -> str:
    """From the heading that begins so to the next one of its level."""
    match = re.search(
        rf"^(#+) {re.escape(heading)}(.*)", text_of(page), re.MULTILINE | re.DOTALL
    )
    assert match is not None, (page, heading)
    level, rest = match.groups()
    return re.split(rf"^{level} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def tables_of(page: str, heading: str) -> list[Table]:
    """The tables of a section."""
    tables: list[Table] = []
    before = ""
    for line in section_of(page, heading).splitlines():
        if line.startswith("|"):
            if not before.startswith("|"):
                tables.append([])
            if not re.fullmatch(r"[|: -]+", line) or len(tables[-1]) != 1:
                cells = line.strip("|").split("|")
                tables[-1].append([cell.strip().strip("*") for cell in cells])
        before = line
    return tables


def cell_of(page: str, heading: str, row: str, column: str) -> str:
    """The text of a cell, without a note in brackets."""
    for table in tables_of(page, heading):
        for cells in table[1:]:
            if cells[0] == row and column in table[0]:
                return cells[table[0].index(column)].partition(" (")[0]
    raise AssertionError(f"no cell {row}, {column} in {page}, {heading}")


def written(scores: list[float], like: str) -> str:
    """Scores as a cell has them: each, or their mean and deviation."""
    if "," in like:
        digits = len(like.split(",")[0].partition(".")[2])
        return ", ".join([f"{score:.{digits}f}" for score in scores])
    if len(scores) == 1:
        return f"{scores[0]:.1f}"
    return f"{mean(scores):.1f} ± {stdev(scores):.1f}"


def assert_written(cell: str, source: Source) -> None:
    """
    A cell has the scores of its source; those that are listed are rounded to two digits.
    """
    scores = source.scores()
    expected = written(scores, cell)
    if isinstance(source, Runs):
        assert cell == expected
        return
    assert re.sub(DECIMAL, "", cell) == re.sub(DECIMAL, "", expected)
    unrounded = [mean(scores), stdev(scores)] if "±" in cell else scores
    for number, value in zip(DECIMAL.findall(cell), unrounded, strict=True):
        assert float(number) == pytest.approx(value, abs=0.05 + ROUNDED)


@dataclass(frozen=True)
class Sample:
    """The mean over seeds, their deviation and number; whether from single scores."""

    mean: float
    deviation: float
    seeds: int
    exact: bool


def sample_of(page: str, heading: str, row: str, column: str) -> Sample:
    """The sample behind a cell: its source, or what the cell says."""
    source = SOURCES.get((page, heading, row), {}).get(column)
    if source is not None:
        scores = source.scores()
        deviation = stdev(scores) if len(scores) > 1 else 0.0
        return Sample(mean(scores), deviation, len(scores), True)
    cell = cell_of(page, heading, row, column)
    if ", " in cell:
        scores = [float(score) for score in cell.split(", ")]
        return Sample(mean(scores), stdev(scores), len(scores), False)
    average, _, spread = cell.partition(" ± ")
    if spread:
        seeds = 2 if "Adadelta" in row else 3  # as the pages say
        return Sample(float(average), float(spread), seeds, False)
    return Sample(float(average), 0.0, 1, False)


def difference(high: Sample, low: Sample) -> tuple[float, float | None]:
    """The difference of two means, and its standard error if both have seeds."""
    error = None
    if high.seeds > 1 and low.seeds > 1:
        squares = high.deviation**2 / high.seeds + low.deviation**2 / low.seeds
        error = squares**0.5
    return high.mean - low.mean, error


def assert_difference(cell: str, high: Sample, low: Sample) -> None:
    """
    `+5.0 (0.7)`: a difference and its standard error. Means without single scores are
    rounded, and so is what the cell was computed from.
    """
    ours, error = difference(high, low)
    if high.exact and low.exact:
        expected = f"{ours:+.1f}" if error is None else f"{ours:+.1f} ({error:.1f})"
        assert cell == expected
        return
    value, _, stated_error = cell.partition(" (")
    assert float(value) == pytest.approx(ours, abs=0.101)
    assert bool(stated_error) == (error is not None)
    if error is not None:
        assert float(stated_error.strip(")")) == pytest.approx(error, abs=0.101)


def error_over_data(high: Source, low: Source, data: str = "dev") -> str:
    """
    The standard error of a difference over the sentences, as a cell has it: the
    jackknife of the means over seeds.
    """
    if not (isinstance(high, Runs) and isinstance(low, Runs) and high.blocks(data)):
        return "–"
    means = []
    for runs in (high, low):
        blocks = runs.blocks(data)
        assert len(blocks) == len(runs.records())
        without = [block["without"] for block in blocks]
        means.append([mean(scores) for scores in zip(*without, strict=True)])
    differences = [above - below for above, below in zip(*means, strict=True)]
    return f"{100 * JACKKNIFE(differences):.1f}"


TABLE_1 = {
    "SQuAD": ("table1", "squad-baseline", "squad-elmo"),
    "SNLI": ("table1", "snli-baseline", "snli-elmo"),
    "SRL": ("srl_adam", "srl-baseline", "srl-input"),
    "Coref": ("table1", "coref-baseline", "coref-elmo"),
    "NER": ("tokens", "ner-baseline", "ner-59M"),
    "NER, WikiGold": ("wikigold", "wikigold-baseline", "wikigold-elmo"),
    "SST-5": ("tokens", "sst-baseline", "sst-59M"),
}
"""The file of the raw rows of each task, and its runs without ELMo and with it."""
for _task, (_file, _baseline, _elmo) in TABLE_1.items():
    SOURCES["RESULTS.md", "Table 1", _task] = {
        WITHOUT: Runs(_file, _baseline),
        WITH: Runs(_file, _elmo),
    }
for _task, _row, _metric in (
    ("SQuAD", "squad", "f1"),
    ("SNLI", "snli", "accuracy"),
    ("SRL", "srl", "f1"),
    ("Coref", "coref", "f1"),
    ("NER", "ner", "f1"),
    ("SST-5", "sst", "accuracy"),
):
    for _part, _prefix in (("dev", ""), ("aside", "aside_")):
        SOURCES["results/table-1.md", "The part put aside", f"{_task}, {_part}"] = {
            WITHOUT: Runs("aside", f"{_row}-baseline", metric=_prefix + _metric),
            WITH: Runs("aside", f"{_row}-elmo", metric=_prefix + _metric),
        }
for _tenth in (2, 4, 6, 8, 10):
    _file, _end = "tenths", f"-aside-{_tenth}"
    if _tenth == 10:
        _file, _end = "aside", ""
    _sources: dict[str, Source] = {}
    for _label, _row in (("without", "sst-baseline"), ("with ELMo", "sst-elmo")):
        for _part, _metric in (("dev", "accuracy"), ("aside", "aside_accuracy")):
            _found = Runs(_file, _row + _end, seed=1, metric=_metric)
            _sources[f"{_part}, {_label}"] = _found
    SOURCES["results/table-1.md", "Why SST-5", str(_tenth)] = _sources
SOURCES["results/tokens.md", "Gain by the tokens", "SNLI (seed 1)"] = {
    WITHOUT: Runs("table1", "snli-baseline", seed=1),
    "4 M": Runs("tokens", "snli-4M"),
    "15 M": Runs("tokens", "snli-15M"),
    "59 M": Runs("table1", "snli-elmo", seed=1),
}
OF_TOKENS = {"NER": "ner", "SST-5": "sst"}
"""Tasks of the table `tokens`, by the name of the rows."""
BILMS = {"4 M": "4M", "15 M": "15M", "59 M": "59M"}
for _task, _row in OF_TOKENS.items():
    SOURCES["results/tokens.md", "Gain by the tokens", _task] = {
        WITHOUT: Runs("tokens", f"{_row}-baseline"),
    }
    for _column, _bilm in BILMS.items():
        _found = Runs("tokens", f"{_row}-{_bilm}")
        SOURCES["results/tokens.md", "Gain by the tokens", _task][_column] = _found
    SOURCES["results/untrained.md", "A biLM without", _task] = {
        WITHOUT: Runs("tokens", f"{_row}-baseline"),
        "untrained": Runs("untrained", f"{_row}-untrained"),
        WITH: Runs("tokens", f"{_row}-59M"),
    }


def cells() -> Iterator[tuple[str, str, str, str, Source]]:
    for (page, heading, row), columns in SOURCES.items():
        for column, source in columns.items():
            yield page, heading, row, column, source


@pytest.mark.parametrize(("page", "heading", "row", "column", "source"), list(cells()))
def test_a_cell_is_computed_from_its_runs(
    page: str, heading: str, row: str, column: str, source: Source
) -> None:
    assert_written(cell_of(page, heading, row, column), source)


def test_listed_scores_are_those_of_the_raw_rows() -> None:
    for column, run in ((WITHOUT, "srl-baseline"), (WITH, "srl-input")):
        expected = [round(score, 2) for score in Runs("srl_adam", run).scores()]
        assert Listed("SRL", column, "`small`, bfloat16").scores() == expected
    for task in TASKS:
        if task == "SRL":
            continue
        sources = SOURCES["RESULTS.md", "Table 1", task]
        for column, source in sources.items():
            expected = [round(score, 2) for score in source.scores()]
            assert Listed(task, column, "`small`, again").scores() == expected


@pytest.mark.parametrize("task", TASKS)
def test_the_increases_of_table_1(task: str) -> None:
    high = sample_of("RESULTS.md", "Table 1", task, WITH)
    low = sample_of("RESULTS.md", "Table 1", task, WITHOUT)
    ours, error = difference(high, low)
    relative = 100 * ours / (100 - low.mean)
    header, *rows = tables_of("RESULTS.md", "Table 1")[0]
    assert header[3:] == ["increase (SE)", "SE, data"]
    (row,) = [row for row in rows if row[0] == task]
    sources = SOURCES["RESULTS.md", "Table 1", task]
    of_data = error_over_data(sources[WITH], sources[WITHOUT])
    assert row[3:] == [f"{ours:+.1f} ({error:.1f})", of_data]
    shares = tables_of("results/table-1.md", "Increase relative")[0]
    (share,) = [row for row in shares if row[0] == task]
    assert share[1] == f"{relative:.0f} %"
    assert error is not None
    if task == "NER, WikiGold":  # as the page says
        assert f"{ours / error:.1f}" == "2.9"
    else:
        assert ours > 3 * error


@pytest.mark.parametrize("task", TASKS)
def test_every_task_gains_in_every_seed(task: str) -> None:
    sources = SOURCES["RESULTS.md", "Table 1", task]
    pairs = zip(sources[WITH].scores(), sources[WITHOUT].scores(), strict=True)
    assert all(high > low for high, low in pairs)


def test_the_increases_on_the_part_put_aside() -> None:
    place = ("results/table-1.md", "The part put aside")
    for label, _, _, cell, of_data in tables_of(*place)[0][1:]:
        high = sample_of(*place, label, WITH)
        low = sample_of(*place, label, WITHOUT)
        assert_difference(cell, high, low)
        sources = SOURCES[(*place, label)]
        data = label.rpartition(", ")[2]
        assert of_data == error_over_data(sources[WITH], sources[WITHOUT], data)


def test_the_increases_aside_in_the_text() -> None:
    gains = {}
    place = ("results/table-1.md", "The part put aside")
    for task in ("SQuAD", "SNLI", "SRL", "Coref", "NER", "SST-5"):
        samples = [sample_of(*place, f"{task}, aside", row) for row in (WITH, WITHOUT)]
        gain, error = difference(*samples)
        gains[task] = f"{gain:.1f}", f"{error:.1f}"
    expected = (
        "SQuAD gains {} (SE {}), SNLI {} ({}), SRL {} ({}), coreference {} ({}), "
        "NER {} ({}), SST-5 nothing ({}, {})"
    )
    values = [number for pair in gains.values() for number in pair]
    assert expected.format(*values) in " ".join(text_of("RESULTS.md").split())
    losses = []
    for row in (WITHOUT, WITH):
        all_data = sample_of("RESULTS.md", "Table 1", "SQuAD", row).mean
        fewer = sample_of(*place, "SQuAD, dev", row).mean
        losses.append(f"{all_data - fewer:.1f}")
    stated = "has {} points less than in Table 1 without ELMo, and {} less with it"
    assert stated.format(*losses) in " ".join(section_of(*place).split())


def test_the_increases_on_other_tenths_of_sst() -> None:
    place = ("results/table-1.md", "Why SST-5")
    increases: dict[str, list[float]] = {"dev": [], "aside": []}
    for tenth, *_, cell in tables_of(*place)[0][1:]:
        for part, found in increases.items():
            high = sample_of(*place, tenth, f"{part}, with ELMo")
            low = sample_of(*place, tenth, f"{part}, without")
            found.append(difference(high, low)[0])
        assert cell == f"{increases['aside'][-1]:+.1f}"
    error = stdev(increases["aside"]) / len(increases["aside"]) ** 0.5
    stated = f"{mean(increases['aside']):.1f} (SE {error:.1f})"
    text = " ".join(section_of(*place).split())
    assert f"The mean increase is {stated} on the five tenths" in text
    assert f"and {mean(increases['dev']):.1f} on dev" in text
    assert f"over five tenths {stated}" in " ".join(text_of("RESULTS.md").split())


def test_blocks_are_of_runs_with_raw_rows() -> None:
    """And the score of all blocks is that of the run."""
    runs = {}
    for file in files_of_runs():
        for record in raw_rows(file):
            runs[record["hash"]] = record
    for block in raw_rows("blocks"):
        record = runs[block["hash"]]
        assert (block["row"], block["seed"]) == (record["row"], record["seed"])
        prefix = {"dev": "", "aside": "aside_"}[block["data"]]
        expected = record["scores"][prefix + block["metric"]]
        # Scores of float32 differ in their last bit in other batches, and so does the
        # answer to one pair of SNLI or the F1 of one entity in NER.
        assert block["score"] == pytest.approx(expected, abs=5e-4)
        documents = block["row"].startswith("coref")
        assert len(block["without"]) == (15 if documents else 20)


def test_the_increases_at_mini() -> None:
    table = tables_of("results/table-1.md", "Scale `mini`")[0]
    page, heading = "results/table-1.md", "Scale `mini`"
    for task, *_, increase, error, per_seed in table[1:]:
        high = sample_of(page, heading, task, WITH)
        low = sample_of(page, heading, task, WITHOUT)
        ours, expected_error = difference(high, low)
        assert error == f"{expected_error:.1f}"
        assert increase == f"{ours:+.1f} ({100 * ours / (100 - low.mean):.1f} %)"
        gains = []
        for with_elmo, without in zip(
            Listed(task, WITH, "`mini`").scores(),
            Listed(task, WITHOUT, "`mini`").scores(),
            strict=True,
        ):
            gains.append(f"{with_elmo - without:+.1f}")
        assert per_seed == ", ".join(gains)


COMPARED = {
    "Table 2": [
        ("last only", WITHOUT),
        ("all, λ=1", "last only"),
        ("all, λ=0.001", "last only"),
        ("all, λ=0.001", "all, λ=1"),
    ],
    "Table 3": [("input and output", "input only"), ("output only", "input only")],
}
"""The differences of Tables 2 and 3 that are compared with the paper's."""
OPEN_BELOW = 1.5
"""A smaller difference says nothing if one of its rows has one seed."""


def test_all_differences_in_tables_2_and_3_are_compared() -> None:
    expected = []
    for table in tables_of("RESULTS.md", "Tables 2 and 3"):
        for row in table[1:]:
            if "paper" in row[0]:
                continue
            for high, low in COMPARED[table[0][0]]:
                # The paper has coreference at two of the three places.
                if (row[0], high) != ("Coref", "output only"):
                    expected.append([table[0][0], row[0], f"{high} − {low}"])
    rows = tables_of("RESULTS.md", "What agrees")[0][1:]
    assert [row[:3] for row in rows] == expected
    assert f"below {OPEN_BELOW}, they are open" in text_of("RESULTS.md")


def test_the_differences_in_tables_2_and_3() -> None:
    rows = tables_of("RESULTS.md", "What agrees")[0][1:]
    for _, row, columns, ours, paper, agrees in rows:
        high, low = columns.split(" − ")
        section = ("RESULTS.md", "Tables 2 and 3")
        samples = sample_of(*section, row, high), sample_of(*section, row, low)
        assert_difference(ours, *samples)
        name = f"{row}, paper" if row != "Coref" else "Coref, paper (test)"
        published = [float(cell_of(*section, name, column)) for column in (high, low)]
        papers = published[0] - published[1]
        assert paper == f"{papers:+.1f}"
        found, error = difference(*samples)
        if error is None and abs(found) < OPEN_BELOW:
            assert agrees == "open"
            continue
        if error is not None:
            assert abs(found) > 2 * error
        assert agrees == ("yes" if found * papers > 0 else "no")


def test_the_increases_of_figure_1() -> None:
    heading = "Figure 1"
    table = tables_of("RESULTS.md", heading)[0]
    for task in ("SNLI", "SRL"):
        (row,) = [row for row in table if row[0] == f"{task}, increase"]
        for column, cell in zip(table[0][1:], row[1:], strict=True):
            if cell:
                place = ("RESULTS.md", heading)
                high = sample_of(*place, f"{task}, {WITH}", column)
                low = sample_of(*place, f"{task}, {WITHOUT}", column)
                assert_difference(cell, high, low)


def test_both_rows_of_a_share_were_run() -> None:
    page = tables_of("RESULTS.md", "Figure 1")[0]
    for task in ("SNLI", "SRL"):
        missing = []
        for label in (WITHOUT, WITH):
            (row,) = [row for row in page if row[0] == f"{task}, {label}"]
            missing.append([cell == "not run" for cell in row])
        assert missing[0] == missing[1]


def test_the_increases_with_glove() -> None:
    place = ("results/glove.md", "GloVe")
    for row in tables_of(*place)[0][1:]:
        for vectors, cell in (("w2v", row[3]), ("GloVe", row[6])):
            high = sample_of(*place, row[0], f"{vectors}, ELMo")
            low = sample_of(*place, row[0], vectors)
            assert_difference(cell, high, low)


def test_the_increases_by_tokens() -> None:
    place = ("results/tokens.md", "Gain by the tokens")
    (table,) = tables_of(*place)
    bilms = json.loads((FOLDER / "tokens.json").read_text("utf-8"))
    assert list(bilms) == list(BILMS.values())
    cells = {row[0]: dict(zip(table[0], row, strict=True)) for row in table}
    increases = {f"{task}, increase (SE)": task for task in OF_TOKENS}
    increases["SNLI, increase"] = "SNLI (seed 1)"
    for label, task in increases.items():
        errors = cells[f"{label.partition(',')[0]}, SE, data"]
        sources = SOURCES[(*place, task)]
        low = sample_of(*place, task, WITHOUT)
        for column in BILMS:
            high = sample_of(*place, task, column)
            assert_difference(cells[label][column], high, low)
            expected = error_over_data(sources[column], sources[WITHOUT])
            assert errors[column] == expected
    perplexities = [f"{bilm['perplexity']:.1f}" for bilm in bilms.values()]
    assert table[-1] == ["held-out perplexity", "", *perplexities]


def test_the_epochs_until_elmo_is_better() -> None:
    best_epochs, passed = [], []
    rows = tables_of("results/figure-1.md", "Epochs until")[0][1:]
    for seed, best, epoch, better in rows:
        (without,) = Runs("srl_adam", "srl-baseline", int(seed)).records()
        (with_elmo,) = Runs("srl_adam", "srl-input", int(seed)).records()
        scores = [point["f1"] for point in without["curve"]]
        above = [
            point["epoch"] for point in with_elmo["curve"] if point["f1"] > max(scores)
        ]
        assert [best, epoch, better] == [
            f"{100 * max(scores):.1f}",
            str(without["scores"]["best_epoch"]),
            str(above[0]),
        ]
        best_epochs.append(epoch)
        passed.append(better)
    text = " ".join(section_of("RESULTS.md", "What agrees").split())
    assert f"in epochs {passed[0]}, {passed[1]} and {passed[2]} of 20" in text
    assert "in epochs {}, {} and {} (seeds 1 to 3".format(*best_epochs) in text


@pytest.mark.parametrize(("place", "source"), list(CURVES.items()))
def test_the_epochs_of_a_curve(place: tuple[str, str, str], source: Runs) -> None:
    page, heading, label = place
    (record,) = source.records()
    scores = {}
    for point in record["curve"]:
        scores[str(point["epoch"])] = f"{100 * point['f1']:.1f}"
    table = tables_of(page, heading)[0]
    (row,) = [row for row in table if row[0] == label]
    assert row[1:] == [scores[epoch] for epoch in table[0][1:]]


TUNINGS = {
    "SNLI": "snli-lm",
    "Coref": "coref-lm",
    "NER": "ner-lm",
    "SQuAD, contexts": "contexts-lm",
    "SQuAD, questions": "questions-lm",
    "SST-5": "sst-lm",
}
"""Rows of docs/results/table-7.md: the run that tuned the biLM on the text."""


def test_the_perplexities_of_table_7() -> None:
    rows = tables_of("results/table-7.md", "Scale `mini`")[0][1:]
    assert [row[0] for row in rows] == list(TUNINGS)
    lines = TABLE_LINE.findall(text_of("PAPER.md"))
    for row in rows:
        (record,) = Runs("finetuning", TUNINGS[row[0]]).records()
        before = f"{record['scores']['perplexity_before']:.1f}"
        after = f"{record['scores']['perplexity']:.1f}"
        assert row[1:3] == [before, after]
        assert any(f"| {before} | {after} |" in line for line in lines)


def test_the_best_member_of_an_ensemble() -> None:
    for row in tables_of("results/tables-8-and-9.md", "Tables 8")[0][1:]:
        place = ("results/tables-8-and-9.md", "Tables 8", row[0])
        assert row[2] == f"{max(SOURCES[place]['alone'].scores()):.1f}"


def test_layer_weights() -> None:
    table = tables_of("results/figure-2.md", "Figure 2")[0]
    rows = {row[0]: row[1:5] for row in table[1:]}
    for label, source in WEIGHTS.items():
        scores = source.records()[0]["scores"]
        place = label.rpartition(", ")[2]
        names = [f"elmo_{place}_{part}" for part in ("s0", "s1", "s2", "gamma")]
        assert rows[label] == [f"{scores[name]:.2f}" for name in names]
    for row in table[1:]:
        assert (row[0] in WEIGHTS) == (".jsonl" in row[5])


def test_the_means_of_sentiment() -> None:
    table = tables_of("results/sentiment.md", "Sentiment")[0]
    for row in table[1:]:
        scores = [float(score) for score in row[1:4] if score]
        if len(scores) == 3:
            average, _, deviation = row[4].partition(" ± ")
            assert float(average) == pytest.approx(mean(scores), abs=0.1)
            assert float(deviation) == pytest.approx(stdev(scores), abs=0.1)


@pytest.mark.parametrize(("page", "text", "high", "low"), STATED)
def test_a_difference_in_the_text(
    page: str, text: str, high: Place, low: Place
) -> None:
    pattern = re.escape(text).replace(r"\{\}", r"(\d+\.\d)")
    match = re.search(pattern, " ".join(text_of(page).split()))
    assert match is not None, text
    ours, error = difference(sample_of(*high), sample_of(*low))
    assert error is not None
    assert float(match[1]) == pytest.approx(ours, abs=0.101)
    assert float(match[2]) == pytest.approx(error, abs=0.101)


@pytest.mark.parametrize(("page", "text", "file", "runs"), MINUTES)
def test_minutes_a_run(page: str, text: str, file: str, runs: str) -> None:
    minutes = []
    for record in raw_rows(file):
        if re.match(runs, record["row"]):
            minutes.append(record["seconds"] / 60)
    stated = text.format(f"{min(minutes):.0f}", f"{max(minutes):.0f}")
    assert stated in " ".join(text_of(page).split())


def rows_of_runs() -> Iterator[tuple[str, str, str]]:
    """Page, run and score of each row of a table whose first column is `run`."""
    for path in PAGES:
        page = f"results/{path.name}"
        for heading in re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE):
            for table in tables_of(page, heading):
                if table[0][0] == "run":
                    for row in table[1:]:
                        yield page, row[0].strip("`"), row[-1]


def test_rows_that_name_their_run() -> None:
    rows = set(rows_of_runs())
    assert len(rows) > 10
    for page, run, score in rows:
        source = Runs(file_with(run), run)
        assert score == written(source.scores(), score), (page, run)


def file_with(run: str) -> str:
    """The file of raw rows that has a run; only one may."""
    files = []
    for file in files_of_runs():
        if any(record["row"] == run for record in raw_rows(file)):
            files.append(file)
    (found,) = files
    return found


def test_every_raw_row_is_reported() -> None:
    used = set()
    for *_, source in cells():
        if isinstance(source, Runs):
            for record in source.records():
                used.add((source.file, source.run, record["seed"]))
    for source in CURVES.values():
        assert isinstance(source, Runs)
        for record in source.records():
            used.add((source.file, source.run, record["seed"]))
    for _, run, _ in rows_of_runs():
        used.add((file_with(run), run, 1))
    for run in TUNINGS.values():
        used.add(("finetuning", run, 1))
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
    ["PERFORMANCE.md", "performance-development.md", "reliability-development.md"],
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
    assert len(text_of("RESULTS.md").split()) <= 2500
    assert len(section_of("RESULTS.md", "What does not agree").split()) <= 600


def test_the_table_of_the_readme() -> None:
    lines = TABLE_LINE.findall((ROOT / "README.md").read_text("utf-8"))
    table = tables_of("RESULTS.md", "Table 1")[0]
    rows = {row[0]: row for row in table}
    found = 0
    for line in lines:
        values = [cell.strip() for cell in line.strip("|").split("|")]
        if values[0] not in TASKS or "±" not in line:
            continue
        _, without, with_elmo, increase, _ = rows[values[0]]
        for expected in (without, with_elmo, increase.partition(" (")[0]):
            assert expected in values, line
        found += 1
    assert found == 6
