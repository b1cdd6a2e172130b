"""The files of docs/results/data: read what a run wrote as one table, and say what moved."""

import csv
import io
import json
import re
import statistics

NUMBER = re.compile(r"[+−-]?\d+(?:\.\d+)?")


def rows_of(path):
    """Return the rows of a CSV file, of the tables of a Markdown file (the header of the first), or of results.json."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return list(csv.reader(io.StringIO(text)))
    if path.suffix == ".json":
        return results(json.loads(text))
    rows, header = [], None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip().strip("*`") for cell in line.strip()[1:-1].split("|")]
        if header is None:
            header = cells
            rows += [] if rows else [header]
        elif cells != rows[0] and not re.fullmatch(r"[-:| ]+", line):
            rows.append(cells)
    return rows


def results(found):
    """Return the results of a method as one row: accuracies in per cent, and means over the sessions of NLL and ECE."""
    sessions = found["sessions"]
    accuracy = sessions[0]["accuracy"], sessions[-1]["accuracy"], found["average_accuracy"]
    means = [statistics.mean(s[key] for s in sessions) for key in ("nll", "ece")]
    return [["method", "first", "last", "mean", "NLL", "ECE"],
            [found["method"], *(f"{100 * v:.2f}" for v in accuracy), *(f"{v:.3f}" for v in means)]]


def table_of(folder, sources):
    """Return what a row of tables.toml keeps of a run: files as they are, or with figures side by side (beside)."""
    if isinstance(sources, list):
        return joined((folder / source, None) for source in sources)
    files = sources["files"]
    named = files if isinstance(files, dict) else {None: files}
    table = joined((path, name) for name, patterns in named.items() for pattern in patterns
                   for path in sorted(folder.glob(pattern)) or [folder / pattern])
    return beside(table, sources["by"], sources["across"], sources["of"]) if "by" in sources else table


def joined(files):
    """Return the rows of several files as one table, without published ones; a name comes before those of its file."""
    table = []
    for path, name in files:
        rows = rows_of(path)
        if not rows:
            raise ValueError(f"{path} has no table")
        if name is not None:
            rows = [["run", *rows[0]], *([name, *row] for row in rows[1:])]
        if table and len(rows[0]) != len(table[0]):
            raise ValueError(f"{path} has {len(rows[0])} columns, the files before it {len(table[0])}")
        table += rows[1:] if table else rows
    if "source" in table[0]:
        at = table[0].index("source")
        table = [table[0], *(row for row in table[1:] if row[at].startswith(("this run", "these ")))]
    return [row for row in table if not row[0].endswith(" (paper)")]


def beside(table, by, across, of):
    """Return a row for each value of some columns (by), with figures (of) for each value of another (across).

    Where several rows have the same place, the figure is their mean ± its standard error.
    """
    header, *rows = table
    keys, place, values = [header.index(c) for c in by], header.index(across), [header.index(c) for c in of]
    names, cells = list(dict.fromkeys(row[place] for row in rows)), {}
    for row in rows:
        at = cells.setdefault(tuple(row[k] for k in keys), {}).setdefault(row[place], [[] for _ in of])
        for found, v in zip(at, values, strict=True):
            found.append(row[v])
    out = [[*by, *(f"{name}: {c}" if len(of) > 1 else name for name in names for c in of)]]
    for key, found in cells.items():
        out.append([*key, *(mean(cell) for name in names for cell in found.get(name, [[]] * len(of)))])
    return out


def mean(cells):
    """Return the mean of some cells and its standard error, with their digits; a single one as it is."""
    if len(cells) < 2:
        return "".join(cells)
    digits, numbers = len(cells[0].partition(".")[2]), [float(c) for c in cells]
    error = statistics.stdev(numbers) / len(numbers) ** 0.5
    return f"{statistics.mean(numbers):.{digits}f} ± {error:.{digits}f}"


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
