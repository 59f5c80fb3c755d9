"""benchmarks/score_blocks.py scores each unit of the data once, and leaves one block out."""

import random
import runpy
from itertools import chain
from pathlib import Path
from statistics import mean

import pytest

from elmo_tasks.tasks import TASKS
from elmo_tasks.training.archives.loading import load_archive, score
from elmo_tasks.training.data.subsampling import units_in
from tests.models import SAMPLES
from tests.tasks.test_task_models import STORED
from tests.tiny import ROOT

SCRIPT = runpy.run_path("benchmarks/score_blocks.py")


@pytest.mark.parametrize("part", [(0.0, 1.0), (0.9, 1.0)])
@pytest.mark.parametrize("count", [7, 15, 20])
def test_blocks_have_each_unit_of_the_part_once(
    part: tuple[float, float], count: int
) -> None:
    blocks = SCRIPT["blocks_of"](part, count)
    assert len(blocks) == count
    for units in (300, 853, 8149):
        found = [sorted(units_in(block, range(units))) for block in blocks]
        assert all(found)
        assert list(chain(*found)) == sorted(units_in(part, range(units)))


@pytest.mark.parametrize("task", [task.name for task in TASKS.values() if task.paper])
def test_without_a_block_the_others_are_scored(task: str) -> None:
    file, metric = SAMPLES[task], "f1"
    if task == "srl":  # the sample is one document
        file = ROOT / "fixtures/srl"
    archive = load_archive(STORED / "1" / f"{task}.tar.gz")
    if task in ("snli", "sst"):
        metric = "accuracy"
    expected = [score(archive, file)[metric]]
    halves = SCRIPT["blocks_of"]((0.0, 1.0), 2)
    for half in reversed(halves):
        expected.append(score(archive, file, part=half)[metric])
    whole, without, sizes = SCRIPT["scores_without"](archive, str(file), halves, metric)
    assert [whole, *without] == pytest.approx(expected)
    assert len(sizes) == 2
    assert all(sizes)


def test_the_error_of_a_mean_over_blocks_of_other_sizes() -> None:
    """Over many samples, its square is the variance of the mean, on average."""
    generator = random.Random(1)
    sizes = [5, 80, 10, 40, 5, 20, 10, 30]
    found = []
    for _ in range(400):
        blocks = [[generator.gauss(0, 1) for _ in range(size)] for size in sizes]
        without = []
        for index in range(len(blocks)):
            without.append(mean(chain(*(blocks[:index] + blocks[index + 1 :]))))
        whole = mean(chain(*blocks))
        found.append(SCRIPT["jackknife_error"](whole, without, sizes) ** 2)
    assert mean(found) == pytest.approx(1 / sum(sizes), rel=0.1)


def test_blocks_without_a_unit_are_left_out(tmp_path: Path) -> None:
    """As of a file in which one article has a third of the questions."""
    file = tmp_path / "snli_1.0_dev.jsonl"
    source = ROOT / "fixtures/miniworld/snli/snli_1.0_dev.jsonl"
    first, *others = source.read_text().splitlines()[:10]
    file.write_text("\n".join([first] * 20 + others))  # the pairs of a premise: a unit
    archive = load_archive(STORED / "1" / "snli.tar.gz")
    expected = score(archive, file)["accuracy"]
    blocks = SCRIPT["blocks_of"]((0.0, 1.0), 20)
    whole, without, sizes = SCRIPT["scores_without"](
        archive, str(file), blocks, "accuracy"
    )
    assert sum(sizes) == 29 and max(sizes) >= 20
    assert len(without) == len(sizes) < 20
    assert whole == pytest.approx(expected)
