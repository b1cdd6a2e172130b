#!/usr/bin/env bash
# Runs Biome on the JavaScript and Ruff on the Python, with the rules of biome.json and
# ruff.toml. Both are installed into .testenv/linters first, by npm and pip as configured
# on this machine, and verified by their hashes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rules=scripts/tools
linters=$PWD/.testenv/linters

installed() { cmp -s "$rules/requirements.txt" "$linters/requirements.txt" && cmp -s "$rules/package-lock.json" "$linters/package-lock.json"; }

install() {
	echo "lint: installing Biome and Ruff into .testenv/linters (130 MB, once)" >&2
	command -v npm >/dev/null || { echo "lint: npm is needed to fetch Biome: install Node.js (Debian, Ubuntu: apt-get install npm)" >&2 && exit 1; }
	rm -rf "$linters"
	"${PYTHON:-python3}" -m venv "$linters"
	"$linters/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$rules/requirements.txt"
	cp "$rules/package.json" "$rules/.npmrc" "$rules/package-lock.json" "$linters/"
	(cd "$linters" && npm ci --ignore-scripts --loglevel=error >&2)
	cp "$rules/requirements.txt" "$linters/" # the last step: marks it as complete
}

installed || install
git ls-files -z '*.js' | xargs -0 "$linters/node_modules/.bin/biome" lint --config-path="$rules/biome.json" --error-on-warnings
"$linters/bin/ruff" check --quiet --no-cache --config "$rules/ruff.toml"
