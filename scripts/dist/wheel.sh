#!/usr/bin/env bash
# Builds out/dist/photo_pipeline-VERSION-py3-none-PLATFORM.whl: the Python module of
# deploy/python with the program, its libraries and licences. The same tree gives the same bytes.
#
# usage: wheel.sh [amd64|arm64|macos|windows]      VERSION and SOURCE_DATE_EPOCH may be set
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/dist
. $here/tree.sh

case $os/$arch in
linux/amd64) platform=manylinux_2_28_x86_64 ;;
linux/arm64) platform=manylinux_2_28_aarch64 ;;
darwin/arm64) platform=macosx_14_0_arm64 ;;
windows/amd64) platform=win_amd64 ;;
esac
venv=$downloads/hatchling
if ! cmp -s $here/wheel.txt "$venv/wheel.txt"; then
	say "installing hatchling into .dist/hatchling (once)"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --require-hashes --only-binary :all: -r $here/wheel.txt
	cp $here/wheel.txt "$venv/wheel.txt"
fi
git ls-files -z deploy/python | xargs -0 cp --parents -t "$work"
module=$work/deploy/python inside=$work/deploy/python/photo_pipeline/bin
mkdir "$inside"
mv "$root/LICENSE" "$root/NOTICE.txt" "$module/"
mv "$root"/{pipeline$exe,lib,licences,sbom.cdx.json} "$inside/"
(cd "$module" && VERSION=$version PLATFORM=$platform "$venv/bin/hatchling" build --target wheel >/dev/null)
file=$(basename "$module"/dist/*.whl)
mv "$module/dist/$file" out/dist/
(cd out/dist && sha256sum "$file" >"$file.sha256")
PIPELINE_WHEEL=$PWD/out/dist/$file go test -vet=off -count=1 -run '^TestWheel$' ./$here >&2
say "out/dist/$file, $(($(stat -c %s "out/dist/$file") / 1000000)) MB"
