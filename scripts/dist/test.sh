#!/usr/bin/env bash
# Builds the archive, which is checked, twice and checks that the bytes are equal
# and that its demo runs in a new folder with an empty environment; as
# root in a root folder that holds nothing but the archive and this machine's glibc.
set -euo pipefail
cd "$(dirname "$0")/../.."
before=$(git status --porcelain)
scripts/dist/dist.sh amd64
deb=$(ls -t out/dist/pipeline_*_amd64.deb | head -1)
archive=$(ls -t out/dist/pipeline-*-linux-amd64.tar.xz | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$archive" "$work/first"
cp "$deb" "$work/first.deb"
cp "${archive%.tar.xz}.cdx.json" "$work/first.json"
scripts/dist/dist.sh amd64
cmp "$archive" "$work/first"
cmp "$deb" "$work/first.deb"
cmp "${archive%.tar.xz}.cdx.json" "$work/first.json"
[ "$(git status --porcelain)" = "$before" ] || { git status --short; echo "dist-test: the build left files in the tree" >&2; exit 1; }
echo "dist-test: two builds, the same bytes" >&2
dpkg-deb -x "$deb" "$work/installed"
env -i HOME="$work" "$work/installed/usr/bin/pipeline" doctor >"$work/doctor"
grep "$work/installed/usr/lib/pipeline/libonnxruntime" "$work/doctor"
grep "new models: efficientnet-lite0, built in" "$work/doctor"
mkdir -p "$work"/root/{tmp,home,lib,lib64}
tar -xf "$archive" -C "$work/root"
program=/$(basename "$archive" .tar.xz)/pipeline
if [ "$(id -u)" = 0 ]; then
	libraries=$(dirname "$(ldconfig -p | sed -n 's/.*libc\.so\.6 (libc6,x86-64.* => //p' | head -1)")
	for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2; do
		cp -L "$libraries/$library" "$work/root/lib/"
	done
	cp -L /lib64/ld-linux-x86-64.so.2 "$work/root/lib64/"
	time env -i HOME=/home "$(command -v chroot)" "$work/root" "$program" demo --out /tmp/demo
else
	time env -i HOME="$work/root/home" "$work/root$program" demo --out "$work/root/tmp/demo"
fi
