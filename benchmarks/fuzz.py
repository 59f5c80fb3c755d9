"""
Every reader and every loader over thousands of damaged files; exits with 1 where one took a file badly.

Each file is a sound one with pieces cut, put in, taken out or doubled, other line ends, other JSON values, or gzip that
is damaged. It must be read, or refused with one clear message, within seconds and without growing by more than ten
times the file. So must files of some megabytes that no reader can expect: one line, lists alone, gzip that unpacks to a
thousand times its size. tests/fuzz has the rest.
"""

import argparse
import resource
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.hostile import hostile
from tests.fuzz.outcome import fuzz, outcome
from tests.fuzz.subjects import subjects
from tests.memory import release

LARGE, LONG = 4_000_000, 300.0
"""Bytes, and seconds at most, of the files that no reader can expect."""

MOST_MEMORY = 2**33
"""Bytes for the whole process: what would take more is a fault, and not the end of the machine."""


def main() -> int:
    """Runs all subjects, or those that are named; keeps the files that were not taken well."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("names", nargs="*", help="subjects; by default all")
    parser.add_argument("--count", type=int, default=2000, help="files for each; a twentieth for archives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that were not taken well")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    failed = False
    with TemporaryDirectory() as folder:
        for name, subject in subjects(Path(folder)).items():
            if given.names and name not in given.names:
                continue
            count = given.count // 20 if "archive" in name else given.count
            counts, faults = fuzz(subject, count=count, seed=given.seed, folder=Path(folder))
            for data in hostile(subject.sample, LARGE).values() if "archive" not in name else ():
                release()
                found = outcome(subject, data, Path(folder), seconds=LONG)
                counts[found] += 1
                if found not in ("read", "refused"):
                    faults.setdefault(found, data)
            line = f"{name}: {counts['read']} read, {counts['refused']} refused, {len(faults)} faults"
            print(line, flush=True)
            for place, (fault, data) in enumerate(faults.items()):
                failed = True
                print(f"  {counts[fault]} x {fault}")
                if given.keep is not None:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{name.replace('/', '-')}-{place}").write_bytes(data)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
