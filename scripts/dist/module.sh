#!/usr/bin/env bash
# Shows that `go install` works, as somebody would call it who has only Go, a C compiler
# and pip: makes a module proxy of the last commit in a folder, installs from it into an empty home, gets
# the libraries, and labels photos. Go itself checks the module's zip: its size, the
# names of its files. Other modules come from this machine's module cache or its proxy.
set -euo pipefail
cd "$(dirname "$0")/../.."
version=v${VERSION:-$(sed -n 's/^var version = "\(.*\)"$/\1/p' cmd/pipeline/command/root.go)}
module=$(go list -m)
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# A module proxy is four files. Nested modules do not belong to the module.
proxy=$work/proxy/$module/@v
mkdir -p "$proxy" "$work/home"
nested=$(git ls-files '*/go.mod' | sed 's,\(.*\)/go.mod,:(exclude)\1,')
git archive --format=zip --prefix="$module@$version/" -o "$proxy/$version.zip" HEAD . $nested
git show HEAD:go.mod >"$proxy/$version.mod"
printf '{"Version":"%s","Time":"%s"}\n' "$version" "$(TZ=UTC0 git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ)" >"$proxy/$version.info"
echo "$version" >"$proxy/list"
echo "module: the zip has $(($(stat -c %s "$proxy/$version.zip") / 1000000)) MB" >&2

empty=(env -i HOME="$work/home" PATH="$PATH" PIP_CONFIG_FILE="${PIP_CONFIG_FILE:-$HOME/.config/pip/pip.conf}" GOFLAGS="-modcacherw ${GOFLAGS:-}" GONOSUMDB="$module" GOCACHE="${GOCACHE:-$work/home/.cache/go-build}"
	GOPROXY="file://$work/proxy,file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)")
step() {
	echo "module: $*" >&2
	local began=$SECONDS
	"${empty[@]}" "$@"
	echo "module: $((SECONDS - began)) s" >&2
}
cd "$work/home"
step go install "$module/cmd/pipeline@latest"
[ "$("${empty[@]}" go/bin/pipeline --version | cut -d " " -f -3)" = "pipeline version ${version#v}" ]
step go/bin/pipeline setup ${FROM:+--from "$FROM"}
step go/bin/pipeline demo --out demo
step go/bin/pipeline label demo/demo.model --images demo/images/new --out labels
head -3 labels/labels.csv
