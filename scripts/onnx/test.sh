#!/usr/bin/env bash
# Labels photos with an exported model by the clients of docs/formats-model.md, in Python by onnxruntime and in
# JavaScript by onnxruntime-web, and compares with label. Both are installed into a folder of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/scripts/onnx
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here"/{package.json,package-lock.json,.npmrc} "$work/"
(cd "$work" && npm ci --ignore-scripts --loglevel=error >&2)
"${PYTHON:-python3}" -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$here/requirements.txt"
PIPELINE_NODE_MODULES=$work/node_modules PIPELINE_PYTHON=$work/python/bin/python \
	go test -vet=off -count=1 -v -run '^TestONNXClient' ./cmd/pipeline/tests/labels | tee "$work/said"
! grep -q -e '--- SKIP' "$work/said" || { echo "onnx-test: a client was not run" >&2; exit 1; }
