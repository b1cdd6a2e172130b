#!/usr/bin/env bash
# Builds the book into out/book, with Sphinx in an environment of its own,
# .testenv/book, whose packages are pinned by hash. A warning, such as a link to
# nothing or a page that is in no chapter, is an error.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

venv=$PWD/.testenv/book
if ! cmp -s scripts/book/requirements.txt "$venv/requirements.txt"; then
	echo "book: installing Sphinx into .testenv/book (120 MB, once)" >&2
	rm -rf "$venv"
	"${PYTHON:-python3}" -m venv "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r scripts/book/requirements.txt
	cp scripts/book/requirements.txt "$venv/requirements.txt" # the last step: marks it as complete
fi
rm -rf out/book # what a page no longer has must not stay
"$venv/bin/sphinx-build" --quiet --fresh-env --fail-on-warning --keep-going -c scripts/book -d "$venv/doctrees" . out/book
echo '<!doctype html><title>pipeline</title><meta http-equiv="refresh" content="0; url=docs/README.html">' >out/book/index.html
echo "book: open out/book/index.html in a browser"
