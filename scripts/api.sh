#!/usr/bin/env bash
# Compares what Go programs can use of the packages named as stable in docs/library.md with a
# release: the last tag, or BASE. A change after which a program may no longer compile is an error within one
# minor version (0.3.0 and 0.3.1), and printed between two.
#
# usage: api.sh [BASE]
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:-$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)}
[ -n "$base" ] || { echo "api: there is no release yet: nothing to compare with (BASE=COMMIT compares with any commit)" && exit 0; }
git rev-parse --quiet --verify "$base^{commit}" >/dev/null || { echo "api: no commit $base: git fetch --tags" >&2 && exit 1; }

work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"
go build -modfile=scripts/tools/go.mod -o "$work/apidiff" golang.org/x/exp/cmd/apidiff

# minor FOLDER prints the version there without its last number.
minor() { sed -n 's/^var version = "\([0-9]*\.[0-9]*\)\..*"$/\1/p' "$1/cmd/pipeline/command/root.go"; }

module=$(go list -m)
broken=0
# The first column of the table of what is stable: | `package` | stable | …
stable() { sed -nE 's/^\| `([a-z/]+)` \| stable \|.*/\1/p' "$1/docs/library.md"; }
here() { (cd "$1" && go list "$2" >/dev/null 2>&1); }
for package in $( (stable . && stable "$work/base") | sort -u); do
	path=$module/$package
	[ "$package" != "$(basename "$module")" ] || path=$module
	here "$work/base" "$path" || { echo "$package: new" && continue; }
	here . "$path" || { echo "$package: gone" && broken=1 && continue; }
	(cd "$work/base" && "$work/apidiff" -w "$work/old" "$path")
	"$work/apidiff" "$work/old" "$path" >"$work/changes"
	[ -s "$work/changes" ] || continue
	echo "$package, since $base:" && cat "$work/changes"
	! grep -q '^Incompatible changes:' "$work/changes" || broken=1
done
[ $broken = 1 ] || { echo "api: programs written for $base compile" && exit 0; }
[ "$(minor .)" = "$(minor "$work/base")" ] || { echo "api: $(minor .) may change what $(minor "$work/base") had: CHANGELOG.md says how" && exit 0; }
echo "api: programs written for $base may no longer compile: keep the names, or make the next minor version" >&2
exit 1
