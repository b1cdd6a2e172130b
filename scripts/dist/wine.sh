#!/usr/bin/env bash
# Runs the zip for Windows under Wine, in an empty prefix: the demo, the commands of
# README, a server that is asked and killed, commands that are killed, or told to end,
# while they write, files that another program holds, and the start page in a browser.
# Everything must be as a run on Linux says, by the same decoder.
#
# usage: wine.sh      builds the zip first; needs Wine 8 or newer (Debian: wine64)
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD/scripts/dist
die() { echo "windows-test: $*" >&2; exit 1; }
step() { echo "windows-test: $(($(date +%s) - began)) s: $*" >&2; }
began=$(date +%s)

wine=$(command -v wine64 || command -v wine || ls /usr/lib/wine/wine64 2>/dev/null) || die "Wine is not installed (Debian: apt-get install wine64)"
scripts/dist/dist.sh windows
zip=$PWD/$(ls -t out/dist/pipeline-*-windows-amd64.zip | head -1)
work=$(mktemp -d)
export WINEPREFIX=$work/prefix WINEDEBUG=-all
unset DISPLAY
finish() { # ends what runs in the prefix
	/usr/lib/wine/wineserver -k 2>/dev/null || wineserver -k 2>/dev/null || true
	rm -rf "$work"
}
trap finish EXIT

step "an empty prefix"
"$wine" wineboot -i >"$work/wineboot" 2>&1 || { cat "$work/wineboot"; die "wineboot failed"; }
if ! [ -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then # Wine 8 has none, and Go needs it
	cat >"$work/random.c" <<-'C'
		unsigned char SystemFunction036(void *buffer, unsigned long length);
		__declspec(dllexport) int ProcessPrng(void *buffer, unsigned long long length) {
			return SystemFunction036(buffer, (unsigned long)length);
		}
	C
	.dist/cc-x86_64-windows-gnu -O1 -shared -o "$work/bcryptprimitives.dll" "$work/random.c" -ladvapi32
	cp "$work/bcryptprimitives.dll" "$WINEPREFIX/drive_c/windows/system32/"
fi
go build -o "$work/linux" ./cmd/pipeline
python3 -m zipfile -e "$zip" "$work"

step "temporary files, and files of other programs"
for each in atomicfile:TestRemoveStaleLeavesWhatIsOpen regularfile:TestFileOfAnotherProgram; do
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 go test -c -o "$work/test.exe" "./internal/${each%:*}"
	"$wine" "$work/test.exe" -test.run "^${each#*:}\$" -test.v | grep -- '--- PASS'
done

step "the zip beside a build for Linux"
for each in hold console; do
	.dist/cc-x86_64-windows-gnu -O1 -o "$work/$each.exe" "$here/windows/$each.c"
done
(cd "$work" && python3 "$here/windows.py" "$wine" "$work"/pipeline-*/pipeline.exe "$work/linux" "$work")

step "its start page in a browser"
WINE=$wine PIPELINE_WINDOWS=$(echo "$work"/pipeline-*/pipeline.exe) go test -count=1 -v -run TestStartPageOfWindows ./scripts/dist
step "done"
