"""What embed.py, train.py and label.py share: the pipeline binary as the worker
of Spark tasks.

A task starts the binary once, sends it one JSON line per image and reads one
JSON line back. The binary limits the requests in progress, so nothing piles up
on either side. A task succeeds only if every image was answered; otherwise it
fails and Spark runs it again, possibly elsewhere. Spark commits the output of a
task once, so an executor that dies neither loses nor duplicates rows.
"""

import argparse
import json
import os
import re
import stat
import subprocess
import tempfile
import threading
import unicodedata

# Exit code 3 means that some images failed; each still has an answer.
DONE = (0, 3)

# What follows, down to list_images, is how the binary finds photos (dataset/kind.go,
# systemfolder.go and scan.go). A test of package dataset compares the two.
IMAGES = """.jpg .jpeg .jpe .jfif .jif .pjpeg .pjp .mpo .jps .jpg_large .png .apng .gif .bmp .dib .tif .tiff .webp
    .heic .heif .hif .heics .heifs .avif .avifs .jxl""".split()
RAWS = """.cr2 .cr3 .crw .nef .nrw .arw .sr2 .srf .dng .orf .rw2 .rwl .raf .pef .ptx .srw .3fr .fff .iiq .dcr .dcs
    .kdc .erf .mef .mos .mrw .x3f .gpr""".split()
DEVELOPED = ".jpg .JPG .jpeg .JPEG .heic .HEIC .hif .HIF".split()
OTHERS = """.mp4 .mov .avi .mkv .webm .m4v .mpg .mpeg .wmv .flv .3gp .mts .m2ts .ogv
    .mp3 .wav .m4a .aac .flac .ogg .opus .wma
    .xmp .json .txt .xml .csv .aae .thm .yaml .yml .md
    .part .partial .crdownload .download .opdownload .filepart .tmp .temp
    .bak .old .orig
    .exe .dll .so .app .bin .iso .dmg .apk .db .lnk .url .html .htm .svg .psd .psb .ai .eps .pdf .doc .docx .xls
    .xlsx .ppt .pptx .odt .ods .py .sh .js .npy .npz .onnx .parquet
    .zip .tar .gz .tgz .bz2 .xz .7z .rar .zst""".split()
SYSTEM_FILES = ("thumbs.db", "ehthumbs.db", "desktop.ini")
SYSTEM_FOLDERS = ("$recycle.bin", "#recycle", "@recycle", "@recently-snapshot", "#snapshot", "network trash folder",
                  "~snapshot", "recycle bin", "temporary items", "lost+found", "system volume information", "_gsdata_",
                  "@eadir", "@tmp", "@transcode", "@__thumb", "@synoresource", "@synofinder-log", "@sharebin",
                  "thumbnails", "_thumbnails", "thumbs", "_thumbs", "_thumb", "ipod photo cache", "[originals]",
                  "_svn", "_darcs", "__macosx", "__pycache__", "node_modules")
SYSTEM_FOLDERS_AS_WRITTEN = ("RECYCLER", "RECYCLED", "CVS", "SCCS", "CaptureOne", "NKSC_PARAM")
LIBRARIES = (".photoslibrary", ".photolibrary", ".migratedphotolibrary", ".aplibrary", ".lrdata", ".lrcat-data",
             ".lrlibrary")
CONFLICTS = ("conflicted copy", "case conflict", ".sync-conflict-", "(sfconflict ", "[conflicted]")
SUMMARY = {"labelled": int, "files": list, "settings": dict, "hashes": dict}  # of a run of label
HEIF_BRANDS = [b"crx ", *b"heic heix heim heis hevc hevx hevm hevs mif1 mif2 msf1 avif avis".split()]  # and CR3
BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*", b"\xff\x0a",
              b"\x00\x00\x00\x0cJXL ", b"FUJIFILMCCD-RAW", b"IIRO", b"IIRS", b"MMOR", b"IIU\x00")


def escape(name):
    """Escapes an os.fsdecode'd name as the binary does: %XX for bytes that are
    not UTF-8, for control characters other than a tab and a line feed, and for a %
    that would be read as one of these."""
    out = []
    for i, c in enumerate(name):
        code = ord(c)
        rest = name[i + 1 : i + 3]
        if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
            out.append("%%%02X" % (code - 0xDC00))
        elif is_control(code):
            out.extend("%%%02X" % byte for byte in c.encode())
        elif c == "%" and len(rest) == 2 and all(h in "0123456789ABCDEF" for h in rest) and (
            rest == "25" or int(rest, 16) >= 0x80 or is_control(int(rest, 16))
        ):
            out.append("%25")
        else:
            out.append(c)
    return "".join(out)


def is_control(code):
    return (code < 0x20 or 0x7F <= code < 0xA0) and chr(code) not in "\t\n"


def extension(name):
    """Returns the end of a lower-case name from its last dot, "" if it has none."""
    return name[name.rindex("."):] if "." in name else ""


def is_hidden(name):
    return name.startswith(".") or name in ("@eaDir", "__MACOSX")


def is_system_folder(name):
    """Reports whether a folder is one that a system or a tool leaves among photos."""
    lower = name.strip().lower()
    _, conflict, after = lower.partition("_conflict-")
    return (name in SYSTEM_FOLDERS_AS_WRITTEN or lower in SYSTEM_FOLDERS or extension(lower) in LIBRARIES
            or re.fullmatch(r"found\.[0-9]{3}", lower) is not None or any(mark in lower for mark in CONFLICTS)
            or (conflict != "" and "0" <= after[:1] <= "9"))


def begins_like_an_image(file):
    """Looks at the first bytes of a file whose name does not say what it is."""
    with open(file, "rb") as f:
        head = f.read(64)
    if head.startswith(BEGINNINGS):
        return True
    if len(head) < 12:
        return False
    if head[:4] == b"RIFF":
        return head[8:12] == b"WEBP"
    if head[4:8] == b"ftyp":
        size = int.from_bytes(head[:4], "big")
        end = min(len(head), size) if size >= 16 else len(head)
        return any(head[at : at + 4] in HEIF_BRANDS for at in range(8, end - 3, 4))
    return head[:2] == b"BM" and head[6:10] == b"\x00\x00\x00\x00"


def is_developed(raw):
    """Reports whether a raw photo has a picture of the same name in its folder, as cameras write both."""
    stem = raw[: raw.rindex(".")]
    return any(os.path.isfile(stem + suffix) for suffix in DEVELOPED)


def is_image(folder, name):
    """Reports whether a regular file is a photo, or what may be one and cannot be read."""
    lower = name.lower()
    if (lower in SYSTEM_FILES or name == "Icon\r" or name.startswith(("SYNOFILE_THUMB_", "SYNOPHOTO_THUMB_"))
            or lower.endswith("~") or (lower.endswith("_original") and "." in lower)):
        return False
    if extension(lower) in IMAGES:
        return True
    if extension(lower) in RAWS:
        return not is_developed(os.path.join(folder, name))
    if extension(lower) in OTHERS:
        return False
    try:
        return begins_like_an_image(os.path.join(folder, name))
    except OSError:
        return False


def results_of(folder):
    """Returns the names in a folder that runs of label have written there."""
    try:
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as f:
            summary = json.load(f)
        if not all(type(summary.get(key)) is kind for key, kind in SUMMARY.items()):
            return set()
        return {name.partition("/")[0] for name in summary["files"]} | {"by-class", "imagefolder"}
    except (OSError, ValueError, AttributeError):
        return set()


def list_images(root):
    """Returns the images below root, escaped, sorted by the bytes of their paths. Links are followed:
    a linked folder is entered once, after all real folders."""
    found, visited, linked = [], set(), [(root, frozenset())]

    def enter(folder, above):
        info = os.stat(folder)
        identity = (info.st_dev, info.st_ino)
        if identity in above or identity in visited:
            return
        visited.add(identity)
        try:
            entries = sorted(os.scandir(folder), key=lambda e: os.fsencode(e.name))
        except OSError:
            return
        results = results_of(folder)
        for entry in entries:
            if entry.name in results:
                continue
            if is_hidden(entry.name) or (entry.is_dir(follow_symlinks=False) and is_system_folder(entry.name)):
                continue
            try:
                mode = entry.stat().st_mode
            except OSError:  # a broken link, or a loop
                continue
            if stat.S_ISDIR(mode) and entry.is_symlink():
                linked.append((entry.path, above | {identity}))
            elif stat.S_ISDIR(mode):
                enter(entry.path, above | {identity})
            elif stat.S_ISREG(mode) and is_image(folder, entry.name):
                found.append(os.path.relpath(entry.path, root))

    while linked:
        enter(*linked.pop(0))
    return [escape(name) for name in sorted(found, key=os.fsencode)]


def class_of(path):
    """Returns the class of an escaped path: its first-level folder, "" without one."""
    folder, slash, _ = path.partition("/")
    return unicodedata.normalize("NFC", folder) if slash else ""


def read_list(file):
    """Reads a file with one escaped path per line."""
    with open(file, encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines if line.strip() and not line.startswith("#")]


def arguments(description, **needs):
    """Returns a parser for the options of all jobs and the extra ones of this job."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--images", required=True, help="folder of images, at the same path on every machine")
    parser.add_argument("--list",
                        help="file with one path per line, relative to --images (default: all images of the folder)")
    parser.add_argument("--out", required=True, help=needs.pop("out"))
    parser.add_argument("--binary", default="pipeline",
                        help="the pipeline program on the executors (default: on the PATH)")
    parser.add_argument("--cache", help="cache folder on the executors (default: the user's)")
    parser.add_argument("--partitions", type=int, default=0, help="number of tasks (default: 4 per core)")
    for name, text in needs.items():
        parser.add_argument("--" + name.replace("_", "-"), help=text)
    return parser


def open_session(name):
    from pyspark.sql import SparkSession  # here, so that the rest can be used without Spark

    return SparkSession.builder.appName(name).getOrCreate()


def partitions(spark, args):
    """Returns the images as an RDD of paths; each partition is a contiguous part of
    the sorted list."""
    paths = read_list(args.list) if args.list else list_images(args.images)
    if not paths:
        raise SystemExit("no images in " + (args.list or args.images))
    n = args.partitions or 4 * spark.sparkContext.defaultParallelism
    return spark.sparkContext.parallelize(paths, min(n, len(paths)))


def command(args, spark, *words):
    """Returns a command line of the binary, with as many threads as Spark gives a
    task cores."""
    threads = spark.sparkContext.getConf().get("spark.task.cpus", "1")
    line = [args.binary, *words, "--images", os.path.abspath(args.images), "--threads", threads]
    return line + (["--cache", args.cache] if args.cache else [])


def answers(line, paths):
    """Runs the binary over paths and yields one parsed answer for each."""
    errors = tempfile.TemporaryFile("w+")
    worker = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors)
    asked = [0]

    def feed():
        try:
            for path in paths:
                asked[0] += 1
                worker.stdin.write(json.dumps({"path": path}).encode() + b"\n")
            worker.stdin.close()
        except (BrokenPipeError, ValueError):
            pass  # the worker is gone; its exit code says so below

    feeder = threading.Thread(target=feed, daemon=True)
    feeder.start()
    answered = 0
    try:
        for text in worker.stdout:
            answered += 1
            yield json.loads(text)
        feeder.join()
        code = worker.wait()
        if code not in DONE or answered != asked[0]:
            errors.seek(0)
            raise RuntimeError(
                "%s: exit code %d after %d of %d answers: %s"
                % (" ".join(line), code, answered, asked[0], errors.read()[-2000:])
            )
    finally:
        worker.kill()  # no effect if it has ended; a cancelled task leaves no process behind
        worker.wait()


def run(line, what):
    """Runs the binary; if it fails, raises an error with its output."""
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in DONE:
        raise RuntimeError("%s: exit code %d: %s" % (what, done.returncode, done.stdout[-2000:]))
