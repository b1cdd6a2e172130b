#!/usr/bin/env bash
# Vets every package, with its tests, for macOS: with cgo, whose compiler is Zig.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/dist downloads=$PWD/.dist
. $here/fetch.sh
. $here/macos.sh
compiler
cc=$(mac_compiler)
CGO_ENABLED=1 GOOS=darwin GOARCH=arm64 CC=$cc go vet ./...
