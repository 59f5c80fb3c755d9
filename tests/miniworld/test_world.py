"""Seeded choices, names, and the split of names and tables between training and held-out text."""

import itertools

from elmo_tasks.miniworld import names
from elmo_tasks.miniworld.dice import Dice, stable_number
from elmo_tasks.miniworld.scene import lines_of, occupations
from elmo_tasks.miniworld.subjects import FRAMES
from elmo_tasks.miniworld.world import LABELS, SHARED_SHARE, TRAIN_SHARE, build_world, part_of


def test_numbers_do_not_depend_on_platform_or_process() -> None:
    assert stable_number("stem/hal/den") == 0.5729839563118517
    dice = Dice(13, "test")
    assert [dice.below(100) for _ in range(6)] == [45, 83, 39, 70, 26, 63]
    assert dice.shuffled("abcdef") == ["a", "c", "b", "f", "e", "d"]


def test_streams_for_different_purposes_differ() -> None:
    one, two = Dice(13, "lm"), Dice(13, "ner")
    assert [one.below(1000) for _ in range(5)] != [two.below(1000) for _ in range(5)]


def test_weights_are_followed() -> None:
    dice = Dice(1, "weights")
    drawn = [dice.weighted([("rare", 1.0), ("never", 0.0), ("often", 9.0)]) for _ in range(2000)]
    assert drawn.count("never") == 0
    assert 140 < drawn.count("rare") < 260


def test_stems_are_many_and_distinct() -> None:
    stems = names.composed_stems()
    assert len(stems) == len(set(stems)) > 300
    assert all(stem.isalpha() and stem[0].isupper() and stem[1:].islower() for stem in stems)


def test_same_seed_same_world() -> None:
    def built(seed: int) -> object:
        return build_world(Dice(seed, "w"), people=20, stems=50, split="all")

    assert built(1) == built(1)
    assert built(1) != built(2)


def test_world_has_every_kind_and_every_entity_a_home() -> None:
    world = build_world(Dice(1, "w"), people=30, stems=50, split="all")
    entities = world.all_entities()
    assert {entity.kind for entity in entities} == set(LABELS)
    assert len({entity.identifier for entity in entities}) == len(entities) > 80
    assert all(world.relations[entity.identifier, "home"].kind == "town" for entity in entities)


def test_split_has_three_shares() -> None:
    stems = names.composed_stems()
    train = {stem for stem in stems if part_of(stem, split="train")}
    heldout = {stem for stem in stems if part_of(stem, split="heldout")}
    assert train | heldout == set(stems)
    assert all(part_of(stem, split="all") for stem in stems)
    wanted = (TRAIN_SHARE, SHARED_SHARE, 1 - TRAIN_SHARE - SHARED_SHARE)
    for stems_of_share, share in zip((train - heldout, train & heldout, heldout - train), wanted, strict=True):
        deviation = (share * (1 - share) / len(stems)) ** 0.5
        assert abs(len(stems_of_share) / len(stems) - share) < 3 * deviation


def test_part_of_the_contexts_is_held_out() -> None:
    counts = {"train alone": 0, "both": 0, "heldout alone": 0}
    for table in FRAMES.values():
        train, heldout = (set(lines_of(table, split=split)) for split in ("train", "heldout"))
        counts["train alone"] += len(train - heldout)
        counts["both"] += len(train & heldout)
        counts["heldout alone"] += len(heldout - train)
    assert len(FRAMES) == 14
    assert min(counts.values()) > 60, counts


def test_part_of_the_occupations_is_held_out() -> None:
    train, heldout = set(occupations(split="train")), set(occupations(split="heldout"))
    assert min(len(train - heldout), len(heldout - train), len(train & heldout)) > 8


def test_a_stem_serves_several_kinds() -> None:
    world = build_world(Dice(3, "w"), people=100, stems=80, split="train")
    by_stem = sorted((entity.stem, entity.label) for entity in world.all_entities())
    labels = [{label for _, label in group} for _, group in itertools.groupby(by_stem, key=lambda pair: pair[0])]
    assert sum(len(found) > 1 for found in labels) > 0.8 * len(labels)


def test_country_and_its_adjective() -> None:
    countries = [names.country_name(stem) for stem in ("Halden", "Kasara", "Mont")]
    assert countries == ["Haldia", "Kasarland", "Montia"]
    assert [names.demonym(name) for name in (*countries, "Palek")] == ["Haldian", "Kasarian", "Montian", "Palekish"]
