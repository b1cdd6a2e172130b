#!/usr/bin/env bash
# Holds deploy/kubernetes against the schemas of the oldest Kubernetes that it is for and of a new one.
set -euo pipefail
cd "$(dirname "$0")/../.."
venv=$(mktemp -d)
trap 'rm -rf "$venv"' EXIT
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r scripts/kubernetes/requirements.txt
for version in 1.30 1.37; do
	"$venv/bin/kubernetes-validate" --strict --kubernetes-version $version deploy/kubernetes/*.yaml
done
