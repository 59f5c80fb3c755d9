"""
Draws `architecture.svg`: the packages of elmo_tasks and their imports.

An arrow means that the upper package imports the lower one directly. Arrows that follow
from others are left out, and so are the single modules at the root.
"""

from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import matplotlib
import matplotlib.pyplot as plt

PACKAGE = Path(__file__).parents[2] / "elmo_tasks"
WIDTH = 2.0
HEIGHT = 0.5
"""Of a package's box."""


def imports() -> dict[str, set[str]]:
    """The packages that each package imports."""
    graph = grimp.build_graph("elmo_tasks")
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        package = package_of(module)
        if package is None:
            continue
        names = found.setdefault(package, set())
        for imported in graph.find_modules_directly_imported_by(module):
            other = package_of(imported)
            if other not in (None, package):
                names.add(other)
    return found


def package_of(module: str) -> str | None:
    """`elmo_tasks.tasks.tagging.model` -> `tasks`; None for a module at the root."""
    parts = module.split(".")
    if len(parts) > 1 and (PACKAGE / parts[1]).is_dir():
        return parts[1]
    return None


def reachable(name: str, imported: dict[str, set[str]]) -> set[str]:
    """All packages that `name` imports, directly or not."""
    return imported[name] | indirect(name, imported)


def indirect(name: str, imported: dict[str, set[str]]) -> set[str]:
    """All packages that the imports of `name` import, directly or not."""
    found: set[str] = set()
    for lower in imported[name]:
        found |= reachable(lower, imported)
    return found


def places(imported: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """
    The centre of each package: as low as its imports allow, above the mean of what it
    imports.
    """
    depth: dict[str, int] = {}
    for name in TopologicalSorter(imported).static_order():
        depth[name] = 1 + max((depth[lower] for lower in imported[name]), default=-1)
    found: dict[str, tuple[float, float]] = {}
    for level in range(max(depth.values()) + 1):
        row = sorted(name for name in depth if depth[name] == level)
        middles = {name: middle(imported[name], found) for name in row}
        row.sort(key=middles.__getitem__)
        for column, name in enumerate(row):
            found[name] = ((column - (len(row) - 1) / 2) * 2.6, 1.1 * level)
    return found


def middle(names: set[str], centres: dict[str, tuple[float, float]]) -> float:
    """The mean of the packages' horizontal places; 0 if there are none."""
    total = sum(centres[name][0] for name in names)
    return total / max(1, len(names))


def main() -> None:
    """Write the picture beside this file."""
    matplotlib.rcParams.update(
        {
            "svg.hashsalt": "architecture",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
        }
    )
    imported = imports()
    centres = places(imported)
    figure, axes = plt.subplots(figsize=(6.4, 6.0))
    for upper, (x, y) in centres.items():
        for lower in sorted(imported[upper] - indirect(upper, imported)):
            u, v = centres[lower]
            axes.annotate(
                "",
                (u, v + HEIGHT / 2),
                (x, y - HEIGHT / 2),
                arrowprops={"arrowstyle": "->", "color": "#667788"},
            )
        box = plt.Rectangle(
            (x - WIDTH / 2, y - HEIGHT / 2),
            WIDTH,
            HEIGHT,
            fc="#e8eef7",
            ec="#33507a",
            zorder=3,
        )
        axes.add_patch(box)
        axes.text(x, y, upper, ha="center", va="center", fontsize=10, zorder=4)
    axes.autoscale_view()
    axes.set_axis_off()
    figure.savefig(
        Path(__file__).with_suffix(".svg"),
        bbox_inches="tight",
        metadata={"Date": None},
        facecolor="white",
    )


if __name__ == "__main__":
    main()
