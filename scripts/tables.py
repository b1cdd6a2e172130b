#!/usr/bin/env python3
"""Make the tables of the pages again, from the commands in tables.toml.

  make tables DATA=FOLDER                       all that DATA has the data for
  make tables DATA=FOLDER TABLES="words new"    these, and the features that they need
  python scripts/tables.py --list               what there is, and how long it took
  python scripts/tables.py --keep wrong         put what it found into docs/results/data

Each table has a folder in --out with the output of its commands (out.txt), what it said (log.txt), and, once it is
whole, done.json: the commands, the program's version, the day and the seconds. A table with a done.json is not made
again; remove its folder for that. A run that was stopped goes on where it stopped, as its command does. Of tables whose
figures are kept in docs/results/data it says which moved.

FOLDER has any of mini_imagenet, index_lists/mini_imagenet, caltech101_10, clip_vitb32, clip_vitb32_text (features and
texts of CLIP), vit_tiny.onnx, mobilenetv2.onnx, and shelves, clothing and signs (features of ViT-Tiny, those of other
networks in mobilenetv2/ and efficientnet_lite0/; docs/results/promises.md).
Tables beside other programs need the Python packages of those: PYTHON=FILE names a Python that has them.
Exit status: 0 if all went well, 1 if a command failed, 3 if data were missing for some.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time
import tomllib

import kept

ROWS = pathlib.Path(__file__).with_suffix(".toml")
KEPT = ROWS.parent.parent / "docs" / "results" / "data"


@dataclasses.dataclass
class Table:
    """A row of tables.toml."""

    name: str
    run: list[str]
    page: str = ""
    hours: float = 0
    keep: dict[str, list[str] | dict] = dataclasses.field(default_factory=dict)  # file of KEPT: files of the run

    def named(self, folder):
        """Return what the commands name in {folder}, each once."""
        return list(dict.fromkeys(re.findall(rf"\{{{folder}\}}/([^\s,\"]+)", " ".join(self.run))))

    def needs(self):
        """Return the names of the tables whose features it reads."""
        return [n for n in self.named("features") if n != self.name]

    def missing(self, data):
        """Return what it names in the data folder that is not there."""
        return [p for p in self.named("data") if data is None or not (data / p).exists()]

    def commands(self, o):
        """Return the words of each command."""
        places = {"data": o.data, "features": o.out / "features", "out": o.out / self.name, "pipeline": o.pipeline}
        programs = {"pipeline": str(o.pipeline), "python": sys.executable}
        for line in self.run:
            program, *words = shlex.split(line)
            yield [programs[program], *(w.format(**places) for w in words)]


def read():
    """Return the tables by name, in their order."""
    with open(ROWS, "rb") as f:
        rows = tomllib.load(f)["table"]
    for row in rows:
        row["run"] = [row["run"]] if isinstance(row["run"], str) else row["run"]
    return {row["name"]: Table(**row) for row in rows}


def chosen(tables, names):
    """Return the named tables, or all, each after those that it needs."""
    order = {}

    def add(name):
        for needed in tables[name].needs():
            add(needed)
        order[name] = tables[name]

    for name in names or tables:
        if name not in tables:
            sys.exit(f"tables: no table {name!r}; --list names them")
        add(name)
    return list(order.values())


def made(o, table):
    """Return what done.json says of a table, None if it has not been made."""
    try:
        return json.loads((o.out / table.name / "done.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def make(o, table):
    """Run the commands of a table and return whether all went well."""
    folder, begun = o.out / table.name, time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)
    (o.out / "features").mkdir(exist_ok=True)
    with open(folder / "out.txt", "wb") as out, open(folder / "log.txt", "ab") as log:
        for command in table.commands(o):
            print(f"{table.name}: {shlex.join(command)}", flush=True)
            code = subprocess.run(command, stdout=out, stderr=log, check=False).returncode
            if code != 0:
                print(f"{table.name}: exit status {code}; see {folder / 'log.txt'}", flush=True)
                return False
    version = subprocess.run([o.pipeline, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    done = {"commands": table.run, "version": version, "day": datetime.date.today().isoformat(),
            "seconds": round(time.monotonic() - begun)}
    partial = folder / "done.json.partial"
    partial.write_text(json.dumps(done, indent=1) + "\n", encoding="utf-8")
    partial.replace(folder / "done.json")
    print(f"{table.name}: {took(done['seconds'])}", flush=True)
    return True


def compare(o, table):
    """Say how what a table's runs found differs from what is kept, and with --keep, keep it."""
    if table.keep and made(o, table)["commands"] != table.run:
        print(f"{table.name}: made by other commands than it has now; remove {o.out / table.name} to make it again")
        return
    for name, sources in table.keep.items():
        path = o.kept / name
        try:
            found = kept.table_of(o.out / table.name, sources)
        except (OSError, ValueError) as err:
            print(f"{name}: {err}")
            continue
        print(f"{name}: {kept.moved(kept.rows_of(path), found) if path.exists() else 'not kept yet'}")
        if o.keep:
            kept.write(path, found)


def took(seconds):
    """Return a duration for people."""
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{max(seconds, 60) / 60:.0f} min"


def show(o, tables):
    """Print a line for each table."""
    for t in tables:
        done = made(o, t)
        if done:
            state = f"made {done['day']} in {took(done['seconds'])}"
        else:
            state = f"about {took(3600 * t.hours)}" if t.hours else "not timed"
        print(f"{t.name:18} {t.page or 'features':28} {state}")


def run(o, tables):
    """Make the tables that are not there yet, and return the exit status."""
    failed, absent = [], []
    for t in tables:
        missing = t.missing(o.data) + [n for n in t.needs() if n in failed + absent]
        if made(o, t):
            continue
        if missing:
            print(f"{t.name}: left out, needs {', '.join(missing)}", flush=True)
            absent.append(t.name)
        elif not make(o, t):
            failed.append(t.name)
    for t in tables:
        if made(o, t):
            compare(o, t)
    print(f"{sum(made(o, t) is not None for t in tables)} of {len(tables)} tables are in {o.out}")
    return 1 if failed else 3 if absent else 0


def main(argv=None):
    """Run the command line."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", type=pathlib.Path, help="folder of the data")
    p.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/tables"))
    p.add_argument("--pipeline", type=pathlib.Path, default=pathlib.Path("bin/pipeline"))
    p.add_argument("--keep", action="store_true", help="put what was found into --kept")
    p.add_argument("--kept", type=pathlib.Path, default=KEPT, help="folder of the figures of the pages (%(default)s)")
    p.add_argument("--list", action="store_true", help="only name the tables")
    p.add_argument("names", nargs="*", metavar="TABLE", help="tables to make (default: all)")
    o = p.parse_args(argv)
    tables = chosen(read(), o.names)
    if o.list:
        show(o, tables)
        return 0
    try:
        return run(o, tables)
    except KeyboardInterrupt:
        print("tables: stopped; the same command goes on")
        return 130


if __name__ == "__main__":
    sys.exit(main())
