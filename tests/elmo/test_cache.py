"""
The layer cache: the same rounded layers, whatever the folder holds and whatever happens
to it.
"""

import copy
import logging
import os
import signal
import sqlite3
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from elmo_tasks.bilm import BiLM, batch_to_ids
from elmo_tasks.bilm.bilm import LayerOutput
from elmo_tasks.elmo.cache import STORED, open_store
from elmo_tasks.nn.elmo_embedder import ElmoTokenEmbedder
from tests.disk import file_size_limit
from tests.elmo.samples import SENTENCES
from tests.forks import fork, status_of
from tests.tiny import bilm_files

IDS = batch_to_ids(SENTENCES)
NON_EMPTY = sum(map(bool, SENTENCES))

Embedder = Callable[..., ElmoTokenEmbedder]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return bilm_files(tmp_path_factory.mktemp("bilm"))


@pytest.fixture(scope="module")
def plain(files: dict[str, str]) -> ElmoTokenEmbedder:
    return ElmoTokenEmbedder.open(**files)


@pytest.fixture
def cached(files: dict[str, str], tmp_path: Path) -> Embedder:
    """Embedders of the same biLM with a cache in `tmp_path / "cache"`."""
    return lambda **keys: ElmoTokenEmbedder.open(
        **{**files, "cache_dir": tmp_path / "cache", **keys}
    )


def rounded(output: LayerOutput) -> Tensor:
    return output.layers.to(STORED).to(output.layers.dtype)


def passes(bilm: BiLM) -> list[Tensor]:
    """The ids of every forward pass from now on."""
    seen: list[Tensor] = []
    bilm.register_forward_hook(lambda _, arguments, output: seen.append(arguments[0]))
    return seen


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.message for record in caplog.records if record.levelno >= logging.WARNING
    ]


def stored_values(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "cache").rglob("layers.sqlite")
    return path


def in_fork(run: Callable[[], object]) -> int:
    """A process, which does not share the parent's open store."""

    def act() -> None:
        open_store.cache_clear()
        torch.set_num_threads(1)
        run()

    return fork(act)


def require_success(process: int) -> None:
    assert status_of(process) == 0


def test_layers_are_the_rounded_ones_of_the_bilm_whether_computed_or_read(
    cached: Embedder, plain: ElmoTokenEmbedder
) -> None:
    expected = plain.layers(IDS)
    elmo, other = cached(), cached()
    seen = passes(elmo.source), passes(other.source)
    for output in (elmo.layers(IDS), elmo.layers(IDS), other.layers(IDS)):
        assert torch.equal(output.layers, rounded(expected)) and torch.equal(
            output.mask, expected.mask
        )
        assert output.layers.dtype == torch.float32 and output.mask.dtype == torch.bool
    assert not torch.equal(rounded(expected), expected.layers)
    assert torch.equal(other(IDS), elmo(IDS))
    assert [len(calls) for calls in seen] == [1, 0]


def test_only_missing_sentences_are_computed_and_each_once(
    cached: Embedder, plain: ElmoTokenEmbedder
) -> None:
    elmo = cached()
    elmo.layers(batch_to_ids([SENTENCES[2], SENTENCES[0]]))
    seen = passes(elmo.source)
    batch = [SENTENCES[place] for place in (4, 2, 1, 4, 3, 0, 1, 1)]
    ids = torch.cat([batch_to_ids(batch), torch.zeros(8, 3, 50, dtype=torch.long)], 1)
    output = elmo.layers(ids)
    assert [tuple(ids.shape) for ids in seen] == [(2, 4, 50)]
    assert torch.equal(seen[0], batch_to_ids([SENTENCES[4], SENTENCES[1]]))
    torch.testing.assert_close(
        output.layers, plain.layers(ids).layers, atol=2e-3, rtol=1e-3
    )
    assert torch.equal(output.layers[:, 2], output.layers[:, 7])


@pytest.mark.parametrize(
    "changes", [{"seed": 4}, {"cell_clip": 0.1}], ids=["weights", "options"]
)
def test_another_bilm_never_reads_the_entries(
    cached: Embedder, tmp_path: Path, changes: dict[str, Any]
) -> None:
    expected = cached().layers(IDS).layers
    other = bilm_files(tmp_path / "other", **changes)
    found = cached(**other).layers(IDS).layers
    assert torch.equal(
        found, rounded(ElmoTokenEmbedder.open(**other).layers(IDS))
    ) and not torch.equal(found, expected)


def test_values_beyond_float16_are_neither_stored_nor_rounded(
    cached: Embedder, plain: ElmoTokenEmbedder
) -> None:
    expected = plain.layers(IDS).layers

    def enlarge(_: BiLM, arguments: tuple[Tensor], output: LayerOutput) -> None:
        """As an unclipped biLM may: one value of the sentences of five tokens."""
        output.layers[1, output.mask.sum(1) == 5, 2, 3] = 70000.0

    elmo = cached()
    elmo.source.register_forward_hook(enlarge)
    seen = passes(elmo.source)
    others = [1, 3, 4, 5, 6]
    for _ in range(2):
        found = elmo.layers(IDS).layers
        assert found[1, [0, 2], 2, 3].tolist() == [70000.0, 70000.0]
        assert torch.equal(found[:, others], expected[:, others].to(STORED).float())
    assert [len(ids) for ids in seen] == [NON_EMPTY, 2]


def test_a_read_only_folder_is_read(
    cached: Embedder, caplog: pytest.LogCaptureFixture
) -> None:
    with tempfile.TemporaryDirectory(
        ignore_cleanup_errors=True
    ) as name:  # others can reach it, unlike `tmp_path`
        expected = cached(cache_dir=name).layers(IDS[:4]).layers
        for path in (Path(name), *Path(name).rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)

        elmo = cached(cache_dir=name)

        def read() -> None:
            if os.geteuid() == 0:
                os.seteuid(65534)
            seen = passes(elmo.source)
            for _ in range(2):
                assert torch.equal(
                    elmo.layers(IDS).layers[:, :4, : expected.shape[2]], expected
                )
            assert [len(ids) for ids in seen] == [3, 3]
            (warning,) = warnings(caplog)
            assert "no longer written, the run continues: " in warning

        require_success(in_fork(read))
        for path in (Path(name), *Path(name).rglob("*")):
            path.chmod(0o755)


def test_a_full_disk_costs_one_warning_and_no_entry(
    cached: Embedder,
    plain: ElmoTokenEmbedder,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    elmo = cached()
    expected = elmo.layers(IDS[:1]).layers
    with file_size_limit(stored_values(tmp_path).stat().st_size + 100):
        for _ in range(2):
            output = elmo.layers(IDS)
    torch.testing.assert_close(
        output.layers, rounded(plain.layers(IDS)), atol=2e-3, rtol=1e-3
    )
    (warning,) = warnings(caplog)
    assert "no longer written, the run continues: " in warning
    again = cached()
    seen = passes(again.source)
    assert torch.equal(again.layers(IDS[:1]).layers, expected) and seen == []
    again.layers(IDS)
    assert [len(ids) for ids in seen] == [NON_EMPTY - 1]


def test_forks_and_copies_share_the_folder(cached: Embedder) -> None:
    elmo = cached()
    seen = passes(elmo.source)
    expected = elmo.layers(IDS[:3]).layers

    def child() -> None:
        assert torch.equal(elmo.layers(IDS[:3]).layers, expected) and len(seen) == 1
        elmo.layers(IDS)

    require_success(in_fork(child))
    elmo.layers(IDS)
    copy.deepcopy(elmo).layers(IDS)
    assert len(seen) == 1


def overwrite(file: Path) -> None:
    file.write_bytes(bytes(file.stat().st_size))


def shorten(file: Path) -> None:
    with sqlite3.connect(file) as store:
        store.execute("UPDATE layers SET value = zeroblob(2)")
    store.close()


@pytest.mark.parametrize("damage", [overwrite, shorten])
def test_a_damaged_file_is_not_used(
    damage: Callable[[Path], None],
    cached: Embedder,
    plain: ElmoTokenEmbedder,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    cached().layers(IDS)
    damage(stored_values(tmp_path))

    def read() -> None:
        elmo = cached()
        for _ in range(2):
            assert torch.equal(elmo.layers(IDS).layers, rounded(plain.layers(IDS)))
        (warning,) = warnings(caplog)
        assert "no longer used, the run continues: " in warning

    require_success(in_fork(read))


def test_a_part_of_the_disk_is_left_free(
    cached: Embedder, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    elmo = cached()
    seen = passes(elmo.source)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**9))
    for _ in range(2):
        elmo.layers(IDS)
    assert len(seen) == 2
    (warning,) = warnings(caplog)
    assert "no longer written, the run continues: less than 1,000,000,000" in warning


@pytest.mark.slow
def test_processes_that_write_at_once_and_are_killed(
    cached: Embedder, plain: ElmoTokenEmbedder
) -> None:
    texts = [[f"word{number}", "froze"] for number in range(60)]

    def write(step: int) -> None:
        elmo = cached()
        for number in range(0, 60 * step, step):
            elmo.layers(batch_to_ids([texts[number % 60]]))

    def write_forever() -> None:
        while True:
            write(13)

    killed = in_fork(write_forever)
    for process in [in_fork(partial(write, step)) for step in (1, 7, 59)]:
        require_success(process)
    os.kill(killed, signal.SIGKILL)
    status_of(killed)
    elmo = cached()
    seen = passes(elmo.source)
    found = elmo.layers(batch_to_ids(texts)).layers
    expected = rounded(plain.layers(batch_to_ids(texts)))
    torch.testing.assert_close(found, expected, atol=2e-3, rtol=1e-3)
    assert seen == []
