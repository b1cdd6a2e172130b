#!/usr/bin/env bash
# Builds out/dist/pipeline-VERSION-linux-ARCH.tar.xz: the program, the libraries
# that it loads, licences, completions and manual pages. Unpacked anywhere, it runs without
# network on Linux with glibc 2.28 or newer and nothing else. The same files go into
# pipeline_VERSION_ARCH.deb, where dpkg-deb is installed. The same tree gives the same
# bytes.
#
# Only on Linux; arm64 is cross-built and has only been run under QEMU. The libraries
# come by pipeline setup, and libstdc++ and libgcc_s, which
# ONNX Runtime needs, from Debian 11, whose builds run on glibc 2.18. Everything
# is checked against hashes in the project. Downloads are kept in .dist.
# sbom.cdx.json in it, and pipeline-VERSION-linux-ARCH.cdx.json beside it, list what it
# contains (CycloneDX).
#
# "windows" makes pipeline-VERSION-windows-amd64.zip: cross-built, run under Wine by wine.sh.
#
# usage: dist.sh [amd64|arm64|windows]      VERSION and SOURCE_DATE_EPOCH may be set
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/dist
arch=${1:-amd64} os=linux exe=
downloads=$PWD/.dist
version=${VERSION:-$(sed -n 's/^var version = "\(.*\)"$/\1/p' cmd/pipeline/command/root.go)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} LC_ALL=C TZ=UTC

. $here/fetch.sh

case $arch in
amd64) zig=x86_64-linux-gnu.2.28 multiarch=x86_64-linux-gnu ;;
arm64) zig=aarch64-linux-gnu.2.28 multiarch=aarch64-linux-gnu ;;
windows) zig=x86_64-windows-gnu arch=amd64 os=windows exe=.exe ;;
*) die "no archive is made for $arch: amd64, arm64 or windows" ;;
esac
[ "$(uname -s)" = Linux ] || die "needs Linux"

mkdir -p "$downloads" out/dist
work=$(mktemp -d "$downloads/work.XXXXXX")
trap 'rm -rf "$work"' EXIT

# libstdc++ and libgcc_s of Debian 11, with their licences.
debian() {
	local names="(gcc-10-base|libgcc-s1|libstdc[+][+]6)_.*_$arch.deb"
	pinned "$names" "deb [arch=$arch]" bullseye download gcc-10-base/bullseye libgcc-s1/bullseye libstdc++6/bullseye
	unpack "$names" "$work/debian"
}

program() {
	local module=github.com/seed-90d10d51/pipeline
	CGO_ENABLED=1 GOOS=$os GOARCH=$arch CC=$(compiler_for $zig) GOFLAGS=-buildvcs=false \
		go build -trimpath -ldflags "-s -w -buildid= -extldflags=-s -X $module/cmd/pipeline/command.version=$version -X $module/internal/build.revision=$commit" -o "$1" ./cmd/pipeline
}

commit=$(git rev-parse --verify --quiet HEAD || true)
compiler
[ $os = windows ] || debian
name=pipeline-$version-$os-$arch
root=$work/$name
mkdir -p "$root"/{lib,licences,completions,man/man1}
say "building $name"
program "$root/pipeline$exe"

native=$root/pipeline
if [ "$os/$arch" != "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then
	native=$work/native
	go build -o "$native" ./cmd/pipeline
fi
libraries=$downloads/libraries-$os-$arch # of this and of other releases
"$native" setup --platform "$os/$arch" --into "$libraries" >&2
"$native" setup --platform "$os/$arch" --from "$libraries" --into "$work/libraries" >&2
install -m 644 "$work"/libraries/*.txt $here/licences/* "$root/licences/"
rm "$work"/libraries/*.txt
install -m 644 "$work"/libraries/* "$root/lib/"
if [ $os = linux ]; then
	install -m 644 "$work/debian/usr/lib/$multiarch/libstdc++.so.6" "$work/debian/lib/$multiarch/libgcc_s.so.1" "$root/lib/"
	install -m 644 "$work/debian/usr/share/doc/gcc-10-base/copyright" "$root/licences/libstdc++-libgcc.txt"
fi

install -m 644 LICENSE CHANGELOG.md "$root/"
install -m 644 $here/README.txt "$root/README.txt"
sed "s/VERSION/$version/" $here/NOTICE.txt >"$root/NOTICE.txt"
go run ./$here/notices ./cmd/pipeline "$root/licences/go" $os/$arch

go run ./$here/sbom "$root" "$version" "$os/$arch" >"$root/sbom.cdx.json"

find "$root" -type d -exec chmod 755 {} +
find "$root" -type f ! -name pipeline -exec chmod 644 {} +
if [ $os = windows ]; then
	file=$name.zip
	"$native" completion powershell >"$root/completions/pipeline.ps1"
	rmdir "$root/man/man1" "$root/man"
	find "$root" -exec touch --date="@$SOURCE_DATE_EPOCH" {} +
	(cd "$work" && python3 -m zipfile -c archive "$name") # in the order of the names
else
	file=$name.tar.xz
	for shell in bash zsh fish; do "$native" completion $shell >"$root/completions/pipeline.$shell"; done
	go test -count=1 ./cmd/pipeline/command -run '^TestManual$' -manual "$root/man/man1" >/dev/null
	tar --create --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" "$name" |
		xz --threads=1 -9 >"$work/archive" # by several threads, in blocks: larger
fi
mv "$work/archive" "out/dist/$file"
cp "$root/sbom.cdx.json" "out/dist/$name.cdx.json"

# debian_package moves the same files to Debian's places.
debian_package() {
	local root=$1 deb=$work/deb file=pipeline_${version//-/\~}_$arch.deb # 1.0~dev is older than 1.0
	mkdir -p "$deb"/{DEBIAN,usr/bin,usr/lib/pipeline,usr/share/{man/man1,doc/pipeline,bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d}}
	cp "$root/pipeline" "$deb/usr/bin/"
	cp "$root"/lib/* "$deb/usr/lib/pipeline/"
	cp "$root"/man/man1/* "$deb/usr/share/man/man1/"
	gzip --no-name -9 "$deb"/usr/share/man/man1/*
	cp -r "$root"/{licences,README.txt,CHANGELOG.md,sbom.cdx.json} "$deb/usr/share/doc/pipeline/"
	cat "$root/NOTICE.txt" LICENSE >"$deb/usr/share/doc/pipeline/copyright"
	cp "$root/completions/pipeline.bash" "$deb/usr/share/bash-completion/completions/pipeline"
	cp "$root/completions/pipeline.zsh" "$deb/usr/share/zsh/vendor-completions/_pipeline"
	cp "$root/completions/pipeline.fish" "$deb/usr/share/fish/vendor_completions.d/pipeline.fish"
	cat >"$deb/DEBIAN/control" <<-CONTROL
		Package: pipeline
		Version: ${version//-/\~}
		Architecture: $arch
		Maintainer: pipeline maintainers <pipeline@example.org>
		Installed-Size: $(du -sk "$deb/usr" | cut -f1)
		Depends: libc6 (>= 2.28)
		Section: graphics
		Priority: optional
		Description: label folders of photos
		 Learns classes from a few photos each and labels folders with probabilities.
		 Later classes are learned without forgetting the earlier ones.
	CONTROL
	find "$deb" -type d -exec chmod 755 {} +
	find "$deb" -type f ! -path '*/bin/*' -exec chmod 644 {} +
	dpkg-deb --root-owner-group -Zxz --build "$deb" "$work/package.deb" >/dev/null
	mv "$work/package.deb" "out/dist/$file"
	(cd out/dist && sha256sum "$file" >"$file.sha256")
	say "out/dist/$file"
}
[ $os = windows ] || ! command -v dpkg-deb >/dev/null || debian_package "$root"
(cd out/dist && for each in "$file" "$name.cdx.json"; do sha256sum "$each" >"$each.sha256"; done)
[ $os = windows ] || PIPELINE_ARCHIVE=$PWD/out/dist/$file go test -count=1 ./$here >&2
say "out/dist/$file, $(($(stat -c %s "out/dist/$file") / 1000000)) MB"
