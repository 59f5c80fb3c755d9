"""Builds clusters from labelled mentions and from antecedents."""

from collections.abc import Iterable, Sequence

from elmo_tasks.formats.brackets import Cluster, Mention


def clusters_by_label(mentions: Iterable[tuple[Mention, str]]) -> list[Cluster]:
    """The clusters of labelled mentions, without duplicates, sorted by their first mention."""
    found: dict[str, set[Mention]] = {}
    for mention, label in mentions:
        found.setdefault(label, set()).add(mention)
    return sorted(sorted(cluster) for cluster in found.values())


def without_singletons(clusters: Iterable[Cluster]) -> list[Cluster]:
    """The clusters of two or more mentions. OntoNotes annotates no others."""
    return [cluster for cluster in clusters if len(cluster) > 1]


def clusters_from_antecedents(mentions: Sequence[Mention], antecedents: Sequence[int]) -> list[Cluster]:
    """
    Links each of M mentions, in the order of the text, with its antecedent: the index of an earlier one, or -1. Returns
    the clusters of two or more mentions, sorted by their first mention.
    """
    clusters: dict[int, Cluster] = {}
    for place, antecedent in enumerate(antecedents):
        if antecedent >= 0:
            clusters[place] = clusters.setdefault(antecedent, [mentions[antecedent]])
            clusters[place].append(mentions[place])
    return sorted({id(cluster): cluster for cluster in clusters.values()}.values())
