"""From labels and links to clusters."""

from collections.abc import Iterable, Sequence

from elmo_tasks.data.mentions import Cluster, Mention


def clusters_by_label(mentions: Iterable[tuple[Mention, str]]) -> list[Cluster]:
    """The clusters that labelled mentions make, by their first mention; a mention counts once in its cluster."""
    found: dict[str, set[Mention]] = {}
    for mention, label in mentions:
        found.setdefault(label, set()).add(mention)
    return sorted(sorted(cluster) for cluster in found.values())


def without_singletons(clusters: Iterable[Cluster]) -> list[Cluster]:
    """The clusters of two mentions or more: OntoNotes annotates no others, and no others are scored."""
    return [cluster for cluster in clusters if len(cluster) > 1]


def clusters_from_antecedents(mentions: Sequence[Mention], antecedents: Sequence[int]) -> list[Cluster]:
    """
    Follows the links from each mention to its antecedent.

    # Parameters

    mentions : `Sequence[Mention]`
        M mentions, in the order of the text.
    antecedents : `Sequence[int]`
        For each of them the place of an earlier one, or -1.

    # Returns

    `list[Cluster]`
        Of two mentions or more, by their first mention.
    """
    home: dict[int, Cluster] = {}
    clusters: list[Cluster] = []
    for place, antecedent in enumerate(antecedents):
        if antecedent < 0:
            continue
        if antecedent not in home:
            home[antecedent] = [mentions[antecedent]]
            clusters.append(home[antecedent])
        home[place] = home[antecedent]
        home[place].append(mentions[place])
    return sorted(clusters)
