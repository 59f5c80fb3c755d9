"""Last step: one page that needs nothing else: the table, the figures, learning curves, and every run."""

import base64
from html import escape
from typing import Any

from elmo_tasks.ablation.figures import curves, figure1, figure2
from elmo_tasks.ablation.progress import duration
from elmo_tasks.ablation.summary import Record, Summary
from elmo_tasks.ablation.table import PERCENT
from elmo_tasks.ablation.text import FAILED, MISSING, body, remarks

CSS = """
body { font: 15px/1.45 system-ui, sans-serif; color: #1b1b1b; background: #fff; margin: 2rem auto; max-width: 76rem;
  padding: 0 1.5rem; }
h1 { font-size: 1.5rem; margin-bottom: 0.3rem; }
h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 0.25rem 0.9rem 0.25rem 0; white-space: nowrap; vertical-align: top; }
thead th { border-bottom: 1px solid #888; font-weight: 600; }
tr.ours td { border-top: 1px solid #ddd; padding-top: 0.5rem; font-weight: 600; }
tr.paper td, tr.difference td { color: #555; }
td.missing { color: #8a6d00; font-weight: 400 !important; font-style: italic; }
td.failed { color: #b3261e; }
figure { margin: 1rem 0; } figcaption { color: #555; font-size: 0.9rem; max-width: 60rem; }
img { max-width: 100%; height: auto; }
.curves { display: flex; flex-wrap: wrap; gap: 1rem; }
.note { color: #555; max-width: 60rem; }
"""


def report(summary: Summary) -> str:
    """The page as HTML."""
    table = summary.table
    parts = [f"<h1>{escape(table.title)}</h1>", f'<p class="note">{escape(table.about)}</p>', _table(summary)]
    told = "".join(f"<li>{escape(remark)}</li>" for remark in remarks(summary))
    parts.append(f'<ul class="note">{told}</ul>' if told else "")
    parts += [_figure1(summary), _figure2(summary), _curves(summary), _runs(summary)]
    page = "\n".join(part for part in parts if part)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(table.title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n<style>{CSS}</style>\n</head>\n<body>\n{page}\n'
        "</body>\n</html>\n"
    )


def _table(summary: Summary) -> str:
    header, rows = body(summary)
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    lines = [f'<tr class="{row[1]}">{"".join(_cell(text) for text in row)}</tr>' for row in rows]
    note = '<p class="note">Ours: mean ± standard deviation (n−1) over n seeds.</p>'
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>{note}'
    )


def _cell(text: str) -> str:
    kind = f' class="{text}"' if text in (MISSING, FAILED) else ""
    return f"<td{kind}>{escape(text)}</td>"


def _figure1(summary: Summary) -> str:
    if summary.table.figure != "share":
        return ""
    caption = "Figure 1: scores over the share of the training data; bars: standard deviation over seeds."
    return _figure("Figure 1", figure1(summary), caption)


def _figure2(summary: Summary) -> str:
    caption = (
        "Figure 2: softmax-normalised layer weights that the models learned, means over seeds. Horizontal lines: less"
        " than 1/3; speckles: more than 2/3."
    )
    return _figure("Figure 2", figure2(summary), caption)


def _figure(heading: str, svg: str | None, caption: str) -> str:
    if svg is None:
        return ""
    return f"<h2>{heading}</h2>\n<figure>{_image(svg, heading)}<figcaption>{escape(caption)}</figcaption></figure>"


def _curves(summary: Summary) -> str:
    drawn = [
        f"<figure>{_image(svg, f'learning curves of {line}')}<figcaption>{escape(line)}</figcaption></figure>"
        for line, svg in curves(summary)
    ]
    return f'<h2>Learning curves</h2>\n<div class="curves">{"".join(drawn)}</div>' if drawn else ""


def _image(svg: str, label: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(label)}" src="data:image/svg+xml;base64,{data}">'


def _runs(summary: Summary) -> str:
    header = ("row", "seed", "scores", "best epoch", "epochs", "time", "memory", "device", "commit", "config hash")
    rows = "".join(_run(record, summary) for record in summary.all_records())
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in header)
    return (
        f'<h2>Runs</h2>\n<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _run(record: Record, summary: Summary) -> str:
    if "failed" in record:
        reason = escape(record["failed"])
        return f'<tr><td>{record["row"]}</td><td>{record["seed"]}</td><td class="failed" colspan="8">{reason}</td></tr>'
    cells = [
        record["row"],
        record["seed"],
        _scores(record, summary),
        f"{record['scores'].get('best_epoch', 0):.0f}",
        record["epochs"],
        duration(record["seconds"]),
        f"{record['peak_memory'] / 1e9:.1f} GB",
        record["device"],
        str(record["commit"])[:12],
        record["hash"],
    ]
    return f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"


def _scores(record: Record, summary: Summary) -> str:
    wanted: dict[str, Any] = {}
    for cell in summary.table.row(record["row"]).cells:
        if cell.metric in record["scores"]:
            wanted[cell.metric] = record["scores"][cell.metric] * (100 if cell.metric in PERCENT else 1)
    return ", ".join(f"{metric} {value:.2f}" for metric, value in wanted.items())
