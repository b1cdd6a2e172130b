#!/usr/bin/env bash
# Runs the archive for arm64 under QEMU, which emulates the processor and is some fifty times
# slower than one: the demo's commands on some of its photos, beside a build for this
# machine, and the tests of the packages that compute.
#
# usage: arm64.sh      builds the archive first; needs QEMU's user mode (Debian: qemu-user-static)
# PACKAGES are those whose tests run. With NETWORK, an ONNX file, the whole demo runs with it
# on both. One of 8 bits (models/quantize.py) takes a fraction of the hours of float32.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/dist downloads=$PWD/.dist arch=arm64
. $here/fetch.sh
step() { say "$(($(date +%s) - began)) s: $*"; }
began=$(date +%s)

qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || die "QEMU is not installed (Debian: apt-get install qemu-user-static)"
[ -z "${NETWORK:-}" ] || NETWORK=$(realpath -e "$NETWORK")
scripts/dist/dist.sh arm64
archive=$PWD/$(ls -t out/dist/pipeline-*-linux-arm64.tar.xz | head -1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step "a root folder with glibc"
names="(gcc-10-base|libc6|libgcc-s1|libstdc[+][+]6)_.*_arm64.deb"
pinned "$names" "deb [arch=arm64]" bullseye download gcc-10-base/bullseye libc6/bullseye libgcc-s1/bullseye libstdc++6/bullseye
unpack "$names" "$work/root"
# QEMU shows the processor of this machine, and ONNX Runtime crashes if it can make nothing of it.
mkdir "$work/root/proc"
for processor in 0 1; do
	printf 'processor\t: %d\nFeatures\t: fp asimd atomics asimdrdm asimddp\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd08\nCPU revision\t: 3\n\n' $processor
done >"$work/root/proc/cpuinfo"
tar -xf "$archive" -C "$work"
go build -o "$work/x64" ./cmd/pipeline

step "the archive beside a build for this machine"
(cd "$work" && python3 "$OLDPWD/$here/arm64.py" "$qemu" "$work/root" "$work"/pipeline-*/pipeline "$work/x64" ${NETWORK:+"$NETWORK"})

step "the tests of what computes"
# Each of these has passed so, in one to 350 seconds of processor time.
: "${PACKAGES:=./classifier ./classifier/checkpoint ./classifier/gpr ./classifier/gpsoftmax
	./classifier/holdout ./classifier/holdout/calibration ./classifier/holdout/episodes
	./classifier/holdout/labelnoise ./classifier/holdout/temperature ./classifier/hppca ./classifier/kit/...
	./classifier/ncm ./classifier/plda ./classifier/pldaplus ./classifier/ppca ./classifier/ppcaonline/...
	./classifier/vargp ./dkl ./dkl/internal/bound ./gp ./gp/gpr ./gp/kernel ./gp/polyagamma ./gp/quadrature
	./gp/vargp ./gptree ./gp/vargp/internal/autodiff ./internal/dense ./internal/icc ./classifier/kit/kmeans
	./linalg ./linalg/native ./teach/internal/neighbours ./label/adapt
	./label/events ./label/metrics ./label/rank ./label/split ./model/advice ./model/prior ./preprocess}"
lib=$(echo "$work"/pipeline-*/lib)
ONNXRUNTIME_LIB=$lib/libonnxruntime.so.1 \
	CGO_ENABLED=1 GOOS=linux GOARCH=arm64 CC=$(compiler_for aarch64-linux-gnu.2.28) \
	go test -short -vet=off -p 1 -timeout 30m -exec "$qemu -L $work/root" $PACKAGES
step "done"
