"""Writes pins.txt: the packages of PyPI that hold the libraries of `pipeline setup`, and their files, by SHA-256.

usage: python3 internal/libraries/pins.py [FOLDER]

Change the versions here, and CachedVersion in internal/ort and Version in internal/imagelib. Packages that are not in
the folder are fetched by pip into it."""

import hashlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

LIBRARIES = {
    "onnxruntime": (
        "1.30.0",
        "cp312",
        {
            "linux/amd64": "manylinux_2_28_x86_64",
            "linux/arm64": "manylinux_2_28_aarch64",
            "darwin/arm64": "macosx_14_0_arm64",
            "windows/amd64": "win_amd64",
            "windows/arm64": "win_arm64",
        },
    ),
    "pyvips-binary": (
        "8.18.7",
        "abi3",
        {
            "linux/amd64": "manylinux_2_28_x86_64",
            "linux/amd64-musl": "musllinux_1_2_x86_64",
            "linux/arm64": "manylinux_2_28_aarch64",
            "darwin/amd64": "macosx_10_15_x86_64",
            "darwin/arm64": "macosx_11_0_arm64",
            "windows/amd64": "win_amd64",
            "windows/arm64": "win_arm64",
        },
    ),
    # None for musl, whose loader does not find libde265 there.
    "pi-heif": (
        "1.4.0",
        "cp312",
        {
            "linux/amd64": "manylinux_2_28_x86_64",
            "linux/arm64": "manylinux_2_28_aarch64",
            "darwin/amd64": "macosx_10_15_x86_64",
            "darwin/arm64": "macosx_11_0_arm64",
            "windows/amd64": "win_amd64",
        },
    ),
}

# What is taken from each package, the library first, and how it is called.
WANTED = {
    "onnxruntime": [
        (r"onnxruntime/capi/libonnxruntime\.so\..*", "libonnxruntime.so.1"),
        (r"onnxruntime/capi/(libonnxruntime\..*\.dylib|onnxruntime\.dll)", None),
        (r"onnxruntime/LICENSE", "onnxruntime-LICENSE.txt"),
        (r"onnxruntime/ThirdPartyNotices\.txt", "onnxruntime-ThirdPartyNotices.txt"),
    ],
    "pyvips-binary": [
        (r".*/libvips[-.][^/]*", None),
        (r".*/licenses/LICENSE", "pyvips-binary-LICENSE.txt"),
    ],
    "pi-heif": [
        (r".*/libheif[-.][^/]*", None),
        (r".*/lib[^/]*", None),
        (r".*/licenses/LICENSE\.txt", "pi-heif-LICENSE.txt"),
        (r".*/licenses/LICENSES_bundled\.txt", "pi-heif-LICENSES_bundled.txt"),
    ],
}


def wheel(folder: pathlib.Path, package: str, version: str, abi: str, platform: str) -> pathlib.Path:
    pattern = f"{package.replace('-', '_')}-{version}-*-{abi}-*{platform}.whl"
    if not list(folder.glob(pattern)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
        target = ["--implementation=cp", "--python-version=312", f"--abi={abi}", f"--platform={platform}"]
        subprocess.run([*pip, *target, "--dest", folder, f"{package}=={version}"], check=True)
    [found] = folder.glob(pattern)
    return found


def pin(name: str, content: bytes) -> str:
    return f"{hashlib.sha256(content).hexdigest()} {len(content)} {name}\n"


def contents(file: pathlib.Path, package: str) -> str:
    pins = ""
    with zipfile.ZipFile(file) as archive:
        left = sorted(archive.namelist())
        for pattern, name in WANTED[package]:
            for member in [member for member in left if re.fullmatch(pattern, member)]:
                left.remove(member)
                pins += pin(name or member.rsplit("/", 1)[1], archive.read(member))
    return pins


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        text = "# Written by pins.py: package, version and platform; then SHA-256, bytes and name of the package,\n"
        text += "# of the library in it, and of what else is taken from it.\n"
        for package, (version, abi, platforms) in LIBRARIES.items():
            for platform, tag in platforms.items():
                file = wheel(folder, package, version, abi, tag)
                text += f"\n{package} {version} {platform}\n"
                text += pin(file.name, file.read_bytes()) + contents(file, package)
    pathlib.Path(__file__).with_suffix(".txt").write_text(text)


main()
