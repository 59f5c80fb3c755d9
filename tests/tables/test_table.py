"""The paper's tables, and invalid ones."""

from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import resources
from elmo_tasks.errors import InputError
from elmo_tasks.experiments.tables.runs import Planner
from elmo_tasks.experiments.tables.table import read_table
from tests.tables.tables import CONFIGS, row, write_table
from tests.tiny import FIXTURES, bilm_files

TABLES = sorted(path.stem for path in (CONFIGS / "tables").glob("*.jsonnet"))
CASES = [(name, "mini") for name in TABLES]
CASES += [("figure1", "small"), ("figure1", "paper")]


def planned_table(name: str, home: Path, scale: str = "mini") -> Planner:
    return Planner(read_table(name, scale), home)


@pytest.fixture(autouse=True)
def data_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(resources.DATA_VARIABLE, str(FIXTURES / "miniworld"))


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_tables_resolve(name: str, scale: str, tmp_path: Path) -> None:
    planned = planned_table(name, tmp_path, scale)
    runs = planned.runs(planned.table.rows, 1)
    own = {planned.run(row, 1).digest for row in planned.table.rows if not row.missing}
    assert {run.digest for run in runs} >= own and len(own) > 1
    assert all(scale == "paper" or run.row.split == "dev" for run in runs)
    assert planned.table.about.rstrip().endswith(".")


def test_table1_scores_test_data_at_paper(tmp_path: Path) -> None:
    table = planned_table("table1", tmp_path, "paper").table
    splits = {row.name: (row.split, row.file) for row in table.rows}
    assert splits["ner-elmo"] == ("test", f"{FIXTURES}/miniworld/ner/eng.testb")
    assert splits["squad-elmo"] == ("dev", None)
    assert sum(split == "test" for split, _ in splits.values()) == 10


def test_the_demo_is_a_part_of_table1(tmp_path: Path) -> None:
    """With the paper's scores, so that its text and report have the paper's row."""
    table1 = planned_table("table1", tmp_path).table
    rows = planned_table("demo", tmp_path).table.rows
    assert [one.name for one in rows] == ["ner-baseline", "ner-elmo"]
    for one in rows:
        assert one.paper == table1.row(one.name).paper is not None


def test_both_scores_of_table_aside_are_of_the_same_runs(tmp_path: Path) -> None:
    planned = planned_table("aside", tmp_path)
    rows = planned.table.rows
    assert len(rows) == 24 and len(planned.runs(rows, 3)) == 36
    for one in rows:
        loader = planned.run(one, 1).plan["config"]["data_loader"]
        assert (loader["type"], loader["part"]) == ("elmo_tasks_share", [0, 0.9])
        is_aside = one.row_label.endswith(", aside")
        assert is_aside == one.metric.startswith("aside_") and one.kind.is_share


@pytest.mark.parametrize("name", ["tokens", "layers"])
def test_tables_take_exported_bilms(name: str, tmp_path: Path) -> None:
    """In the given order. The baseline is the same run for all of them."""
    folder = tmp_path / "exported"
    bilm_files(folder)
    table = tmp_path / "mine.jsonnet"
    exports = [["9 M", str(folder)], ["10 M", str(tmp_path / "none")]]
    table.write_text(
        f"(import '{CONFIGS}/tables/{name}.jsonnet') {{ exports:: {exports} }}"
    )
    planned = Planner(read_table(table), tmp_path)
    titles = [row.column + row.row_label for row in planned.table.rows]
    assert "9 M" in titles[1 if name == "tokens" else 0]
    assert {row.name[-4:] for row in planned.table.rows if row.missing} == {"-10M"}
    baselines = 0
    for run in planned.runs(planned.table.rows, 1):
        elmo = run.plan["config"]["model"].get("elmo")
        if elmo is None:
            baselines += 1
        else:
            assert elmo["model"] == str(folder)
    assert baselines == (3 if name == "tokens" else 6)


@pytest.mark.parametrize("scale", ["mini", "small", "paper"])
def test_rows_of_cove(tmp_path: Path, scale: str) -> None:
    """
    They run for who has its two files; else they say what they need beside the paper's
    scores.
    """
    encoders = planned_table("encoders", tmp_path, scale).table
    table = planned_table("table2", tmp_path, scale).table
    assert table.row("snli-cove-last").paper is not None
    for one in (encoders.row("squad-cove-last"), table.row("snli-cove-last")):
        assert one.bilm_of is None
        assert one.changes["model.elmo.source"] == "cove"
        files = [one.changes[f"model.elmo.{key}_file"] for key in ("vectors", "weight")]
        assert one.needs == one.missing == files


def test_tables_share_the_tuned_bilms_at_paper(tmp_path: Path) -> None:
    found: dict[str, dict[str, set[str]]] = {"squad": {}, "snli": {}}
    for name in (
        "ensembles",
        "epochs",
        "figure1",
        "gamma",
        "table1",
        "table2",
        "table3",
        "wordvectors",
    ):
        planned = planned_table(name, tmp_path, "paper")
        for run in planned.runs(planned.table.rows, 1):
            task = run.row.name.partition("-")[0]
            elmo = run.plan["config"]["model"].get("elmo")
            if task in found and elmo and "-cove-" not in run.row.name:
                assert run.row.bilm_of == f"{task}-lm", (name, run.row.name)
                found[task].setdefault(run.row.name, set()).add(run.digest)
                found[task].setdefault("lm", set()).add(run.plan["bilm_of"])
                is_normalized = task == "snli" and elmo["mix"] == "weighted"
                assert bool(elmo["layer_norm"]) == is_normalized
    assert [len(runs["lm"]) for runs in found.values()] == [1, 1]
    assert len(found["snli"]["snli-elmo"]) > 1, "scored on dev data or on test data"


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ([row("a", metrc="f1")], {}, "row a.metrc: expected no argument or key metrc"),
        (
            [row("a b")],
            {},
            "row a b.name: expected a string of the pattern .*, got 'a b'",
        ),
        (
            [row("a"), row("b", ensemble={"of": "a", "members": 1})],
            {},
            "row b.ensemble.members: expected a number greater than or equal to 2, got 1",
        ),
        ([], {}, "table.rows: expected a list with at least 1 item"),
        ([row("a"), row("a")], {}, "2 rows have the name a"),
        ([row("a", bilm_of="bb")], {}, "row a: there is no row 'bb'"),
        (
            [row("a")],
            {"increase": "b"},
            "increase: expected one of the columns .*, got 'b'",
        ),
        (
            [row("a", metric="passes")],
            {},
            "row a: expected the key over, .* 'passes'",
        ),
    ],
)
def test_an_invalid_table_is_one_error(
    rows: list[dict[str, Any]], keys: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = write_table(tmp_path, rows, **keys)
    with pytest.raises(InputError, match=f"table.jsonnet: .*{message}"):
        read_table(file)


@pytest.mark.parametrize("exports", ["['4M']", "{a: 1}", "[['a', 'b', 'c']]"])
def test_exports_are_pairs(exports: str, tmp_path: Path) -> None:
    mine = tmp_path / "mine.jsonnet"
    mine.write_text(
        f"(import '{CONFIGS}/tables/tokens.jsonnet') {{ exports:: {exports} }}"
    )
    with pytest.raises(InputError, match="expected pairs in `exports`"):
        read_table(mine)


def test_a_table_is_an_object(tmp_path: Path) -> None:
    (tmp_path / "list.jsonnet").write_text("[1]")
    with pytest.raises(InputError, match="list.jsonnet: expected a JSON object"):
        read_table(tmp_path / "list.jsonnet")


@pytest.mark.parametrize("place", ["mini/own.jsonnet", "own.jsonnet"])
def test_a_config_beside_the_folder_of_a_table(place: str, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    file = tmp_path / place
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}")
    table = read_table(write_table(tmp_path / "tables", [row("a", config="own")]))
    assert table.rows[0].config == file
