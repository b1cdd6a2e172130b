#!/usr/bin/env python3
"""Run every command of two programs on the same folder of drawn pictures, and compare all that they print and write.

  make same-output BASE=COMMIT                       the program of a commit and that of this checkout
  python scripts/same_output.py run OLD NEW FOLDER   two programs; FOLDER keeps what each has written

Each program works in a folder of its own with the same relative paths, so that standard output, messages, exit codes
and files can be compared byte for byte. Times, durations, addresses and temporary names are made equal first. A command
that differs is printed with its difference, and the files that differ are listed under the command that wrote them.
Exit status: 0 if everything is the same, 1 otherwise.
"""

import argparse
import difflib
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from bench_beside import checked_out

SEEDED = "embed train learn forget label rank eval search stats prior export".split()

# The commands, in the order in which they run: later ones read what earlier ones have written.
COMMANDS = """
--version
--help
train --help
doctor
backbones list
backbones list --json
datasets list
embed --images images/base --out base.features
embed --images images/base --out base.features
embed --images images/new --out new.features
embed --images images/nowhere --out nowhere.features
train --images images/base --out auto.model
train --images images/base --classifier plda --out base.model --json
train --features base.features --classifier ncm --out ncm.model
train --features base.features --classifier ppca --out ppca.model
train --features base.features --classifier hppca --out hppca.model
train --features base.features --classifier gptree --out gptree.model
train --features base.features --classifier lda --dkl --set classifier.dkl.epochs=2 --out dkl.model
train --list images/truth.csv --images images/photos --classifier plda --out list.model
train --images images/base
train --images images/base --features base.features --out both.model
train --images images/base --classifier nonesuch --out none.model
train --images images/photos --out unlabelled.model
train --imges images/base --out typo.model
learn base.model --images images/new --out new.model --json=learned.json
learn base.model --images images/base --out again.model
learn ncm.model --features new.features
learn hppca.model --features new.features --set classifier.hppca.refresh=true
learn gptree.model --features new.features
learn missing.model --images images/new
inspect new.model
inspect new.model --json
inspect new.model --advice
inspect new.model --card
inspect new.model --tree tree.svg
inspect hppca.model --tree tree.svg
inspect ncm.model
label new.model --images images/photos --out labels
label new.model --images images/photos --out labels
label new.model --images images/photos --out rejected --reject 0.1 --top-k 2 --format csv,jsonl,parquet --report --json
label new.model --images images/photos --out organised --organise copy --xmp
label new.model --images images/photos --out formats --format imagefolder,coco,label-studio --split 80,20
label new.model --images images/photos --out trap --format camtrap-dp --events 60 --set label.file_times=true
label new.model --images images/photos --out adapted
label new.model --images images/photos --out events --events 60
label new.model --images images/photos --out shards --shard 1/3
label new.model --features new.features --out from.features
label new.model --features new.features --out from.features --report
label ncm.model --features base.features --out ncm.labels --format jsonl
label new.model --images images/photos --out labels.csv
label new.model --images images/photos
label missing.model --images images/photos --out missing
label new.model --stdin
label new.model --stdin --out labels
embed --stdin
eval new.model --images images/photos --list images/truth.csv --reject 0.1 --json=eval.json --report=evaluated
eval new.model --images images/new
eval new.model --features base.features --json
eval ncm.model --images images/photos
rank new.model --images images/photos --out margin.csv --sheet sheet.html
rank new.model --images images/photos --by novelty --top 10 --out - --cluster-unknown groups
rank new.model --images images/base --by label-error --out wrong.csv
rank new.model --images images/photos --by entropy --top 5 --out entropy.csv
rank --first 12 --images images/photos --out first.csv
rank new.model --out nothing.csv
search --like images/photos/IMG_0001.jpg --images images/photos --out found.csv --top 5
search --images images/photos --out found.csv
search --text fox --images images/photos --out found.csv
stats collect --features base.features --out base.stats
stats collect --images images/new --out new.stats
stats merge base.stats new.stats --out all.stats
train --stats all.stats --classifier plda --out stats.model
learn ncm.model --stats new.stats
prior --features base.features --out base.prior
train --features new.features --prior base.prior --classifier plda --out prior.model
export new.model --onnx head.onnx
export new.model --onnx whole.onnx --with-backbone
forget new.model --class fish --out less.model
forget new.model --class fish --class flowers --keep-previous
forget new.model --class nonesuch
forget base.model --samples samples.txt --images images
forget base.model --class coins --approximate --out rough.model
forget base.model
SERVE taught.model images/photos
inspect taught.model
label taught.model --images images/photos --out taught
label taught.model --images images/photos --out decided --only decided --format csv,imagefolder
eval taught.model --images images/photos --list images/truth.csv
rank taught.model --images images/photos --out taught.csv
learn taught.model --images images/new
learn taught.model --images images/base --prefer decisions
train --images images/base --classifier ncm --out taught.model
train --images images/base --out taught.model --prefer list
SERVE other.model images/photos
learn taught.model --from other.model
forget taught.model --class fish
inspect taught.model
fscil --help
experiment --help
setup --help
start --help
serve --help
""".strip().splitlines()

# What a person decides about the first photos of a folder, in their order.
DECISIONS = [
    {"do": "label", "class": "house"},
    {"do": "label", "class": "coins"},
    {"do": "label", "class": "fish"},
    {"do": "label", "class": "fish"},
    {"do": "ignore"},
    {"do": "several", "labels": ["house", "coins"]},
    {"do": "label", "class": "coins"},
]

# What may differ, and what takes its place.
EQUAL = [
    (re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"), b"TIME"),
    (re.compile(rb"\d{4}-\d\d-\d\d"), b"DATE"),
    (re.compile(rb'"(seconds|elapsed|images_per_second|created|elapsed_seconds|per_second)": *[\d.e+-]+'), rb'"\1": 0'),
    (re.compile(rb"\bin \d+(\.\d+)? ?m?s\b"), b"in 0 s"),
    (re.compile(rb"127\.0\.0\.1:\d+"), b"127.0.0.1:0"),
    (re.compile(rb"\.pipeline-\d+"), b".pipeline-0"),
]

# Files that are caches, locks or keep times that the file format cannot leave out.
SKIPPED = re.compile(r"(^|/)(cache/|home/|\.lock$|.*\.lock$)")


def equal(data, folder):
    """Make equal in bytes what may differ between two runs."""
    data = data.replace(str(folder).encode(), b"FOLDER")
    for pattern, other in EQUAL:
        data = pattern.sub(other, data)
    return data


class Side:
    """A program with a folder of its own."""

    def __init__(self, program, folder):
        self.program, self.folder, self.known = program.resolve(), folder.resolve(), {}
        home = self.folder / "home"
        home.mkdir()
        first = min(os.listdir(folder / "images/base/coins"))
        (self.folder / "samples.txt").write_text(f"base/coins/{first}\n")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("PIPELINE_")}
        self.env |= {"PIPELINE_CACHE": "cache", "TZ": "UTC", "LANG": "C.UTF-8"}
        self.files()

    def run(self, line):
        """Run a command line and return what it printed and its exit code."""
        words = [str(self.program), *shlex.split(line)]
        if words[1] in SEEDED:
            words += ["--seed", "1"]
        asked = b'IMG_0002.jpg\n{"path":"IMG_0003.jpg","id":7}\nnone.jpg\n' if "--stdin" in words else b""
        if "--stdin" in words:
            words += ["--images", "images/photos"]
        done = subprocess.run(words, cwd=self.folder, env=self.env, input=asked, capture_output=True)
        return {"stdout": done.stdout, "stderr": done.stderr, "exit code": str(done.returncode).encode()}

    def serve(self, line):
        """Teach a model over HTTP: name some photos, undo, set one aside, end the server."""
        model, images = shlex.split(line)
        words = [str(self.program), "serve", model, "--images", images, "--addr", "127.0.0.1:0"]
        server = subprocess.Popen(words, cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        page = server.stdout.readline()
        address = page.decode().split()[1]
        while self.reading(json.loads(self.get(address, "v1/status"))["images"]):
            time.sleep(0.05)
        said = [
            self.decide(address, do, photo)
            for do, photo in zip(DECISIONS, sorted((self.folder / images).glob("*.jpg")), strict=False)
        ]
        server.send_signal(signal.SIGINT)
        out, err = server.communicate(timeout=300)
        code = str(server.returncode).encode()
        return {"stdout": page + out, "stderr": err, "exit code": code, "answers": b"\n".join(said)}

    @staticmethod
    def reading(photos):
        """Report whether a server is still reading its photos."""
        return photos["scanning"] or photos["found"] == 0 or photos["embedded"] + photos["failed"] < photos["found"]

    def decide(self, address, do, photo):
        """Decide about a photo, which is known by its content, and return the step that the answer says was made.

        The status beside it depends on how far fitting is.
        """
        body = do | {"images": [hashlib.sha256(photo.read_bytes()).hexdigest()]}
        answer = json.loads(self.post(address, "v1/decisions", body))
        return json.dumps(answer.get("step", answer)).encode()

    @staticmethod
    def get(address, route):
        with urllib.request.urlopen(address + route) as answer:
            return answer.read()

    @staticmethod
    def post(address, route, body):
        kind = {"Content-Type": "application/json"}
        request = urllib.request.Request(address + route, json.dumps(body).encode(), kind)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.read()
        except urllib.error.HTTPError as err:
            return err.read()

    def files(self):
        """Return the files that have changed since the last call."""
        now, changed = {}, {}
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if SKIPPED.search(name) or not path.is_file():
                continue
            stat = path.stat()
            now[name] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            if self.known.get(name) != now[name]:
                changed[name] = path
        changed |= {name: None for name in self.known if name not in now}
        self.known = now
        return changed


def differences(label, a, b):
    """Yield the lines in which two texts differ."""
    a, b = (text.decode("utf-8", "replace").splitlines() for text in (a, b))
    yield from list(difflib.unified_diff(a, b, f"{label}, old", f"{label}, new", lineterm="", n=0))[:40]


def compare(line, old, new):
    """Run a command line on both sides and return in what they differ."""
    results = [s.serve(line.removeprefix("SERVE ")) if line.startswith("SERVE ") else s.run(line) for s in (old, new)]
    found = []
    for part in results[0]:
        a, b = (equal(result[part], side.folder) for result, side in zip(results, (old, new)))
        if a != b:
            found += differences(part, a, b)
    changed = [side.files() for side in (old, new)]
    for name in sorted(changed[0].keys() | changed[1].keys()):
        pair = [side.get(name) for side in changed]
        contents = [equal(p.read_bytes(), s.folder) if p else b"" for p, s in zip(pair, (old, new))]
        if contents[0] != contents[1]:
            sizes = " and ".join(str(len(c)) for c in contents)
            found.append(f"file {name}: {sizes} bytes")
            if all(c.isascii() for c in contents):
                found += differences(name, *contents)
    return found


def run(o):
    """Run all commands with both programs, and print in what they differ."""
    o.folder.mkdir(parents=True)
    drawn = o.folder / "drawn"
    subprocess.run([o.old, "demo", "--out", drawn], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    sides = []
    for name, program in (("old", o.old), ("new", o.new)):
        shutil.copytree(drawn / "images", o.folder / name / "images")
        sides.append(Side(program, o.folder / name))
    different = 0
    for line in COMMANDS:
        if found := compare(line, *sides):
            different += 1
            print(f"\npipeline {line}\n  " + "\n  ".join(found), flush=True)
    print(f"{len(COMMANDS)} commands, {len(COMMANDS) - different} the same, {different} different")
    return different > 0


def beside(o):
    """Build the program of a commit and that of this checkout, and run them."""
    tree = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        build = ["go", "build", "-trimpath", "-o"]
        with checked_out(tree, o.commit) as base:
            subprocess.run([*build, folder / "old", "./cmd/pipeline"], cwd=base, check=True)
        subprocess.run([*build, folder / "new", "./cmd/pipeline"], cwd=tree, check=True)
        o.old, o.new, o.folder = folder / "old", folder / "new", folder / "runs"
        return run(o)


def main():
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    p = commands.add_parser("beside")
    p.add_argument("commit")
    p.set_defaults(do=beside)
    p = commands.add_parser("run")
    for name in ("old", "new", "folder"):
        p.add_argument(name, type=pathlib.Path)
    p.set_defaults(do=run)
    o = parser.parse_args()
    sys.exit(o.do(o))


if __name__ == "__main__":
    main()
