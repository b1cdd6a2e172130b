# What the scripts of this folder fetch, for them to source. $here, $downloads and $work are
# folders: this one, .dist, and one that goes when the script ends.

say() { echo "$(basename "$0" .sh): $*" >&2; }
die() { say "$*"; exit 1; }

# Zig, as a C compiler that links against an old glibc.
compiler() {
	local venv=$downloads/zig
	cmp -s $here/compiler.txt "$venv/compiler.txt" && return
	say "installing the C compiler into .dist/zig (once)"
	rm -rf "$venv"
	python3 -m venv "$venv"
	"$venv/bin/pip" install --quiet --require-hashes --only-binary :all: -r $here/compiler.txt
	cp $here/compiler.txt "$venv/compiler.txt"
}

# compiler_for TARGET FLAG... prints the path of the C compiler for a target of Zig, with flags.
compiler_for() {
	local cc=$downloads/cc-$1 # not in $work: Go would compile again for every path
	# Go asks a compiler what it is by compiling nothing: Zig writes that, too.
	printf '#!/bin/sh\n[ "$1" != "-###" ] || set -- "$@" -o /dev/null\nexec "%s" -m ziglang cc -target%s "$@"\n' \
		"$downloads/zig/bin/python" "$(printf ' %q' "$@")" >"$cc"
	chmod +x "$cc"
	echo "$cc"
}

# from_debian FOLDER TYPE RELEASE COMMAND... runs apt-get in a folder, with packages or
# sources of a release of Debian.
from_debian() {
	local into=$1 type=$2 release=$3 mirror apt
	shift 3
	command -v apt-get >/dev/null || die "put the files of $here/debian.sha256, from Debian's $release, into .dist/debian"
	mkdir -p "$work"/apt/{lists/partial,cache/archives/partial}
	mirror=$({ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } | sed -nE 's/^(URIs:|deb( \[[^]]*\])?) *(http[^ ]*\/debian)\/?( .*)?$/\3/p' | head -1)
	[ -n "$mirror" ] || die "this machine's apt has no Debian mirror: put the files of $here/debian.sha256, from Debian's $release, into .dist/debian"
	echo "$type $mirror $release main" >"$work/apt/sources.list"
	apt=(apt-get -qq -o "Dir::Etc::SourceList=$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State::Lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o "APT::Architecture=$arch" -o APT::Sandbox::User=root)
	"${apt[@]}" update
	(cd "$into" && "${apt[@]}" "$@")
}

# wanted NAMES prints the lines of debian.sha256 for files whose names match.
wanted() { grep -E "  ($1)$" $here/debian.sha256 || die "$here/debian.sha256 pins no $1"; }

# pinned NAMES TYPE RELEASE COMMAND... puts those files into .dist/debian, from the mirror
# that this machine uses for its own packages, unless they are there.
pinned() {
	local into=$downloads/debian names=$1
	shift
	mkdir -p "$into"
	wanted "$names" >"$work/wanted"
	(cd "$into" && sha256sum --status --check "$work/wanted" 2>/dev/null) && return
	say "fetching from Debian: $names (once)"
	from_debian "$into" "$@"
	(cd "$into" && sha256sum --quiet --check "$work/wanted") || die "Debian's files are not those of $here/debian.sha256"
}

# unpack NAMES FOLDER unpacks those files, which are packages.
unpack() {
	local file
	wanted "$1" | while read -r _ file; do dpkg-deb -x "$downloads/debian/$file" "$2"; done
}
