"""Table files: the paper's, and faulty ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import settings
from elmo_tasks.ablation.runs import Planner
from elmo_tasks.ablation.schema import Increase, Paper
from elmo_tasks.ablation.table import read_table
from elmo_tasks.errors import InputError
from tests.ablation.tables import CONFIGS, row, write_table
from tests.tiny import FIXTURES

TABLES = sorted(path.stem for path in (CONFIGS / "ablations").glob("*.jsonnet"))


def paper_table(name: str, home: Path) -> Planner:
    return Planner(read_table(CONFIGS / "ablations" / f"{name}.jsonnet"), home)


def test_all_tables_are_seen() -> None:
    wanted = "ensembles epochs figure1 finetuning gamma lambda table1 table2 table3 wordvectors"
    assert wanted.split() == TABLES


@pytest.mark.parametrize("scale", settings.SCALES)
@pytest.mark.parametrize("name", TABLES)
def test_every_table_resolves_at_every_scale(
    name: str, scale: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, scale)
    monkeypatch.setenv(settings.DATA_VARIABLE, str(FIXTURES / "miniworld"))
    planned = paper_table(name, tmp_path)
    runs = planned.runs(planned.table.rows, [1])
    assert len(runs) >= sum(not row.missing for row in planned.table.rows) > 3
    assert all(scale == "paper" or run.row.split == "dev" for run in runs)
    assert planned.table.about.rstrip().endswith(".")


def test_table1_has_the_numbers_of_the_paper(tmp_path: Path) -> None:
    table = paper_table("table1", tmp_path).table
    assert table.columns == ["baseline", "ELMo"] and table.increase == Increase(over="baseline", of="ELMo")
    found = {row.name: row.cells[0].paper for row in table.rows}
    assert found["squad-baseline"] == Paper(81.1) and found["ner-elmo"] == Paper(92.22, 0.10)
    assert len(found) == 12


def test_table1_scores_test_data_at_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "paper")
    splits = {row.name: (row.split, row.file) for row in paper_table("table1", tmp_path).table.rows}
    assert splits["ner-elmo"] == ("test", f"{FIXTURES}/miniworld/ner/eng.testb")
    assert splits["squad-elmo"] == ("dev", None)
    assert sum(split == "test" for split, _ in splits.values()) == 10


def test_the_caps_that_a_table_tells_are_those_of_the_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.SCALE_VARIABLE, "small")
    monkeypatch.setenv(settings.DATA_VARIABLE, str(FIXTURES / "miniworld"))
    planned = paper_table("table1", tmp_path)
    found = dict(re.findall(r"([\w-]+) (\d+ epochs(?: of \d+ batches)?)", planned.table.about))
    for one in planned.table.rows:
        config = planned.resolved[one.name]
        batches = config["data_loader"].get("batches_per_epoch")
        epochs = f"{config['trainer']['num_epochs']} epochs"
        assert found[one.line] == (epochs if batches is None else f"{epochs} of {batches} batches"), one.name
    assert len(found) == 6


def test_table2_changes_mix_and_lambda_and_waits_for_cove(tmp_path: Path) -> None:
    planned = paper_table("table2", tmp_path)
    last = planned.resolved["srl-last"]["model"]["elmo"]
    assert (last["mix"], last["l2"]) == ("last", None)
    lambdas = [planned.resolved[f"squad-lambda-{value}"]["model"]["elmo"]["l2"] for value in ("1", "0.001")]
    assert lambdas == [1.0, 0.001]
    cove = planned.table.row("snli-cove-last")
    assert cove.missing and not planned.runs([cove], [1])


@pytest.mark.parametrize(
    ("rows", "keys", "message"),
    [
        ([row("a", metrc="f1")], {}, "row a: metrc: expected a key of Row, .* nearest: metric"),
        ([row("a")], {"titel": "x"}, "titel: expected a key of Table, got the unknown key titel; nearest: title"),
        ([row("a"), row("a")], {}, "2 rows are called a"),
        ([row("a/b")], {}, "row name 'a/b': up to 100 letters, digits"),
        ([row("a" * 101)], {}, "row name 'a{101}': up to 100 letters, digits"),
        ([row("a", split="test")], {}, "row a: split test needs a file"),
        ([row("a", split="train")], {}, "row a: split must be dev or test, found 'train'"),
        ([row("a", paper_split="tset")], {}, "row a: paper_split must be dev or test, found 'tset'"),
        ([row("a", bilm_of="bb")], {}, r"row a: there is no row 'bb' \(known: a\)"),
        ([row("a", bilm_of="a")], {}, "row a: bilm_of must be a row with finetune, a is none"),
        ([row("a", bilm_of="b"), row("b", bilm_of="a")], {}, "row a: bilm_of must be .* finetune, b is none"),
        ([row("a", bilm_of="a", finetune=True)], {}, "row a: a row with finetune builds on no other"),
        (
            [row("a", ensemble={"of": "a", "members": 2})],
            {},
            "row a: .* needs a row with seeds, a has one run",
        ),
        ([row("a", ensemble={"of": "a", "members": 1})], {}, "an ensemble needs two members at least"),
        (
            [row("a", ensemble={"of": "a", "members": 2.5})],
            {},
            "ensemble.members: expected int, got 2.5",
        ),
        (
            [row("a", ensemble={"of": "a", "member": 3})],
            {},
            "row a: ensemble.member: .*; nearest: members",
        ),
        ([row("a")], {"increase": {"of": "a", "over": "b"}}, "increase: no row has the column 'b'"),
        ([row("a")], {"increase": {"of": "a"}}, "increase.over: expected a value: Increase requires it, got none"),
        ([row("a")], {"increase": "x"}, "increase"),
        ([row("a")], {"figure": "pie"}, "figure must be 'share'"),
        ([row("a")], {"figure": "share"}, "figure 'share' needs rows with x"),
        ([row("a", x=0)], {}, "row a: x must be above 0, found 0"),
        ([row("a", minutes=-5)], {}, "row a: minutes must be above 0, found -5"),
        ([row("a", minutes="two")], {}, 'row a: minutes: expected float, got "two"'),
        ([row("a", column=3)], {}, "row a: column: expected str, got 3"),
        ([row("a", column=None)], {}, "row a needs a column"),
        ([row("a", line=3)], {}, "row a: line: expected str, got 3"),
        ([row("a", metric=["f1"])], {}, "row a: metric: expected str"),
        ([row("a", paper="85")], {}, r"row a: paper: expected float \| Paper"),
        ([row("a", paper={"mean": "85"})], {}, 'row a: paper.mean: expected float, got "85"'),
        ([row("a", paper={"mena": 85})], {}, "row a: paper.mena: .*nearest: mean"),
        ([row("a", needs="/etc")], {}, "row a: needs: expected list"),
        ([row("a", needs=[3])], {}, "row a: needs.0: expected str, got 3"),
        ([row("a", seed_keys=[])], {}, "row a: seed_keys must name at least one key"),
        ([row("a", seed_keys="random_seed")], {}, "row a: seed_keys: expected list"),
        ([row("a", changes=[1])], {}, "row a: changes"),
        ([row("a", cells=["f1"])], {}, "row a: cells.0"),
        ([row("a", cells=3)], {}, "row a: cells: expected list"),
        ([row("a", metric="passes")], {}, "row a: the metric 'passes' and `over`, the row that is passed, go together"),
        ([row("a", column="x"), row("b", column="x")], {}, "rows a and b stand in the same place, line 'NER'.* 'x'"),
        ([], {}, "a table needs rows"),
        ([{"name": "a"}], {}, "row a: config: expected a value: Row requires it, got none"),
        ([3], {}, "row 0: the row: expected an object"),
    ],
)
def test_a_faulty_table_is_one_clear_error(
    rows: list[dict[str, Any]], keys: dict[str, Any], message: str, tmp_path: Path
) -> None:
    file = write_table(tmp_path, rows, **keys)
    with pytest.raises(InputError, match=f"table.jsonnet: .*{message}"):
        read_table(file)


def test_no_table_and_no_jsonnet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such table"):
        read_table(tmp_path / "table9.jsonnet")
    (tmp_path / "broken.jsonnet").write_text("{ rows: [ }")
    with pytest.raises(InputError, match="broken.jsonnet: .*expected|broken.jsonnet: "):
        read_table(tmp_path / "broken.jsonnet")


def test_patterns_choose_rows(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path, [row("snli-a"), row("snli-b"), row("srl-a")]))
    assert [chosen.name for chosen in table.chosen(["*-a"])] == ["snli-a", "srl-a"]
    assert len(table.chosen([])) == 3
    with pytest.raises(InputError, match=r"no row matches 'ner-\*' \(the rows are snli-a, snli-b, srl-a\)"):
        table.chosen(["*-a", "ner-*"])


def test_a_written_table_is_read_as_it_is(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path, [row("a", paper={"says": "failed"}), row("b", paper=3)]))
    assert [r.cells[0].paper for r in table.rows] == [Paper(says="failed"), Paper(3)]
    assert json.loads((tmp_path / "table.jsonnet").read_text())["title"] == table.title


def test_a_table_is_an_object(tmp_path: Path) -> None:
    (tmp_path / "list.jsonnet").write_text("[1, 2]")
    with pytest.raises(InputError, match=r"list.jsonnet: +expected a JSON object, got \[1, 2\]"):
        read_table(tmp_path / "list.jsonnet")


def test_a_missing_file_that_is_scored_makes_a_row_missing(tmp_path: Path) -> None:
    table = read_table(write_table(tmp_path, [row("a", split="test", file="/nowhere/eng.testb")]))
    assert table.row("a").missing == ["/nowhere/eng.testb"]
