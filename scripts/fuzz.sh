#!/usr/bin/env bash
# Runs every fuzz target of the project, each for the first argument, then the
# tests that read a number of damaged files and report those that cost most: the second
# argument of each format, and ten times as many images with a small budget. A failure does
# not end the run.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-30s}
count=${2:-100000}
failed=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
	echo "== $*"
	"$@" 2>&1 | tee "$log" && return
	# On a busy machine go test may report its own deadline as a failure.
	if grep -q 'context deadline exceeded' "$log" && ! grep -q 'Failing input written' "$log"; then
		return
	fi
	failed+=("$*")
}

mapfile -t targets < <(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9]*\(' . | sed -E 's|^(.*)/[^/]*:func (Fuzz[A-Za-z0-9]*).*|\1 \2|' | sort)
echo "${#targets[@]} fuzz targets, $time each:"
printf '   %s\n' "${targets[@]}"
for target in "${targets[@]}"; do
	read -r package name <<<"$target"
	run go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 20x "$package"
done

damaged() {
	run env "PIPELINE_MUTATIONS=$1" go test -count=1 -v -timeout 0 -run "^$2\$" "$3"
}
damaged $((10 * count)) TestMutatedImages ./preprocess
damaged "$count" TestCostOfDamagedImages ./preprocess
damaged "$count" TestMutatedLists ./dataset
damaged "$count" TestMutatedJournals ./teach
damaged "$count" TestMutatedNetworks ./onnx
damaged "$count" TestMutatedMetadata ./preprocess/photometa
damaged "$count" TestMutatedModels ./model
damaged "$count" TestMutatedStatistics ./model/classstats
damaged "$count" TestMutatedPriors ./model/prior
damaged "$count" TestMutatedFolders ./embedding/featdir

if ((${#failed[@]})); then
	printf 'failed: %s\n' "${failed[@]}"
	exit 1
fi
