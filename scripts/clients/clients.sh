#!/usr/bin/env bash
# Makes clients of serve/openapi.yaml for Python and Go, with which each labels, teaches and undoes on a
# server; then 64 threads label N (1000) photos each on a service, which ends in the middle.
#
# usage: clients.sh [N]
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/scripts/clients each=${1:-1000}
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

# The generated code, beside a copy of what uses it.
cp "$here"/{main.go,client.py,go.mod,go.sum} "$work/"
mkdir "$work/api"
(cd "$work" && go tool oapi-codegen -package api -generate types,client -o api/api.go "$OLDPWD/serve/openapi.yaml" && go build -o clients .)
"${PYTHON:-python3}" -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$here/requirements.txt"
"$work/python/bin/openapi-python-client" generate --path serve/openapi.yaml --meta none --output-path "$work/photos_client" >"$work/said" 2>&1 ||
	{ cat "$work/said" >&2; exit 1; }
# Where two kinds of bodies and no optional parameter are, it forgets an import (its issue 1451).
sed -i 's/^from \.\.\.types import Response, UNSET$/&, Unset/' "$work"/photos_client/api/*/*.py

# served ARGUMENT... starts a server, and sets server and address.
served() {
	bin/pipeline serve "$@" --addr 127.0.0.1:0 >"$work/log" 2>&1 &
	server=$!
	until address=$(grep -oE 'http://127\.0\.0\.1:[0-9]+' "$work/log" | head -1) && [ -n "$address" ]; do
		kill -0 $server 2>/dev/null || { cat "$work/log" >&2; exit 1; }
		sleep 0.1
	done
}

# ended waits for the server, which says by its exit code whether it ended well.
ended() {
	wait "$server" || { cat "$work/log" >&2; exit 1; }
	server=
}

bin/pipeline demo --out "$work/demo" >/dev/null
model=$work/demo/demo.model
photos=$work/demo/images/photos
photo=$(find "$photos" -name '*.jpg' | sort | head -1)
served "$model" --images "$photos"
"$work/python/bin/python" "$work/client.py" "$address" "$photo"
"$work/clients" teach "$address" "$photo"
kill -TERM "$server"
ended
served "$model"
"$work/clients" load "$address" "$photo" "$server" "$each"
ended
