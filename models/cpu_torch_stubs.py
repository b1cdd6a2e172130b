#!/usr/bin/env python3
"""Make a CUDA build of PyTorch start without the CUDA libraries (Linux, CPU work only).

The package index offers one Linux x86-64 build of PyTorch, which links to 3 GB of CUDA
libraries. An export never calls them, but the loader needs them to exist. For each missing library
this script puts a stub with the right symbols next to PyTorch; every function in it returns
"no CUDA device" (error 100), which makes PyTorch use the CPU.

    python cpu_torch_stubs.py [--remove] VENV/lib/python3.11/site-packages/torch/lib
"""

import argparse
import pathlib
import platform
import re
import subprocess
import tempfile

NO_DEVICE = 100  # cudaErrorNoDevice and CUDA_ERROR_NO_DEVICE
PYTHON_SYMBOL = re.compile(r"_?Py")  # provided by the interpreter itself
NEVER_FROM_SYSTEM = ("libcuda.so.1",)  # a driver may be absent on the next machine
VERSION_OWNER = {"NVSHMEM": "libnvshmem_host.so.3"}  # version names that differ from the file name
RECORD = "cpu_torch_stubs.txt"  # file next to the stubs that lists them
UNVERSIONED_OWNER = "libnccl.so.2"  # always loaded, so it can hold symbols without a version


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(libraries):
    """Names of the libraries that these libraries link to."""
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-dW", *libraries)))


def system_libraries():
    """Name -> path of the libraries that the loader finds by default."""
    listing = run("/sbin/ldconfig", "-p")
    return dict(re.findall(r"^\s+(\S+) \(.*x86-64.*\) => (\S+)$", listing, re.MULTILINE))


def defined_symbols(paths):
    names = set()
    for line in run("nm", "-D", "--defined-only", *paths).splitlines():
        fields = line.split()
        if len(fields) == 3:
            names.add(fields[2].split("@")[0])
    return names


def undefined_symbols(paths):
    """Pairs (symbol, version or '') that must come from elsewhere."""
    pairs = set()
    for line in run("nm", "-D", "--undefined-only", *paths).splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[0] == "U":
            name, _, version = fields[1].replace("@@", "@").partition("@")
            pairs.add((name, version))
    return pairs


def symbols_by_library(folder, missing, found):
    """Library -> version -> symbols that its stub must define."""
    own = sorted(str(path) for path in folder.glob("*.so*"))
    known = defined_symbols(own + found)
    wanted = {library: {} for library in missing}
    for name, version in sorted(undefined_symbols(own)):
        if name in known or PYTHON_SYMBOL.match(name):
            continue
        library = VERSION_OWNER.get(version, version) if version else UNVERSIONED_OWNER
        if library in wanted:
            wanted[library].setdefault(version, []).append(name)
    return wanted


def build(folder, library, versions):
    """Compile one stub library into folder."""
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch, "stub.c")
        script = pathlib.Path(scratch, "stub.map")
        names = [name for group in versions.values() for name in group]
        source.write_text("".join(f"int {name}(void) {{ return {NO_DEVICE}; }}\n" for name in names))
        script.write_text("".join(f"{version} {{ global: {'; '.join(group)}; }};\n"
                                  for version, group in versions.items() if version))
        command = ["cc", "-w", "-shared", "-fPIC", "-fno-builtin", f"-Wl,-soname,{library}"]
        if script.stat().st_size:
            command.append(f"-Wl,--version-script={script}")
        run(*command, "-o", str(folder / library), str(source))


def make(folder):
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise SystemExit("only for Linux x86-64")
    own = sorted(str(path) for path in folder.glob("*.so*"))
    system = {name: path for name, path in system_libraries().items() if name not in NEVER_FROM_SYSTEM}
    wanted = {name for name in needed(own) if not (folder / name).exists()}
    missing = wanted - set(system)
    found = [system[name] for name in sorted(wanted & set(system))]
    (folder / RECORD).write_text("\n".join(sorted(missing)))  # first, so that --remove can undo a failure
    for library, versions in symbols_by_library(folder, missing, found).items():
        build(folder, library, versions)


def remove(folder):
    """Remove the stubs, so that the real libraries are found."""
    record = folder / RECORD
    if not record.exists():
        return
    for library in record.read_text().split():
        (folder / library).unlink(missing_ok=True)
    record.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--remove", action="store_true", help="remove the stubs")
    parser.add_argument("folder", type=pathlib.Path, help="PyTorch's lib folder")
    arguments = parser.parse_args()
    (remove if arguments.remove else make)(arguments.folder)


if __name__ == "__main__":
    main()
