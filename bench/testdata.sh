#!/usr/bin/env bash
# Makes testdata: features computed by Python, for TestFeaturesAgainstPython.
#
#     bench/testdata.sh PYTHON SHARED
#
# PYTHON needs onnxruntime, Pillow and NumPy; SHARED is the folder of photos and
# backbones. photos: 20 JPEG files of Caltech-101. pixels: our own PNG files,
# which every decoder reads identically.
set -euo pipefail
python=$1 shared=$2
cd "$(dirname "$0")"
for backbone in vit_tiny_patch16_224:vit-0.5 mobilenetv2_features:imagenet; do
	name=${backbone%%:*}
	features() {
		"$python" features.py --half --backbone "$shared/models/$name.onnx" --preset "${backbone##*:}" "$@"
	}
	features --images "$shared/data/caltech101_10" --per-class 1 --step 5 --out "testdata/$name/photos"
	features --images ../preprocess/testdata/images --out "testdata/$name/pixels" \
		RGB.png noise_29x100.png noise_32x32.png noise_47x61.png noise_61x47.png noise_100x29.png orientation_6.png
done
