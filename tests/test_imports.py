"""No two modules of the package import each other, directly or by way of others."""

from graphlib import TopologicalSorter

import pytest

grimp = pytest.importorskip("grimp", reason="it comes with import-linter, for lint")


def test_no_circle() -> None:
    """Imports for the type checker count: a reader follows them, too."""
    graph = grimp.build_graph("elmo_tasks", exclude_type_checking_imports=False)
    imports = {}
    for module in graph.modules:
        imports[module] = graph.find_modules_directly_imported_by(module)
    TopologicalSorter(imports).prepare()  # raises an error that names a circle
