#!/usr/bin/env python3
"""Count the lines of the Go files that git knows, by folder: code, comments, blank lines, and those of tests.

  python scripts/lines.py            folders of the top level
  python scripts/lines.py --depth 2  and those in them
"""

import argparse
import collections
import pathlib
import subprocess

TESTING = "internal/testing/"


def kind(name, line):
    """Return which count a line belongs to."""
    if name.endswith("_test.go") or name.startswith(TESTING):
        return "tests"
    text = line.strip()
    return "blank" if not text else "comments" if text.startswith("//") else "code"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--depth", type=int, default=1)
    depth = p.parse_args().depth
    files = subprocess.run(["git", "ls-files", "*.go"], capture_output=True, text=True, check=True).stdout.split()
    counts, total = collections.defaultdict(collections.Counter), collections.Counter()
    for name in files:
        folder = "/".join(pathlib.PurePosixPath(name).parts[:-1][:depth]) or "."
        lines = collections.Counter(kind(name, line) for line in pathlib.Path(name).read_text().splitlines())
        counts[folder] += lines
        total += lines
    columns = ("code", "comments", "blank", "tests")
    print(f"{'folder':32}" + "".join(f"{c:>10}" for c in columns))
    for folder, c in [*sorted(counts.items()), ("all", total)]:
        print(f"{folder:32}" + "".join(f"{c[column]:>10}" for column in columns))


if __name__ == "__main__":
    main()
