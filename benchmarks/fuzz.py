"""
Every reader and loader on thousands of damaged files; exits with 1 if one mishandled a file.

Each file is a valid one with pieces cut, inserted, removed or duplicated, other line ends, other JSON values, or
damaged gzip. It must be read, or rejected with one clear message, within seconds and without growing by more than ten
times the file. The same holds for files of some megabytes that no reader expects: one line, nested lists, gzip that
unpacks to a thousand times its size. The rest is in tests/fuzz.
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
"""Bytes, and maximum seconds, for the files that no reader expects."""

MOST_MEMORY = 2**33
"""Bytes for the whole process: more is reported as a failure."""


def main() -> int:
    """Runs all or the given subjects; keeps the files that were mishandled."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("names", nargs="*", help="subjects; by default all")
    parser.add_argument("--count", type=int, default=2000, help="files for each; a twentieth for archives")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the files that were mishandled")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    failed = False
    with TemporaryDirectory() as folder:
        for name, subject in subjects(Path(folder)).items():
            if given.names and name not in given.names:
                continue
            count = given.count // 20 if "archive" in name else given.count
            counts, failures = fuzz(subject, count=count, seed=given.seed, folder=Path(folder))
            for data in hostile(subject.sample, LARGE).values() if "archive" not in name else ():
                release()
                found = outcome(subject, data, Path(folder), seconds=LONG)
                counts[found] += 1
                if found not in ("read", "refused"):
                    failures.setdefault(found, data)
            line = f"{name}: {counts['read']} read, {counts['refused']} refused, {len(failures)} failures"
            print(line, flush=True)
            for place, (failure, data) in enumerate(failures.items()):
                failed = True
                print(f"  {counts[failure]} x {failure}")
                if given.keep is not None:
                    given.keep.mkdir(parents=True, exist_ok=True)
                    (given.keep / f"{name.replace('/', '-')}-{place}").write_bytes(data)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
