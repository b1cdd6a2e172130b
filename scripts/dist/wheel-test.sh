#!/usr/bin/env bash
# Installs the wheel that was built last into an empty Python environment, runs the tests of the
# module and mypy, and times rows of numbers.
set -euo pipefail
cd "$(dirname "$0")/../.."
wheel=$PWD/$(ls -t out/dist/photo_pipeline-*-manylinux_2_28_x86_64.whl | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check install)
"${pip[@]}" --require-hashes --only-binary :all: -r deploy/python/tests/requirements.txt
"${pip[@]}" --no-index "$wheel"
PIPELINE_WHEEL_PYTHON=$work/venv/bin/python go test -vet=off -count=1 -v -run '^TestPythonModule$' ./scripts/dist
cd "$work" # without the module's source
env -i HOME="$work" PATH=/usr/bin:/bin "$work/venv/bin/pipeline" --version
"$work/venv/bin/python" "$OLDPWD/deploy/python/tests/speed.py"
