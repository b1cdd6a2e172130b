#!/usr/bin/env bash
# Writes want/, the output of `pipeline datasets import-cub` for the test files. The
# command was replaced by scripts/import_cub.py; this runs its last version.
set -euo pipefail
cd "$(dirname "$0")"
last=f01a107
old=$(mktemp -d)
trap 'git worktree remove --force "$old/source"; rm -rf "$old"' EXIT
git worktree add --detach "$old/source" "$last"
(cd "$old/source" && go build -o "$old/pipeline" ./cmd/pipeline)
mkdir -p want
for mat in res101 plain odd/double odd/single odd/int16; do
	"$old/pipeline" datasets import-cub --mat "$mat.mat" --cub "$(dirname "$mat")" --out "want/$(basename "$mat")"
done
