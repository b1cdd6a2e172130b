#!/bin/sh
# Makes sure that this machine has the libraries that the pipeline loads at run
# time: ONNX Runtime, and libjpeg-turbo, without which photos are decoded in Go.
#
# If a library already works (named by $ONNXRUNTIME_LIB or $TURBOJPEG_LIB, in the
# user's cache, in the usual places; see internal/ort and internal/turbojpeg),
# nothing is done for it. Otherwise this downloads an npm package that contains it
# with the ordinary npm client, checks it against the hashes in package-lock.json,
# and stores the library for this machine in the user's cache. Install scripts
# never run: they would download CUDA files, or compile. It is safe to run several
# times, even concurrently.
#
# Supports Linux x64 and arm64; with glibc, and for libjpeg-turbo also musl. ONNX
# Runtime also on macOS arm64 (untested). For other systems see README.md in this
# folder.
set -eu

onnxruntime=1.30.0 # as in package.json and internal/ort (CachedVersion)
turbojpeg=2.3.0    # as in package.json and internal/turbojpeg (CachedVersion)
here=$(cd "$(dirname "$0")" && pwd)

say() { echo "setup: $*" >&2; }
die() {
    say "$*"
    say "another way: get ONNX Runtime 1.24 or newer yourself (see scripts/setup/README.md) and set ONNXRUNTIME_LIB to its library file"
    exit 1
}

# platform sets the folders (in the packages) and files for this machine;
# jpeg_folder is empty if there is none.
platform() {
    jpeg_folder='' jpeg_file=libturbojpeg.so.0
    case "$(uname -s)/$(uname -m)" in
    Linux/x86_64 | Linux/amd64)
        folder=linux/x64 file=libonnxruntime.so.1 jpeg_folder=jpeg-turbo-linux-x64
        [ ! -e /lib/ld-musl-x86_64.so.1 ] || jpeg_folder=jpeg-turbo-linux-x64-musl
        ;;
    Linux/aarch64 | Linux/arm64) folder=linux/arm64 file=libonnxruntime.so.1 jpeg_folder=jpeg-turbo-linux-arm64 ;;
    Darwin/arm64) folder=darwin/arm64 file=libonnxruntime.$onnxruntime.dylib ;;
    *) folder='' ;;
    esac
}

# fetch unpacks packages into $work/node_modules. In package.json ONNX Runtime is
# a development dependency and libjpeg-turbo an optional one, so that npm can leave
# out either: $2 says so, whatever the user's settings.
fetch() {
    cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$work/"
    say "fetching $1 with npm (once)"
    (cd "$work" && npm ci $2 --ignore-scripts --cache "$work/npm-cache" --loglevel=error >&2)
}

# store moves a library of the unpacked packages to a folder in the user's cache;
# the rename is atomic.
store() {
    mkdir -p "$2" && chmod 644 "$1" && { sync "$1" 2>/dev/null || sync; } && mv -f "$1" "$2/"
}

work=
cleanup() { [ -z "$work" ] || rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

command -v go >/dev/null 2>&1 || die "go is needed: install Go 1.26 or newer"
checks=$(mktemp -d) && work=$checks
(cd "$here" && go build -o "$checks/locate" ./locate) || die "the check of the library does not build: Go and a C compiler (gcc or clang) are needed"

need_onnx='' need_jpeg=''
if [ -n "${ONNXRUNTIME_LIB:-}" ]; then
    "$checks/locate" onnxruntime || exit 1 # set but unusable: the user must correct it
elif ! "$checks/locate" onnxruntime 2>/dev/null; then
    need_onnx=yes
fi
platform
if [ -n "${TURBOJPEG_LIB:-}" ]; then
    "$checks/locate" jpeg || true # the program decodes in Go
elif ! "$checks/locate" jpeg 2>/dev/null; then
    need_jpeg=$jpeg_folder
    [ -n "$need_jpeg" ] || say "there is no prepared libjpeg-turbo for $(uname -s) on $(uname -m): photos are decoded in Go (see scripts/setup/README.md)"
fi
[ -n "$need_onnx$need_jpeg" ] || exit 0

[ -z "$need_onnx" ] || [ -n "$folder" ] || die "there is no prepared library for $(uname -s) on $(uname -m)"
if ! command -v npm >/dev/null 2>&1; then
    [ -z "$need_onnx" ] || die "npm is needed to fetch ONNX Runtime: install Node.js with your system's package manager (Debian, Ubuntu: apt-get install npm)"
    say "npm is not installed, so libjpeg-turbo cannot be fetched: photos are decoded in Go"
    exit 0
fi
case ${XDG_CACHE_HOME:-} in
/*) cache=$XDG_CACHE_HOME ;;
*) cache=${HOME:?is not set}/.cache ;;
esac
cache=$cache/pipeline
mkdir -p "$cache" || die "cannot write to $cache: set XDG_CACHE_HOME to a folder that you own"
# Remove what killed runs left behind.
find "$cache" -maxdepth 1 -name '.setup.*' -mtime +1 -exec rm -rf {} + 2>/dev/null || true
# In the folder of the destination, so that the last step is a rename.
work=$(mktemp -d "$cache/.setup.XXXXXX")
mv "$checks/locate" "$work/locate" && rm -rf "$checks"

if [ -n "$need_onnx" ]; then
    parts="--include=dev --include=optional"
    [ -n "$need_jpeg" ] || parts="--include=dev --omit=optional"
    fetch "onnxruntime-node $onnxruntime (about 120 MB)${need_jpeg:+ and @julusian/jpeg-turbo $turbojpeg}" "$parts" ||
        die "npm could not fetch onnxruntime-node $onnxruntime: see its message above, check the network or npm's registry and proxy settings, and run make setup again"
    library=$work/node_modules/onnxruntime-node/bin/napi-v6/$folder/$file
    [ -f "$library" ] || die "the package has no $folder/$file"
    store "$library" "$cache/onnxruntime/$onnxruntime"
    "$work/locate" -v onnxruntime || die "the library was fetched but does not load on this machine (it needs glibc 2.28 or newer)"
else
    fetch "@julusian/jpeg-turbo $turbojpeg (3 MB)" "--omit=dev --include=optional" || true
fi
if [ -n "$need_jpeg" ]; then
    # npm goes on without an optional package that it cannot fetch.
    library=$work/node_modules/@julusian/jpeg-turbo/prebuilds/$need_jpeg/$jpeg_file
    { [ -f "$library" ] && store "$library" "$cache/jpeg-turbo/$turbojpeg" && "$work/locate" jpeg; } ||
        say "libjpeg-turbo could not be installed: photos are decoded in Go, several times slower if they are large; run make setup again, or see scripts/setup/README.md"
fi
