#!/usr/bin/env python3
"""Run the benchmarks of a commit and of this checkout side by side, in turn, and print the medians and their ratio.

  make bench-beside BASE=COMMIT                          every package that has benchmarks on both sides
  make bench-beside BASE=COMMIT PACKAGES="gp/gpr embed"  these
  python scripts/bench_beside.py build COMMIT FOLDER     only build the programs, to run them on another machine
  python scripts/bench_beside.py run FOLDER              run them, in rounds, for at most --seconds

A round runs the base, then the checkout, or the other way round, package by package, so that other load and a machine
that warms up meet both alike. Only benchmarks that both sides have are run. Both run in the package's folder of this
checkout, so they read the same files. Exit status: 0 if every benchmark ran, 1 if some failed.
"""

import argparse
import collections
import contextlib
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = ["go", "test", "-c", "-trimpath", "-ldflags=-s -w"]
ROW = re.compile(r"^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.e+]+) ns/op", re.MULTILINE)
SIDES = ("base", "head")


def packages(tree):
    """Return the folders of the packages that have benchmarks."""
    grep = ["git", "grep", "-l", "^func Benchmark", "--", "*_test.go"]
    found = subprocess.run(grep, cwd=tree, stdout=subprocess.PIPE, text=True).stdout
    return sorted({str(pathlib.PurePosixPath(f).parent) for f in found.split()})


@contextlib.contextmanager
def checked_out(tree, commit):
    """Give a folder that has the commit checked out."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", folder, commit], cwd=tree, check=True)
        try:
            yield pathlib.Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], cwd=tree, check=True)


def build(o):
    """Build the test program of each package that has benchmarks on both sides."""
    with checked_out(o.tree, o.commit) as base:
        both = [p for p in packages(o.tree) if p in packages(base)]
        if unknown := set(o.packages) - set(both):
            sys.exit(f"no benchmarks on both sides: {', '.join(sorted(unknown))}; there are {', '.join(both)}")
        for package in o.packages or both:
            for side, tree in zip(SIDES, (base, o.tree)):
                program = o.folder.resolve() / package / f"{side}.test"
                program.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run([*BUILD, "-o", program, f"./{package}"], cwd=tree, check=True)


def listed(program, cwd):
    """Return the names of a program's benchmarks."""
    said = subprocess.run([program, "-test.list", "^Benchmark"], cwd=cwd, check=True, stdout=subprocess.PIPE, text=True)
    return set(re.findall(r"^Benchmark\w+$", said.stdout, re.MULTILINE))


class Package:
    """A package's two programs and what they have measured so far."""

    def __init__(self, folder, name, tree):
        self.name, self.cwd = name, tree / name
        self.programs = {side: folder / name / f"{side}.test" for side in SIDES}
        self.benchmarks = sorted(set.intersection(*(listed(p, self.cwd) for p in self.programs.values())))
        self.nanoseconds = collections.defaultdict(lambda: {side: [] for side in SIDES})

    def run(self, side, o):
        """Run the benchmarks of a side once; return whether they all passed."""
        chosen = "^(" + "|".join(self.benchmarks) + ")$"
        options = {"run": "^$", "bench": chosen, "benchtime": o.benchtime, "timeout": o.timeout}
        words = [f"-test.{name}={value}" for name, value in options.items()]
        done = subprocess.run([self.programs[side], *words], cwd=self.cwd, capture_output=True, text=True)
        for name, figure in ROW.findall(done.stdout):
            self.nanoseconds[name][side].append(float(figure))
        if done.returncode:
            print(f"{self.name}, {side}: exit status {done.returncode}\n{done.stdout}{done.stderr}", file=sys.stderr)
        return done.returncode == 0

    def rows(self):
        """Yield name, medians and the ratio of each benchmark that both sides have measured."""
        for name, figures in self.nanoseconds.items():
            if all(figures.values()):
                base, head = (statistics.median(figures[side]) for side in SIDES)
                rounds = [h / b for b, h in zip(*(figures[side] for side in SIDES))]
                yield name, base, head, statistics.median(rounds), min(rounds), max(rounds)


def report(measured, out):
    """Print the rows, a package at a time, the slowest beside its base first."""
    print(f"{'ratio':>6} {'least':>6} {'most':>6} {'base, ns':>14} {'here, ns':>14}  (above 1: slower)", file=out)
    for package in measured:
        for name, base, head, ratio, least, most in sorted(package.rows(), key=lambda row: -row[3]):
            print(f"{ratio:6.2f} {least:6.2f} {most:6.2f} {base:14.0f} {head:14.0f}  {package.name} {name}", file=out)
    ratios = sorted(row[3] for package in measured for row in package.rows())
    if ratios:
        slower = sum(ratio > 1.1 for ratio in ratios)
        print(f"{len(ratios)} rows, median ratio {statistics.median(ratios):.3f}, {slower} above 1.1", file=out)


def run(o):
    """Run the rounds and print what they measured."""
    names = sorted(str(p.parent.relative_to(o.folder)) for p in o.folder.rglob("base.test"))
    measured = [Package(o.folder.resolve(), name, o.tree) for name in o.packages or names]
    begin, passed = time.monotonic(), True
    for number in range(o.rounds):
        for package in measured:
            for side in SIDES if number % 2 == 0 else reversed(SIDES):
                passed &= package.run(side, o)
        seconds = time.monotonic() - begin
        print(f"round {number + 1} of {o.rounds}: {seconds:.0f} s", file=sys.stderr)
        if o.seconds and seconds + seconds / (number + 1) > o.seconds:
            break
    report(measured, sys.stdout)
    sys.exit(0 if passed else 1)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tree", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    commands = parser.add_subparsers(required=True)
    builds = commands.add_parser("build", help="build the test programs of both sides")
    builds.add_argument("commit")
    builds.set_defaults(do=build)
    runs = commands.add_parser("run", help="run them in turn")
    runs.add_argument("--rounds", type=int, default=5)
    runs.add_argument("--benchtime", default="200ms", help="of each benchmark in each round, as in go test")
    runs.add_argument("--timeout", default="30m", help="of a package in a round")
    runs.add_argument("--seconds", type=float, help="begin no round that would end later")
    runs.set_defaults(do=run)
    for command in (builds, runs):
        command.add_argument("folder", type=pathlib.Path)
        command.add_argument("packages", nargs="*")
    o = parser.parse_args()
    try:
        o.do(o)
    except subprocess.CalledProcessError as e:  # it has said why
        sys.exit(f"{' '.join(map(str, e.cmd))}: exit status {e.returncode}")


if __name__ == "__main__":
    main()
