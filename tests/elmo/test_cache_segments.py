"""The cache's files: what a kill, a flipped byte, or several writers at once may leave, nobody reads a wrong value."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from elmo_tasks.elmo import cache_segments
from elmo_tasks.elmo.cache_segments import RECORD_BYTES, SegmentStore, bytes_in, remove_segments


def key(number: int) -> bytes:
    return number.to_bytes(16, "little")


def value(number: int) -> bytes:
    """Of 30 to 99 bytes, different for each number."""
    return b"%09d;" % number * (3 + number % 7) + bytes(number % 10)


def get(store: SegmentStore, number: int) -> bytes | None:
    found = store.get(key(number), length=len(value(number)))
    return None if found is None else bytes(found)


def filled(folder: Path, count: int = 4) -> tuple[Path, Path]:
    """A folder of one segment that was written by two calls; its index and values."""
    store = SegmentStore(folder)
    store.add({key(number): value(number) for number in range(count // 2)})
    store.add({key(number): value(number) for number in range(count // 2, count)})
    return files(folder)


def files(folder: Path) -> tuple[Path, Path]:
    (index,), (values,) = folder.glob("*.index"), folder.glob("*.layers")
    return index, values


def in_a_fork(run: Callable[[], None]) -> int:
    """Starts a fork that runs it and ends; its process id."""
    process = os.fork()
    if process:
        return process
    try:
        run()
    finally:
        os._exit(0)


def test_what_was_added_is_there_and_in_every_other_store(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    before = SegmentStore(folder)
    assert get(before, 0) is None and not folder.exists()
    index, values = filled(folder)
    assert [get(SegmentStore(folder), number) for number in range(5)] == [*map(value, range(4)), None]
    assert get(before, 0) is None
    before.refresh()
    assert [get(before, number) for number in range(5)] == [*map(value, range(4)), None]
    assert index.stat().st_size == 4 * RECORD_BYTES
    assert values.stat().st_size == sum(len(value(number)) for number in range(4))
    assert bytes_in(folder) == index.stat().st_size + values.stat().st_size


def test_each_record_is_taken_once(tmp_path: Path) -> None:
    """Else a damaged one would be tried, and counted, again."""
    store, writer = SegmentStore(tmp_path), SegmentStore(tmp_path)
    for number in range(4):
        writer.add({key(number): value(number)})
        store.refresh()
    _, values = files(tmp_path)
    values.write_bytes(bytes(values.stat().st_size))
    assert [get(store, number) for number in range(4)] == [None] * 4
    assert store.damaged == 4


def test_a_value_of_another_length_is_none(tmp_path: Path) -> None:
    filled(tmp_path)
    store = SegmentStore(tmp_path)
    assert store.get(key(1), length=len(value(1)) - 2) is None
    assert store.damaged == 1


def test_cut_values_are_never_read(tmp_path: Path) -> None:
    _, values = filled(tmp_path)
    whole = values.read_bytes()
    for size in range(len(whole) - 1, len(whole) - len(value(3)) - 1, -1):
        os.truncate(values, size)
        store = SegmentStore(tmp_path)
        assert [get(store, number) for number in range(4)] == [*map(value, range(3)), None]
        assert store.damaged == 1
    store.add({key(3): value(3)})
    for reader in (store, SegmentStore(tmp_path)):
        assert [get(reader, number) for number in range(4)] == [*map(value, range(4))]


def test_values_without_a_whole_record_are_never_read(tmp_path: Path) -> None:
    index, values = filled(tmp_path)
    for size in range(4 * RECORD_BYTES - 1, 3 * RECORD_BYTES - 1, -1):
        os.truncate(index, size)
        store = SegmentStore(tmp_path)
        assert [get(store, number) for number in range(4)] == [*map(value, range(3)), None]
        assert store.damaged == 0


def test_a_writer_goes_on_after_an_interrupt(tmp_path: Path) -> None:
    """Whatever part of the values and of the record it had written."""
    store = SegmentStore(tmp_path)
    store.add({key(0): value(0)})
    index, values = files(tmp_path)
    record = index.read_bytes()
    for number, cut in enumerate(range(RECORD_BYTES), start=1):
        with values.open("ab") as file:
            file.write(b"part of a value"[:cut])
        with index.open("ab") as file:
            file.write(record[:cut])
        store.add({key(number): value(number)})
    for reader in (store, SegmentStore(tmp_path)):
        assert [get(reader, number) for number in range(RECORD_BYTES)] == [*map(value, range(RECORD_BYTES))]
        assert reader.damaged == 0


@pytest.mark.parametrize("which", [0, 1], ids=["index", "values"])
def test_a_flipped_byte_costs_one_entry(tmp_path: Path, which: int) -> None:
    path = filled(tmp_path)[which]
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        store = SegmentStore(tmp_path)
        found = [get(store, number) for number in range(4)]
        assert store.damaged == 1
        (lost,) = [number for number in range(4) if found[number] is None]
        assert [found[number] for number in range(4) if number != lost] == [value(n) for n in range(4) if n != lost]
        store.add({key(lost): value(lost)})
        for reader in (store, SegmentStore(tmp_path)):
            assert get(reader, lost) == value(lost)
        for mended in set(tmp_path.iterdir()) - {path, path.with_suffix(".index"), path.with_suffix(".layers")}:
            mended.unlink()


def test_a_value_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(tmp_path)
    checked: list[int] = []
    crc32 = cache_segments.crc32
    monkeypatch.setattr(cache_segments, "crc32", lambda data: (checked.append(len(data)), crc32(data))[1])
    store = SegmentStore(tmp_path)
    checked.clear()
    assert {get(store, 1), get(store, 1), get(store, 1)} == {value(1)}
    assert checked == [len(value(1))]


def test_of_two_writers_the_first_that_was_seen_is_read_while_it_is_sound(tmp_path: Path) -> None:
    first, second = SegmentStore(tmp_path), SegmentStore(tmp_path)
    first.add({key(1): b"a" * len(value(1))})
    second.add({key(1): b"b" * len(value(1))})
    for store, seen in ((first, b"a"), (second, b"b")):
        store.refresh()
        assert get(store, 1) == seen * len(value(1))
    (mine,) = [path for path in tmp_path.glob("*.layers") if path.read_bytes().startswith(b"a")]
    mine.write_bytes(b"c" * len(value(1)))
    assert get(SegmentStore(tmp_path), 1) == b"b" * len(value(1))


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    """Forks of one that has written before: each begins a segment of its own, and all is there in the end."""
    parent = SegmentStore(tmp_path)
    parent.add({key(0): value(0)})

    def write(start: int) -> None:
        for number in range(start, 601, 3):
            parent.add({key(number): value(number)})

    children = [in_a_fork(lambda start=start: write(start)) for start in (1, 2)]
    write(3)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0
    assert len(list(tmp_path.glob("*.index"))) == 3
    parent.refresh()
    for store in (parent, SegmentStore(tmp_path)):
        assert [get(store, number) for number in range(601)] == [*map(value, range(601))]
        assert store.damaged == 0


def test_a_killed_writer_leaves_only_sound_values(tmp_path: Path) -> None:
    def write() -> None:
        store = SegmentStore(tmp_path)
        for number in range(10**6):
            store.add({key(2 * number): value(2 * number), key(2 * number + 1): value(2 * number + 1)})

    reader, seen = SegmentStore(tmp_path), 0
    for _ in range(5):
        child = in_a_fork(write)
        while len(reader) <= seen:  # it has begun
            reader.refresh()
        time.sleep(0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        reader.refresh()
        seen = len(reader)
        for store in (reader, SegmentStore(tmp_path)):
            assert [get(store, number) for number in range(seen)] == [*map(value, range(seen))]
            assert store.damaged == 0


def test_a_folder_that_is_cleared_meanwhile(tmp_path: Path) -> None:
    """Who reads goes on, who writes starts anew, and nothing that was not yet mapped is missed."""
    store = SegmentStore(tmp_path)
    store.add({key(1): value(1)})
    assert get(store, 1) == value(1)
    store.add({key(2): value(2)})
    remove_segments(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert (get(store, 1), get(store, 2)) == (value(1), None)
    store.add({key(2): value(2)})
    assert get(store, 2) == value(2)
    assert get(SegmentStore(tmp_path), 2) == value(2)
    assert store.damaged == 0
