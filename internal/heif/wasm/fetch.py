#!/usr/bin/env python3
"""Take the decoders' programs from the Go modules that publish them.

    python fetch.py        # in this folder; needs Go and its module proxy

Writes heif.wasm.gz and avif.wasm.gz. README.md says what they are.
"""

import gzip
import hashlib
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent

# Since libheif 1.23, heif_image_get_plane_readonly returns nothing if it cannot
# write the stride. The shim asks so for the plane of Cr: i32.const 2 (Cr),
# i32.const 0 (null), call. The address becomes 16, below all data.
NULL, SCRATCH = b"\x28\x02\x0c\x41\x02\x41\x00\x10\xf0\x05", b"\x28\x02\x0c\x41\x02\x41\x10\x10\xf0\x05"


def module(name):
    out = subprocess.run(["go", "mod", "download", "-json", name], check=True, capture_output=True, cwd="/")
    return pathlib.Path(json.loads(out.stdout)["Dir"]) / "lib"


def check(program, sha256):
    found = hashlib.sha256(program).hexdigest()
    if found != sha256:
        raise SystemExit(f"the program has SHA-256 {found}, want {sha256}")
    return program


def write(name, program):
    (HERE / name).write_bytes(gzip.compress(program, 9, mtime=0))


def main():
    heif = (module("github.com/gen2brain/heic@v0.5.0") / "heif.wasm").read_bytes()
    check(heif, "4381c9f68501e525d880b9c1ce224805847247ee6f85cb48fce49fda7c3e70f9")
    if heif.count(NULL) != 1:
        raise SystemExit("the shim has changed")
    write("heif.wasm.gz", heif.replace(NULL, SCRATCH))
    avif = gzip.decompress((module("github.com/gen2brain/avif@v0.5.3") / "avif.wasm.gz").read_bytes())
    write("avif.wasm.gz", check(avif, "e9afe98880e495b9292238c6264cc0afaf578ade38604afa15bf234eb128beff"))


main()
