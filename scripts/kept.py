"""The files of docs/results/data: read what a run wrote as one table, and say what moved."""

import csv
import io
import re

NUMBER = re.compile(r"[+−-]?\d+(?:\.\d+)?")


def rows_of(path):
    """Return the rows of a CSV file, or of the tables of a Markdown file, with the header of the first."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(text)))
    rows, header = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip().strip("*`") for cell in line.strip()[1:-1].split("|")]
        if header is None:
            header = cells
            rows += [] if rows else [header]
        elif not re.fullmatch(r"[-:| ]+", line):
            rows.append(cells)
    return rows


def joined(paths):
    """Return the rows of several files as one table, without published ones."""
    table = []
    for path in paths:
        rows = rows_of(path)
        if not rows:
            raise ValueError(f"{path} has no table")
        if table and len(rows[0]) != len(table[0]):
            raise ValueError(f"{path} has {len(rows[0])} columns, the files before it {len(table[0])}")
        table += rows[1:] if table else rows
    if "source" in table[0]:
        at = table[0].index("source")
        table = [table[0], *(row for row in table[1:] if row[at].startswith(("this run", "these ")))]
    return [row for row in table if not row[0].endswith(" (paper)")]


def figures(cell):
    """Return the number of a cell and its error, None for one that there is not."""
    found = [float(text.replace("−", "-")) for text in NUMBER.findall(cell)]
    return found[0] if found else None, found[1] if len(found) > 1 and "±" in cell else None


def moved(old, new):
    """Say in a few words how a table differs from the one that is kept."""
    if old == new:
        return "the same"
    if [len(row) for row in old] != [len(row) for row in new]:
        return "other rows or columns"
    n, beyond, most = 0, 0, (0.0, "")
    for before, now in zip(old[1:], new[1:], strict=True):
        for column, a, b in zip(new[0], before, now, strict=True):
            (was, error), (value, other) = figures(a), figures(b)
            if a == b or was is None or value is None:
                continue
            n += 1
            if error is not None and other is not None:
                beyond += abs(value - was) > (error**2 + other**2) ** 0.5
            most = max(most, (abs(value - was), f"{now[0]}, {column}: {b}, was {a}"))
    if n == 0:
        return "other words, the same figures"
    return f"figures that moved: {n}, by more than their errors: {beyond}; most: {most[1]}"


def write(path, table):
    """Write a table as CSV."""
    partial = path.with_suffix(".partial")
    with open(partial, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(table)
    partial.replace(path)
