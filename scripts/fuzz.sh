#!/usr/bin/env bash
# Runs every fuzz target of the project, each for the given time.
set -euo pipefail
cd "$(dirname "$0")/.."
time=${1:-2m}
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "== $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x "$package"
	done
done
