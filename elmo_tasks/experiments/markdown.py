"""Tables in Markdown."""


def aligned(rows: list[list[str]]) -> list[str]:
    """A Markdown table, with columns of one width; the first row is the header."""
    cells = []
    for row in rows:
        cells.append([text.replace("|", "\\|") for text in row])
    widths = []
    for column in zip(*cells, strict=True):
        widths.append(max(map(len, column)))
    lines = []
    for row in cells:
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        lines.append(f"| {' | '.join(padded)} |")
    lines.insert(1, f"| {' | '.join(['-' * max(width, 3) for width in widths])} |")
    return lines
