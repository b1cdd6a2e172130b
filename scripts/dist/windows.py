"""Compares pipeline.exe under Wine with a build for Linux, in the current folder.

usage: windows.py WINE PIPELINE.EXE LINUX HELPERS

HELPERS is a folder with the programs of scripts/dist/windows.
"""

import getpass
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request

from beside import PARTIAL, compare, labels

WINE, EXE, LINUX, HELPERS = sys.argv[1:]
FAILED, INTERRUPTED = 1, 130  # exit codes
PHOTOS = "demo/images/photos"
ROUNDS = 6
CACHE = os.path.join(os.environ["WINEPREFIX"], "drive_c/users", getpass.getuser(), "AppData/Local/pipeline")


def run(*args, program=(WINE, EXE), want=0):
    """Runs a command and returns what it prints."""
    began = time.monotonic()
    done = subprocess.run([*program, *args], capture_output=True, text=True, timeout=600)
    print(f"{time.monotonic() - began:6.1f} s  {os.path.basename(program[-1])} {' '.join(args)}", flush=True)
    if done.returncode != want:
        sys.exit(f"exit code {done.returncode}, not {want}:\n{done.stdout}{done.stderr}")
    assert "DXGI" not in done.stderr, f"a library speaks for itself:\n{done.stderr}"
    return done.stdout + done.stderr


def folders(job):
    """Returns the photos in the class folders of a job."""
    top = f"{job}/by-class"
    return sorted(os.path.relpath(os.path.join(at, name), top) for at, _, names in os.walk(top) for name in names)


def demos():
    """Runs the demo on both systems, on Linux too without what was embedded before."""
    run("demo", "--out", "demo")
    run("demo", "--out", "linux-demo", "--cache", "linux-cache", program=(LINUX,))
    compare("demo/labels", "linux-demo/labels", 1e-5)


def commands():
    """Runs the same commands on both systems."""
    for name, program in ("windows", (WINE, EXE)), ("linux", (LINUX,)):
        model, label = f"{name}.model", [f"{name}.model", "--images", PHOTOS]
        run("train", "--images", "demo/images/base", "--out", model, program=program)
        run("learn", model, "--images", "demo/images/new", program=program)
        labels = [*label, "--out", f"{name}-labels", "--reject", "0.1", "--organise", "link"]
        run("label", *labels, program=program, want=PARTIAL)
        run("label", *labels, program=program, want=PARTIAL)  # replaces the folders
        run("rank", *label, "--out", f"{name}.csv", program=program, want=PARTIAL)
    compare("windows-labels", "linux-labels", 1e-5)
    assert folders("windows-labels") == folders("linux-labels"), "other class folders"
    run("embed", "--images", PHOTOS, "--out", "features", want=PARTIAL)
    run("embed", "--images", PHOTOS, "--out", "features", want=PARTIAL)
    run("forget", "windows.model", "--class", "fish")


def names():
    """Tries names that Windows treats otherwise, and others that it must not."""
    deep = os.path.join("deep", *["a folder with a long name of forty letters"] * 6)
    photos = os.listdir("demo/images/new/fire")
    for folder in (deep, "bücher 写真 🐟"):
        os.makedirs(f"named/{folder}")
        shutil.copy(f"demo/images/new/fire/{photos[0]}", f"named/{folder}/ünï.jpg")
    run("label", "windows.model", "--images", "named", "--out", "named-labels", "--organise", "copy")
    here = "Z:" + os.getcwd().replace("/", "\\")
    run("label", here + "\\windows.model", "--images", here + "\\named", "--out", here + "\\drive-labels")
    share = "\\\\server\\share\\"  # Wine looks for it in the prefix
    os.makedirs(os.path.join(os.environ["WINEPREFIX"], "dosdevices/unc/server"))
    os.symlink(os.getcwd(), os.path.join(os.environ["WINEPREFIX"], "dosdevices/unc/server/share"))
    run("label", share + "windows.model", "--images", share + "named", "--out", share + "share-labels")
    assert list(labels("named-labels")) == list(labels("drive-labels")) == list(labels("share-labels")) == sorted(
        f"{folder}/ünï.jpg" for folder in (deep, "bücher 写真 🐟")
    ), labels("named-labels")


def start(*args):
    """Starts a command; the caller ends it."""
    return subprocess.Popen([WINE, EXE, *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def holding(share, file):
    """Starts another program that holds a file; it ends with its standard input."""
    held = subprocess.Popen([WINE, f"{HELPERS}/hold.exe", share, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert held.stdout.readline().strip() == b"held", file
    return held


def content(file):
    """Reads a file."""
    with open(file, "rb") as opened:
        return opened.read()


def held():
    """Has other programs hold files: a run says so, and loses nothing; then it goes on."""
    label = ["label", "held.model", "--images", "held", "--out", "held-labels"]
    learn = ["learn", "held.model", "--images", "demo/images/new"]
    shutil.copy("windows.model", "held.model")
    shutil.copytree("demo/images/new/fire", "held")
    run(*label)
    for share, file, command, said in (
        ("none", "held.model", label, "another program has it open"),
        ("read", "held.model", learn, "open in another program"),
        ("read", "held-labels/labels.csv", label, "open in another program"),
    ):
        before, other = content(file), holding(share, file)
        text = run(*command, want=FAILED)
        other.communicate()
        assert said in text, text
        assert content(file) == before, f"{file} is another one"
        run(*command)
    other = holding("none", glob.glob("held/*.jpg")[0])
    shutil.rmtree(CACHE)
    run(*label, want=PARTIAL)
    other.communicate()
    assert b"another program has it open" in content("held-labels/errors.csv"), content("held-labels/errors.csv")
    run(*label)
    left = temporary()
    assert not left, f"left behind: {left}"


def temporary(folder="."):
    """Returns the temporary files in a folder; glob would follow the links of Wine's drives."""
    return [name for _, folders, files in os.walk(folder) for name in folders + files if ".tmp-pipeline-" in name]


def ended():
    """Presses Ctrl-C, and closes the window, while a command writes: it ends in good order."""
    label = ["label", "linux.model", "--images", PHOTOS, "--organise", "copy", "--out", "ended"]
    for event, name in ("0", "Ctrl-C"), ("2", "closing the window"):
        shutil.rmtree(CACHE, ignore_errors=True)
        process = subprocess.Popen([WINE, f"{HELPERS}/console.exe", event, EXE, *label], stdin=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while not temporary("ended"):
            assert process.poll() is None and time.monotonic() < deadline, "nothing was being written"
            time.sleep(0.05)
        began = time.monotonic()
        process.communicate(b"\n", timeout=60)
        print(f"{time.monotonic() - began:6.1f} s  {name}: exit code {process.returncode}", flush=True)
        assert process.returncode == INTERRUPTED and not temporary("ended"), temporary("ended")
    run(*label, want=PARTIAL)
    compare("ended", "whole", 1e-5)


def killed():
    """Kills commands while they write; then they give what they would have given."""
    label = ["label", "linux.model", "--images", PHOTOS, "--organise", "copy", "--out"]
    run(*label, "whole", want=PARTIAL)
    shutil.rmtree(CACHE)
    for n in range(ROUNDS):
        shutil.copy("linux.model", "taught.model")
        for command in [*label, "killed"], ["learn", "taught.model", "--images", "named"]:
            process = start(*command)
            time.sleep(0.3 * (n + 1))
            process.kill()
            process.wait()
        run("inspect", "taught.model")
    run(*label, "killed", want=PARTIAL)
    compare("killed", "whole", 1e-5)
    assert folders("killed") == folders("whole"), "the class folders of a killed run are others"
    left = [name for name in os.listdir("killed") if ".tmp-pipeline-" in name or ".replaced-" in name]
    print(f"          {2 * ROUNDS} commands were killed; left behind: {left}")


def first_photo(images):
    """Return the first photo that a server shows, which reads the folder after it began to answer."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        with urllib.request.urlopen(images, timeout=60) as answer:
            if photos := json.load(answer)["images"]:
                return photos[0]
        time.sleep(0.2)
    sys.exit("the server shows no photo")


def served():
    """Asks a server, decides, kills it as the task manager does, and finds the decision again."""
    for killing in True, False:
        server = start("serve", "linux.model", "--images", PHOTOS, "--addr", "127.0.0.1:0")
        for line in server.stdout:
            if address := re.search(r"(http://[^/\s]+/)\S*", line):
                break
        else:
            sys.exit("the server gave no address")
        with urllib.request.urlopen(address[0], timeout=60) as page:
            assert b"<html" in page.read().lower()
        photo = first_photo(address[1] + "v1/images")
        if killing:
            decision = {"do": "label", "class": "Fox", "images": [photo["id"]]}
            body = urllib.request.Request(
                address[1] + "v1/decisions", json.dumps(decision).encode(), {"Content-Type": "application/json"}
            )
            urllib.request.urlopen(body, timeout=60).close()
            subprocess.run([WINE, "taskkill", "/F", "/IM", "pipeline.exe"], check=True)
        else:
            with open("linux.model.journal", encoding="utf-8") as journal:
                assert '"Fox"' in journal.read(), "the decision is lost"
            server.kill()
        server.wait()  # not for its output: processes of Wine that it started keep that open
    print("          the server answered, was killed, and still has the decision")


decoders = {re.search("pixels [0-9a-f]+", run("doctor", program=program))[0] for program in ((WINE, EXE), (LINUX,))}
assert len(decoders) == 1, f"not the same JPEG decoder: {decoders}; run pipeline setup"
demos()
commands()
names()
held()
killed()
ended()
served()
