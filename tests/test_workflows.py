"""What runs on other machines: workflows, and the image of the server."""

import re

from tests.tiny import ROOT

ACTION = re.compile(r"uses: (?!\./)(\S+?)@(.*)$", re.MULTILINE)
PINNED = re.compile(r"[0-9a-f]{40}  # v\d+\.\d+\.\d+")


def test_actions_are_pinned_by_hash_and_the_same_everywhere() -> None:
    found: dict[str, str] = {}
    files = sorted((ROOT / ".github").rglob("*.yml"))
    for file in files:
        for name, version in ACTION.findall(file.read_text()):
            assert PINNED.fullmatch(version), f"{file.name}: {name}@{version}"
            assert found.setdefault(name, version) == version, file.name
    assert "actions/checkout" in found


def test_a_person_types_at_most_twelve_targets() -> None:
    shown = re.findall(r"^[\w-]+:.* ## ", (ROOT / "Makefile").read_text(), re.M)
    assert 0 < len(shown) <= 12


def test_targets_of_the_workflows_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    files = [ROOT / ".ci/run", *(ROOT / ".github/workflows").glob("*.yml")]
    for file in files:
        for line in re.findall(r"^.*\bmake (.+)$", file.read_text(), re.M):
            for word in line.split():
                if re.fullmatch(r"[a-z][a-z0-9-]*", word):
                    assert word in targets, f"{file.name}: make {word}"
