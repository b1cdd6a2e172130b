#!/usr/bin/env bash
# Installs what only the tests need into .testenv: a Python environment with the
# packages of requirements.txt, a headless Chromium with axe-core, which checks
# pages for accessibility, and the libraries that `pipeline setup` fetches, for
# its tests, since on a machine with its own libvips it fetches none. All are
# downloaded with pip and npm as configured on this machine, and verified by their hashes.
#
# Set PIPELINE_PYTHON or PIPELINE_BROWSER to use another one instead.
# PYTHON is the interpreter to create the environment with.
# What cannot be installed is reported, and its tests are skipped. If CI is set
# they would fail, so the script fails too.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
target=$here/../../.testenv
missing=0

say() { echo "test-setup: $*" >&2; }
without() { # what, why
	say "no $1 for the tests: $2"
	missing=1
}

install_python() {
	local python=${PYTHON:-python3} venv=$target/python
	[ -z "${PIPELINE_PYTHON:-}" ] || return 0
	cmp -s "$here/requirements.txt" "$venv/requirements.txt" && "$venv/bin/python" -c '' 2>/dev/null && return
	if ! "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
		without Python "$python is not Python 3.11 or later with the venv module (Debian, Ubuntu: apt-get install python3-venv); install one or set PYTHON"
		return
	fi
	say "installing NumPy, SciPy, onnx and the programs that results are for into .testenv/python (once)"
	rm -rf "$venv"
	if "$python" -m venv "$venv" && "$venv/bin/pip" install --quiet --require-hashes --only-binary :all: -r "$here/requirements.txt" >&2; then
		cp "$here/requirements.txt" "$venv/requirements.txt" # the last step: marks it as complete
	else
		without Python "pip could not install requirements.txt: see its message above, check the network or pip's settings, and run make test-setup again"
	fi
}

# The npm package contains the compressed program and the libraries it needs
# besides the C library. Its JavaScript is not used.
unpack_browser() {
	local bin=$1/node_modules/@sparticuz/chromium/bin out=$1/browser
	mkdir "$out" &&
		node "$here/unbrotli.js" "$bin/chromium.br" "$out/headless_shell" &&
		node "$here/unbrotli.js" "$bin/al2023.tar.br" | tar -xf - -C "$out" --no-same-owner &&
		node "$here/unbrotli.js" "$bin/fonts.tar.br" | tar -xf - -C "$out" --no-same-owner &&
		chmod 755 "$out/headless_shell" &&
		cp "$here/chromium.sh" "$out/chromium" &&
		cp "$here/fonts.conf" "$here/package-lock.json" "$1/node_modules/axe-core/axe.min.js" "$out/" &&
		"$out/chromium" --version >&2
}

install_browser() {
	local browser=$target/browser work
	[ -z "${PIPELINE_BROWSER:-}" ] || return 0
	cmp -s "$here/package-lock.json" "$browser/package-lock.json" && return
	case "$(uname -s)/$(uname -m)" in
	Linux/x86_64 | Linux/amd64) ;;
	*)
		command -v chromium chromium-browser google-chrome >/dev/null ||
			without browser "none is prepared for $(uname -s) on $(uname -m); install Chromium and set PIPELINE_BROWSER to its program"
		return
		;;
	esac
	if ! command -v npm >/dev/null; then
		without browser "npm is needed to fetch it: install Node.js (Debian, Ubuntu: apt-get install npm), or install Chromium and set PIPELINE_BROWSER to its program"
		return
	fi
	say "fetching a headless Chromium with npm into .testenv/browser (70 MB, once)"
	work=$(mktemp -d "$target/.work.XXXXXX")
	cp "$here/package.json" "$here/package-lock.json" "$here/.npmrc" "$work/"
	if (cd "$work" && npm ci --ignore-scripts --loglevel=error >&2) && unpack_browser "$work"; then
		rm -rf "$browser"
		mv "$work/browser" "$browser"
	else
		without browser "it could not be downloaded or does not start on this machine: see the message above, or install Chromium and set PIPELINE_BROWSER to its program"
	fi
	rm -rf "$work"
}

install_libraries() {
	"$here/../../bin/pipeline" --quiet setup --into "$target/libraries" >/dev/null ||
		without libraries "bin/pipeline setup could not fetch them: see its message above, and run make test-setup again"
}

mkdir -p "$target"
target=$(cd "$target" && pwd)
if command -v flock >/dev/null; then # two runs must not build the same environment
	exec 9>"$target/lock"
	flock 9
fi
rm -rf "$target"/.work.*
install_python
install_browser
install_libraries
[ -z "${CI:-}" ] || exit "$missing"
