"""
The raw rows of docs/results/*.jsonl from the runs of a table:

    python benchmarks/rows.py out/table1/runs >> docs/results/table1.jsonl

A row has what makes it reproducible: the commit, the processor, the SHA-256 of the data
by their names, and that of the resolved config, in which paths of the machine are left
out.
"""

import argparse
import hashlib
import json
import platform
import re
from pathlib import Path
from typing import Any

LEFT_OUT = ("config", "confusion", "file", "inputs", "packages", "peak_gpu_memory")


def processor() -> str:
    """
    The name of the processor, its family and model, and its widest vector instructions.
    """
    text = Path("/proc/cpuinfo").read_text()
    name = re.search(r"model name\s*: (.*)", text)
    found = name[1] if name else platform.processor()
    for key in ("cpu family", "model"):
        number = re.search(rf"^{key}\s*: (\d+)", text, re.M)
        found += f", {key} {number[1]}" if number else ""
    for feature in ("amx_bf16", "avx512_bf16", "avx512f", "avx2"):
        if feature in text:
            return f"{found}, {feature}"
    return found


def named(value: Any) -> Any:
    """A config in which a path of this machine is its last two parts."""
    if isinstance(value, dict):
        return {key: named(item) for key, item in value.items()}
    if isinstance(value, list):
        return [named(item) for item in value]
    if isinstance(value, str) and value.startswith("/"):
        return "/".join(Path(value).parts[-2:])
    return value


def row(result: dict[str, Any]) -> dict[str, Any]:
    """A row without what depends on the machine."""
    found = {key: result[key] for key in result if key not in LEFT_OUT}
    text = json.dumps(named(result["config"]), sort_keys=True)
    found["config_sha256"] = hashlib.sha256(text.encode()).hexdigest()
    found["data_sha256"] = {
        named(file): sha for file, sha in result.get("inputs", {}).items()
    }
    found["processor"] = processor()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.strip().partition("\n")[0])
    parser.add_argument("runs", type=Path, help="the folder of the runs of a table")
    for file in sorted(parser.parse_args().runs.glob("*/result.json")):
        print(json.dumps(row(json.loads(file.read_text("utf-8")))))


if __name__ == "__main__":
    main()
