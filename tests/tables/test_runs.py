"""Rows to runs: configs are resolved, checked, hashed and shared."""

import os
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.runs import Planner, runnable
from elmo_tasks.experiments.tables.table import read_table
from tests.tables.tables import CONFIGS, LAST, finish, planner, row, write_table

FINETUNE = "bilm_finetune"
TWO = {"of": "a", "members": 2}
SHARE = {"data_loader.type": "elmo_tasks_share", "data_loader.share": 0.1}


def test_runs_have_a_row_a_seed_and_a_folder(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("baseline"), row("last", changes=LAST)])
    runs = planned.runs(planned.table.rows, 2)
    names = [(run.row.name, run.seed) for run in runs]
    assert names == [("baseline", 1), ("baseline", 2), ("last", 1), ("last", 2)]
    assert len({run.folder for run in runs}) == 4
    assert runs[3].folder.name == f"last-2-{runs[3].digest}"
    config = runs[3].plan["config"]
    for key in ("random_seed", "numpy_seed", "pytorch_seed"):
        assert config[key] == 2
    elmo = config["model"]["elmo"]
    assert (elmo["mix"], elmo["l2"]) == ("last", None)


def test_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "base.jsonnet"

    def digest(text: str, **keys: Any) -> str:
        base.write_text(text)
        planned = planner(tmp_path, [row("a", config=str(base), **keys)])
        return planned.run(planned.table.row("a"), 1).digest

    three = "{ trainer: { num_epochs: 3 } }"
    four = three.replace("3", "4")
    seed = "{ seed: 7, trainer: { num_epochs: 3 } }"
    first = digest(three)
    assert digest(four) != first, "the base config has changed"
    assert digest(three, file=__file__) != first, "another score"
    for text, keys in (
        (three, {}),
        (four, {"changes": {"trainer.num_epochs": 3}}),
        (seed, {}),  # the row's seed instead of the config's
    ):
        assert digest(text, **keys) == first
    assert digest(three, file=os.path.relpath(__file__)) == digest(three, file=__file__)
    changes = {"train_data_path": "a.txt"}
    here = digest(three, changes=changes)
    monkeypatch.chdir(tmp_path)
    assert digest(three, changes=changes) != here, "another file of the same name"
    relative = '{ model: { elmo: { model: "./base.jsonnet" } } }'
    assert digest(relative) == digest(relative.replace(".", str(tmp_path), 1))


def test_rows_of_other_tables_share_runs(tmp_path: Path) -> None:
    runs = []
    for name in ("b", "c"):
        planned = planner(tmp_path, [row(name)])
        runs.append(planned.run(planned.table.rows[0], 1))
    for run in runs:  # planned, and then started, at the same time
        run.prepare()
    assert [path.name for path in runs[1].home.iterdir() if path.is_dir()] == [
        f"b-1-{runs[0].digest}"
    ]
    finish(runs[0], f1=0.5)
    (runs[0].home / f"a-1-{runs[0].digest}").mkdir()
    assert runs[1].folder == runs[0].folder, "the finished one"


def test_configs_are_paths_or_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("here", "tables", "small"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    file = write_table(tmp_path / "tables", [row("a", config="ner")])
    assert read_table(file, "small").row("a").config == CONFIGS / "small/ner.jsonnet"
    for place in ("small/ner.jsonnet", "here/ner", "tables/ner"):
        (tmp_path / place).write_text(f"import '{CONFIGS}/ner.jsonnet'")
        assert read_table(file, "small").row("a").config == tmp_path / place


def test_layers_are_cached_where_the_config_allows_it(tmp_path: Path) -> None:
    rows = [
        row("baseline"),
        row("elmo"),
        row("carry", changes={"model.elmo.state": "carry"}),
        row("batch", changes={"model.elmo.layer_norm": "batch"}),
        row("own", changes={"model.elmo.cache_dir": "own"}),
    ]
    planned = planner(tmp_path, rows)
    runs = planned.runs(planned.table.rows, 1)
    models = [runnable(run.plan, planned.home)["model"] for run in runs]
    folders = [model.get("elmo", {}).get("cache_dir") for model in models]
    assert folders == [None, str(tmp_path / "runs" / "layers"), None, None, "own"]
    elsewhere = Planner(planned.table, tmp_path / "other")
    assert elsewhere.run(planned.table.row("elmo"), 1).digest == runs[1].digest
    plain = Planner(planned.table, tmp_path / "runs", cached=False)
    assert plain.run(planned.table.row("elmo"), 1).digest != runs[1].digest, (
        "rounded layers are another run"
    )


def test_runs_that_ensembles_and_tuned_bilms_need(tmp_path: Path) -> None:
    snli = str(CONFIGS / "snli_elmo.jsonnet")
    rows = [
        row("elmo", config=snli),
        row("together", config=snli, ensemble={"of": "elmo", "members": 3}),
        row("lm", config=FINETUNE, finetune=True),
        row("tuned", bilm_of="lm"),
    ]
    planned = planner(tmp_path, rows)
    runs = planned.runs([planned.table.row("together")], 5)
    assert [(run.row.name, run.seed) for run in runs] == [
        ("elmo", 1),
        ("elmo", 2),
        ("elmo", 3),
        ("together", 1),
    ]
    assert runs[-1].after == [run.digest for run in runs[:-1]]
    tuned = planned.runs([planned.table.row("tuned")], 2)
    assert [(run.row.name, run.seed) for run in tuned] == [
        ("lm", 1),
        ("tuned", 1),
        ("tuned", 2),
    ]
    assert tuned[1].after == tuned[2].after == [tuned[0].digest]
    with pytest.raises(InputError, match="that this one needs is missing"):
        runnable(tuned[1].plan, planned.home)
    finish(tuned[0])
    elmo = runnable(tuned[1].plan, planned.home)["model"]["elmo"]
    assert elmo["model"] == str(tuned[0].folder / "model" / "exported")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [row("b", config="nowhere.jsonnet")],
            r"row b: no such config: .*nowhere\.jsonnet",
        ),
        (
            [row("a"), row("b", ensemble=TWO, changes=LAST)],
            "row b: an ensemble must have the same config as its members, row a",
        ),
        (
            [row("a", changes=SHARE), row("b", changes=SHARE, ensemble=TWO)],
            "row b: an ensemble's members must read the same data",
        ),
    ],
)
def test_rows_that_cannot_be_planned(
    rows: list[dict[str, Any]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        planner(tmp_path, rows)


def test_the_configs_of_rows_are_constructed(tmp_path: Path) -> None:
    rows = [row("right"), row("a", changes={"model.elmo.mx": "last"})]
    rows.append(
        row("rest", metric="aside_f1", changes=SHARE | {"data_loader.part": [0, 1]})
    )
    planned = planner(tmp_path, rows)
    planned.check(planned.table.rows[:1])
    with pytest.raises(InputError, match="aside_f1 needs a data_loader.part that"):
        planned.check(planned.table.rows[2:])
    message = r"row a: model: elmo: mx: expected a key of ELMo .nearest: mix., got 'mx'"
    with pytest.raises(InputError, match=message):
        planned.check(planned.table.rows)


def test_rows_whose_files_are_missing(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("a", changes={"train_data_path": "no/such/file"})])
    with pytest.raises(
        InputError, match="row a: train_data_path: no.such.file: no such file"
    ):
        planned.check(planned.table.rows)


def test_each_seed_draws_its_own_share(tmp_path: Path) -> None:
    planned = planner(tmp_path, [row("all"), row("some", changes=SHARE)])
    seeds = []
    for run in planned.runs(planned.table.rows, 2):
        seeds.append(run.plan["config"]["data_loader"].get("share_seed"))
    assert seeds == [None, None, 1, 2]
