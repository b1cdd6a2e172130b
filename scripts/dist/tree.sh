# Builds what the archive, the Debian package and the wheel for a system have in common, for
# their scripts to source: the folder $root, $name in $work, with the program, the libraries
# that it loads in lib, licences and a list of contents (sbom.cdx.json, CycloneDX). $arch, $os and
# $version say for what. The same tree gives the same bytes.
#
# Only on Linux, where the others are cross-built. The libraries come by pipeline setup,
# and libstdc++ and libgcc_s, which ONNX Runtime needs, from Debian 11, whose builds run on glibc
# 2.18. Everything is checked against hashes in the project. Downloads are kept in .dist.
arch=${1:-amd64} os=linux exe= downloads=$PWD/.dist
. $here/fetch.sh
. $here/macos.sh
version=${VERSION:-$(sed -n 's/^var version = "\(.*\)"$/\1/p' cmd/pipeline/command/root.go)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)} LC_ALL=C TZ=UTC

case $arch in
amd64) zig=x86_64-linux-gnu.2.28 multiarch=x86_64-linux-gnu ;;
arm64) zig=aarch64-linux-gnu.2.28 multiarch=aarch64-linux-gnu ;;
macos) arch=arm64 os=darwin ;;
windows) zig=x86_64-windows-gnu arch=amd64 os=windows exe=.exe ;;
*) die "nothing is built for $arch: amd64, arm64, macos or windows" ;;
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
	local stamps="-X $module/cmd/pipeline/command.version=$version -X $module/internal/build.revision=$commit"
	CGO_ENABLED=1 GOOS=$os GOARCH=$arch CC=$cc GOFLAGS=-buildvcs=false \
		go build -trimpath -ldflags "-s -w -buildid= -extldflags=-s $stamps" -o "$1" ./cmd/pipeline
}

commit=$(git rev-parse --verify --quiet HEAD || true)
compiler
case $os in
darwin) cc=$(mac_compiler) ;;
*) cc=$(compiler_for $zig) ;;
esac
[ $os != linux ] || debian
name=pipeline-$version-$os-$arch
root=$work/$name
mkdir -p "$root"/{lib,licences}
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

