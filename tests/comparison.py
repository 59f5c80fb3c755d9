"""Comparisons that several tests share."""

from typing import Any

import pytest


def assert_same(found: Any, expected: Any, *, atol: float) -> None:
    """
    The same keys, lengths and values; numbers within 1e-5 of themselves, or `atol`, and
    NaN where it is expected.
    """
    if isinstance(expected, dict):
        assert isinstance(found, dict) and found.keys() == expected.keys()
        for key, value in expected.items():
            assert_same(found[key], value, atol=atol)
    elif isinstance(expected, list | tuple):
        assert isinstance(found, type(expected)) and len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, atol=atol)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5, abs=atol, nan_ok=True)
    else:
        assert found == expected
