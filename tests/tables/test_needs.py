"""What a dry run says of disk and memory is what the runs take."""

import re
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, Vocabulary

from elmo_tasks.cli.table_runs import dry_run
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables import execute, run_dir
from elmo_tasks.experiments.tables.disk import DiskCounter
from elmo_tasks.experiments.tables.memory import measure
from elmo_tasks.experiments.tables.runs import Run
from elmo_tasks.experiments.tables.session import Session
from elmo_tasks.experiments.tables.table import read_table
from elmo_tasks.tasks.snli.reader import SnliReader
from elmo_tasks.training.largest_batch import LARGEST_BATCH
from tests.elmo.samples import options
from tests.tables.tables import LAST, planner, row, write_table
from tests.test_flow import elmo_tasks
from tests.tiny import ELMO_DIM

TOKEN_BYTES = 2 * ELMO_DIM * (options().n_layers + 1)
"""Of float16 layers of the tiny biLM."""

METRICS = {"snli": "accuracy", "sst": "accuracy"}


def row_of(configs: Path, task: str, name: str = "elmo", **keys: Any) -> dict[str, Any]:
    """A row with the config of a task on a few sentences, for one epoch."""
    changes = {"trainer.num_epochs": 1} | keys.pop("changes", {})
    config = str(configs / f"{task}.jsonnet")
    metric = METRICS.get(task.removesuffix("_elmo"), "f1")
    return row(name, config=config, metric=metric, changes=changes, **keys)


def runs_of(folder: Path, rows: list[dict[str, Any]]) -> list[Run]:
    planned = planner(folder, rows)
    return planned.runs(planned.table.rows, 1)


@pytest.mark.parametrize(
    "task",
    [
        "snli",
        "coref",
        pytest.param("ner", marks=pytest.mark.slow),
        pytest.param("sst", marks=pytest.mark.slow),
        pytest.param("squad", marks=pytest.mark.slow),
        pytest.param("srl", marks=pytest.mark.slow),
    ],
)
def test_the_counted_layers_are_those_that_a_run_stores(
    task: str, configs: Path, tmp_path: Path
) -> None:
    (run,) = runs_of(tmp_path, [row_of(configs, f"{task}_elmo")])
    cached = DiskCounter().count(run)
    assert cached is not None and not Path(cached.source).exists()
    run.prepare()
    execute.execute(run.folder)
    with sqlite3.connect(cached.source) as database:
        found = database.execute("SELECT key, LENGTH(value) FROM layers").fetchall()
    stored = dict(found)
    assert len(stored) > 1 and stored.keys() == cached.sentences.keys()
    assert sum(stored.values()) == cached.size
    for key, length in stored.items():
        assert length == cached.token_bytes * cached.sentences[key]


def test_validation_data_count_and_data_put_aside_do_not(
    configs: Path, tmp_path: Path
) -> None:
    for name, lengths in (("train", [1, 2, 3, 4, 5]), ("dev", [6, 7])):
        lines(tmp_path / f"{name}.jsonl", lengths)
    changes = {
        "train_data_path": str(tmp_path / "train.jsonl"),
        "validation_data_path": str(tmp_path / "dev.jsonl"),
    }
    (run,) = runs_of(
        tmp_path, [row_of(configs, "snli_elmo", changes=changes, aside=0.2)]
    )
    cached = DiskCounter().count(run)
    assert cached is not None  # and the hypothesis, of one word
    assert sorted(cached.sentences.values()) == [1, 1, 2, 3, 4, 6, 7]


def test_what_rows_share_is_counted_once(configs: Path, tmp_path: Path) -> None:
    """
    Layers of the same sentences by the same biLM; another precision is another biLM.
    """
    half = {"data_loader.type": "elmo_tasks_share", "data_loader.share": 0.5}
    rows = [
        row_of(configs, "snli_elmo"),
        row_of(configs, "snli_elmo", "last", changes=LAST),
        row_of(configs, "snli_elmo", "half", changes=half),
        row_of(configs, "snli", "baseline"),
        row_of(
            configs,
            "snli_elmo",
            "rounded",
            changes={"model.elmo.precision": "bfloat16"},
        ),
    ]
    counter = DiskCounter()
    sizes = {}
    totals = {}
    for run in runs_of(tmp_path, rows):
        cached = counter.count(run)
        sizes[run.row.name] = None if cached is None else cached.size
        totals[run.row.name] = counter.total()
    assert sizes["baseline"] is None
    assert sizes["elmo"] == sizes["last"] == sizes["rounded"]
    assert totals["elmo"] == totals["last"] == totals["half"] == sizes["elmo"]
    assert totals["rounded"] == 2 * totals["elmo"]


def test_a_row_with_a_tuned_bilm_has_layers_of_its_own(
    configs: Path, tmp_path: Path
) -> None:
    tuning = {"config": str(configs / "bilm_finetune.jsonnet"), "finetune": True}
    rows = [
        row_of(configs, "snli_elmo"),
        row("lm", metric="perplexity", **tuning),
        row_of(configs, "snli_elmo", "tuned", bilm_of="lm"),
    ]
    counter = DiskCounter()
    found = [counter.count(run) for run in runs_of(tmp_path, rows)]
    plain, of_tuning, tuned = found
    assert plain is not None and tuned is not None and of_tuning is None
    assert tuned.size == plain.size and counter.total() == 2 * plain.size


def test_data_that_are_missing_are_an_error(configs: Path, tmp_path: Path) -> None:
    changes = {"train_data_path": str(tmp_path / "none.jsonl")}
    (run,) = runs_of(tmp_path, [row_of(configs, "snli_elmo", changes=changes)])
    with pytest.raises((InputError, OSError), match=r"none\.jsonl"):
        DiskCounter().count(run)


def lines(path: Path, lengths: list[int]) -> Path:
    pairs = []
    for length in lengths:
        premise = " ".join(["word"] * length)
        pairs.append(
            f'{{"sentence1": "{premise}", "sentence2": "b", "gold_label": "neutral"}}'
        )
    path.write_text("\n".join(pairs))
    return path


@pytest.mark.parametrize(
    ("loader", "expected"),
    [
        ({"batch_size": 2, "shuffle": True}, [9, 8]),
        (
            {"batch_sampler": {"type": "bucket", "batch_size": 3, "padding_noise": 0}},
            [2, 7, 8],
        ),
        (
            {
                "batch_sampler": {
                    "type": "elmo_tasks_token_budget",
                    "batch_size": 4,
                    "max_tokens": 8,
                    "sorting_key": "premise",
                }
            },
            [1, 2, 1, 2],
        ),
    ],
)
def test_the_largest_batch(
    loader: dict[str, Any], expected: list[int], tmp_path: Path
) -> None:
    """By the tokens with padding: four of at most two words, not one of nine."""
    file = lines(tmp_path / "pairs.jsonl", [1, 9, 2, 7, 1, 8, 2])
    config = Params({"type": LARGEST_BATCH, "loader": loader})
    made = DataLoader.from_params(config, reader=SnliReader(), data_path=str(file))
    made.index_with(Vocabulary.from_instances(made.iter_instances()))
    (batch,) = made
    found = [len(one["premise"]) for one in batch["metadata"]]
    assert sorted(found) == sorted(expected) and len(made) == 1


@pytest.mark.slow
def test_the_measured_memory_is_that_of_a_run(configs: Path, tmp_path: Path) -> None:
    """Within a tenth, at `mini`, with a process of its own for both."""
    (run,) = runs_of(tmp_path, [row("elmo", changes={"trainer.num_epochs": 1})])
    measured = measure(run)
    assert measured.failure is None
    run.prepare()
    command = [sys.executable, "-m", "elmo_tasks", "ablate-run", str(run.folder)]
    subprocess.run(command, check=True, capture_output=True)
    result = run_dir.read_result(run.folder)
    assert result is not None
    assert measured.peak == pytest.approx(result["peak_memory"], rel=0.1)


@pytest.mark.slow
def test_a_dry_run_with_resources(
    configs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """
    Layers and memory of each row and of all; a row without its files says so; nothing
    is left in the folder.
    """
    absent = {"train_data_path": str(tmp_path / "none.jsonl")}
    rows = [
        row_of(configs, "snli", "baseline"),
        row_of(configs, "snli_elmo"),
        row_of(configs, "snli_elmo", "absent", changes=absent),
        row_of(configs, "snli_elmo", "lacking", needs=[str(tmp_path / "none")]),
    ]
    table = write_table(tmp_path, rows)
    elmo_tasks("ablate", table, "-s", tmp_path / "out", "--dry-run", "--resources")
    output = capsys.readouterr()
    assert "elmo: counting the sentences of its data\n" in output.err
    shown = dict(re.findall(r"^(\S+): .*\n((?:    .*\n)+)", output.out, re.MULTILINE))
    cache = rf"layer cache: at most .* MB \(\d+ distinct sentences, \d+ tokens of {TOKEN_BYTES} bytes\)"
    memory = r"memory: .* [MG]B \(a step on the largest batch\)"
    assert re.search(cache, shown["elmo"]) and re.search(memory, shown["elmo"])
    assert "layer cache" not in shown["baseline"] and re.search(
        memory, shown["baseline"]
    )
    assert re.search(r"layer cache: not counted: .*none\.jsonl", shown["absent"])
    assert re.search(r"memory: not measured: .*none\.jsonl", shown["absent"])
    assert "lacking: missing, needs" in output.out
    assert re.search(
        r"^layer cache of these rows: at most .*; some rows were not",
        output.out,
        re.MULTILINE,
    )
    assert not (tmp_path / "out").exists()


def test_a_dry_run_alone_reads_no_data(configs: Path, tmp_path: Path) -> None:
    absent = {"train_data_path": str(tmp_path / "none.jsonl")}
    table = write_table(tmp_path, [row_of(configs, "snli_elmo", changes=absent)])
    shown = dry_run(Session(str(table), tmp_path / "out"))
    assert "1 to run" in shown and "layer cache" not in shown
    assert read_table(table).rows
    with pytest.raises(InputError, match="expected --dry-run with --resources"):
        elmo_tasks("ablate", table, "-s", tmp_path / "out", "--resources")
