#!/usr/bin/env bash
# Tries the archive for macOS in out/dist on a Mac: checksum, signatures, what the files need, and the demo, whose
# labels must be those of Linux in out/dist/linux-demo.
set -euo pipefail
cd "$(dirname "$0")/../.."
archive=$(ls -t "$PWD"/out/dist/pipeline-*-darwin-arm64.tar.xz | head -1)
(cd out/dist && shasum -a 256 --check "$(basename "$archive").sha256")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xf "$archive" -C "$work"
root=$(echo "$work"/pipeline-*)
for file in "$root/pipeline" "$root"/lib/*; do
	codesign --verify --strict --verbose "$file"
	otool -L "$file"
done
env -i HOME="$work" "$root/pipeline" doctor
env -i HOME="$work" "$root/pipeline" demo --out "$work/demo"
cd scripts/dist
python3 -c 'import sys; from beside import compare; compare(sys.argv[1], sys.argv[2], 1e-3, trained=True)' \
	"$work/demo/labels" ../../out/dist/linux-demo/labels
