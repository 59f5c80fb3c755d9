"""
Draws `architecture.svg`: the packages of elmo_tasks and their imports.

An arrow means that the upper package imports the lower one directly. Arrows that follow from others are left out, and
so are the single modules at the root. Run `python docs/images/architecture.py` after the structure changes.
"""

from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import matplotlib
import matplotlib.pyplot as plt

PACKAGE = Path(__file__).parents[2] / "elmo_tasks"
WIDTH, HEIGHT = 2.0, 0.5


def imports() -> dict[str, set[str]]:
    """The packages that each package imports."""
    graph = grimp.build_graph("elmo_tasks")
    found: dict[str, set[str]] = {}
    for module in graph.modules:
        names = {
            package_of(module),
            *map(package_of, graph.find_modules_directly_imported_by(module)),
        } - {None}
        if package_of(module):
            found.setdefault(package_of(module), set()).update(
                names - {package_of(module)}
            )
    return found


def package_of(module: str) -> str | None:
    """`elmo_tasks.tasks.tagging.model` -> `tasks`; None for a module at the root."""
    name = (module.split(".") + [""])[1]
    return name if name and (PACKAGE / name).is_dir() else None


def reachable(name: str, imported: dict[str, set[str]]) -> set[str]:
    """All packages that `name` imports, directly or not."""
    return imported[name].union(
        *(reachable(lower, imported) for lower in imported[name])
    )


def places(imported: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """The centre of each package: as low as its imports allow, above the mean of what it imports."""
    depth: dict[str, int] = {}
    for name in TopologicalSorter(imported).static_order():
        depth[name] = 1 + max((depth[lower] for lower in imported[name]), default=-1)
    found: dict[str, tuple[float, float]] = {}
    for level in range(max(depth.values()) + 1):
        row = sorted(name for name in depth if depth[name] == level)
        row.sort(
            key=lambda name: (
                sum(found[lower][0] for lower in imported[name])
                / max(1, len(imported[name]))
            )
        )
        found |= {
            name: ((column - (len(row) - 1) / 2) * 2.6, 1.1 * level)
            for column, name in enumerate(row)
        }
    return found


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
        indirect = set().union(
            *(reachable(lower, imported) for lower in imported[upper])
        )
        for lower in sorted(imported[upper] - indirect):
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
