#!/bin/sh
# Makes sure that this machine has an ONNX Runtime library for the pipeline.
#
# If a library already works ($ONNXRUNTIME_LIB, the user's cache, the usual
# places; see internal/ort), it does nothing. Otherwise it downloads the npm
# package onnxruntime-node with the ordinary npm client, checks it against the
# hashes in package-lock.json, and stores the library for this machine in the
# user's cache. Install scripts never run: that of this package would download
# CUDA files. It is safe to run several times, even concurrently.
#
# Supports Linux x64 and arm64 with glibc, and macOS arm64 (untested). For other
# systems see README.md in this folder.
set -eu

version=1.30.0 # as in package.json and internal/ort (CachedVersion)
here=$(cd "$(dirname "$0")" && pwd)

say() { echo "setup: $*" >&2; }
die() {
    say "$*"
    say "another way: get ONNX Runtime 1.24 or newer yourself (see scripts/setup/README.md) and set ONNXRUNTIME_LIB to its library file"
    exit 1
}

# platform sets the folder (in the package) and the file for this machine.
platform() {
    case "$(uname -s)/$(uname -m)" in
    Linux/x86_64 | Linux/amd64) folder=linux/x64 file=libonnxruntime.so.1 ;;
    Linux/aarch64 | Linux/arm64) folder=linux/arm64 file=libonnxruntime.so.1 ;;
    Darwin/arm64) folder=darwin/arm64 file=libonnxruntime.$version.dylib ;;
    *) die "there is no prepared library for $(uname -s) on $(uname -m)" ;;
    esac
}

# fetch unpacks the package into $work/node_modules.
fetch() {
    command -v npm >/dev/null 2>&1 || die "npm is needed to fetch ONNX Runtime: install Node.js with your system's package manager (Debian, Ubuntu: apt-get install npm)"
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$work/"
    say "fetching onnxruntime-node $version with npm (about 120 MB, once)"
    (cd "$work" && npm ci --ignore-scripts --cache "$work/npm-cache" --loglevel=error >&2) ||
        die "npm could not fetch onnxruntime-node $version: see its message above, check the network or npm's registry and proxy settings, and run make setup again"
}

# store moves the library into place; the rename is atomic.
store() {
    library=$work/node_modules/onnxruntime-node/bin/napi-v6/$folder/$file
    [ -f "$library" ] || die "the package has no $folder/$file"
    chmod 644 "$library"
    sync "$library" 2>/dev/null || sync
    mv -f "$library" "$cache/$file"
}

work=
cleanup() { [ -z "$work" ] || rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

command -v go >/dev/null 2>&1 || die "go is needed: install Go 1.26 or newer"
checks=$(mktemp -d) && work=$checks
(cd "$here" && go build -o "$checks/locate" ./locate) || die "the check of the library does not build: Go and a C compiler (gcc or clang) are needed"

if [ -n "${ONNXRUNTIME_LIB:-}" ]; then
    "$checks/locate" && exit 0
    exit 1 # set but unusable: the user must correct it
fi
if "$checks/locate" 2>/dev/null; then
    exit 0
fi

platform
case ${XDG_CACHE_HOME:-} in
/*) cache=$XDG_CACHE_HOME ;;
*) cache=${HOME:?is not set}/.cache ;;
esac
cache=$cache/pipeline/onnxruntime/$version
mkdir -p "$cache" || die "cannot write to $cache: set XDG_CACHE_HOME to a folder that you own"
# Remove what killed runs left behind.
find "$cache" -maxdepth 1 -name '.setup.*' -mtime +1 -exec rm -rf {} + 2>/dev/null || true
# In the folder of the destination, so that the last step is a rename.
work=$(mktemp -d "$cache/.setup.XXXXXX")
mv "$checks/locate" "$work/locate" && rm -rf "$checks"
fetch
store
"$work/locate" -v || die "the library was fetched but does not load on this machine (it needs glibc 2.28 or newer)"
