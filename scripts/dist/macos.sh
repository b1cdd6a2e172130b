# What links a program for macOS without Apple's SDK, for tree.sh to source.

# stubs FOLDER writes there what the linker has to know of the system's libraries that Zig does
# not know: their names, and the functions that Go's own packages import from them.
stubs() {
	local library short names
	grep -rhoE '^//go:cgo_import_dynamic [^ ]+ [^ ]+ "/[^"]+"' "$(go env GOROOT)/src" --include='*.go' |
		awk '{gsub("\"", "", $4); print $4, $3}' | sort -u >"$work/imports"
	for library in $(cut -d' ' -f1 "$work/imports" | uniq); do
		names=$(awk -v library="$library" '$1 == library {printf "%s_%s", comma, $2; comma = ", "}' "$work/imports")
		case $library in
		*/libSystem.*) continue ;;
		*.framework/*) short=$(basename "$library").framework/$(basename "$library").tbd ;;
		*) short=$(basename "$library" | cut -d. -f1).tbd ;;
		esac
		mkdir -p "$(dirname "$1/$short")"
		cat >"$1/$short" <<-STUB
			--- !tapi-tbd
			tbd-version: 4
			targets: [ arm64-macos ]
			install-name: '$library'
			exports:
			  - targets: [ arm64-macos ]
			    symbols: [ $names ]
			...
		STUB
	done
}
