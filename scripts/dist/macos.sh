# What builds for macOS without Apple's SDK, for scripts to source.

# mac_compiler prints the path of the C compiler for macOS, which finds what Zig lacks in .dist/stubs.
mac_compiler() {
	stubs "$downloads/stubs"
	compiler_for aarch64-macos.14.0 -Wno-unused-command-line-argument -idirafter "$downloads/stubs" "-F$downloads/stubs" "-L$downloads/stubs"
}

# stubs FOLDER writes there what the linker has to know of the system's libraries that Zig does
# not know, their names and the functions that Go's own packages import from them, and the
# declaration of the one function that github.com/VictoriaMetrics/metrics includes a header for.
stubs() {
	local library short names imports
	imports=$(grep -rhoE '^//go:cgo_import_dynamic [^ ]+ [^ ]+ "/[^"]+"' "$(go env GOROOT)/src" --include='*.go' |
		awk '{gsub("\"", "", $4); print $4, $3}' | sort -u)
	for library in $(cut -d' ' -f1 <<<"$imports" | uniq); do
		names=$(awk -v library="$library" '$1 == library {printf "%s_%s", comma, $2; comma = ", "}' <<<"$imports")
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
	mkdir -p "$1/mach"
	echo 'kern_return_t mach_vm_region(vm_map_read_t, mach_vm_address_t *, mach_vm_size_t *, vm_region_flavor_t,
		vm_region_info_t, mach_msg_type_number_t *, mach_port_t *);' >"$1/mach/mach_vm.h"
}
