"""
Beside the paper's Table 4: how often the nearest occurrence of a word has its part of
speech and its sense, by layer.

python benchmarks/neighbors.py /corpora/wsd/SemCor/semcor.data.xml play
"""

import argparse
from pathlib import Path

from elmo_tasks.elmo.layers import Layers
from elmo_tasks.elmo.source_types import SourceSettings
from elmo_tasks.experiments.probes.layers import all_layers
from elmo_tasks.experiments.probes.neighbors import (
    CorpusIndex,
    nearest_occurrences,
    occurrence_in_corpus,
)
from elmo_tasks.experiments.probes.senses import key_file_of, read_keys, read_senses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "corpus", type=Path, help="SemCor's *.data.xml, with its keys beside it"
    )
    parser.add_argument("word", help="a noun or verb, as it stands in the text")
    args = parser.parse_args()
    sentences = list(read_senses(args.corpus))
    keys = read_keys(key_file_of(args.corpus))
    # Part of speech and sense of an occurrence, counted from 1.
    annotated: dict[int, tuple[str, str]] = {}
    number = 0
    for sentence in sentences:
        targets = {}
        for target in sentence.targets:
            if target.end == target.start + 1:
                targets[target.start] = target
        for place, word in enumerate(sentence.words):
            if word.lower() == args.word.lower():
                number += 1
                if place in targets:
                    target = targets[place]
                    annotated[number] = target.pos, keys[target.id][0]
    print(
        f"{len(annotated)} of {number} occurrences have a sense; the nearest one of these has the same"
    )
    frozen = Layers.open(SourceSettings())
    texts = [sentence.words for sentence in sentences]
    for layer, vectors in enumerate(all_layers(frozen, texts)):
        index = CorpusIndex(texts, layer, vectors)
        same = [0, 0]
        chance = [0.0, 0.0]
        for query, own in annotated.items():
            source = occurrence_in_corpus(index, args.word, query)
            found = nearest_occurrences(index, args.word, source, top=number)
            others = [annotated[one.number] for one in found if one.number in annotated]
            for kind in (0, 1):
                agree = [other[kind] == own[kind] for other in others]
                same[kind] += agree[0]
                chance[kind] += sum(agree) / len(agree)
        print(
            f"layer {layer}: part of speech {same[0]} (by chance {chance[0]:.1f}), sense {same[1]} ({chance[1]:.1f})"
        )


if __name__ == "__main__":
    main()
