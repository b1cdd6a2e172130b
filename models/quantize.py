#!/usr/bin/env python3
"""Quantize an ONNX backbone to 8 bits, calibrated on your own photos.

    python quantize.py net.onnx --images photos --out net-int8.onnx

Weights and activations become 8-bit integers (static quantization, weights per channel), with the ranges of the
activations taken from --count photos. The script then compares the new file with the old one, on photos that it did not
calibrate on: time per image, and cosine of the embeddings. Pass the file to the pipeline with --backbone.
Needs numpy, onnx, onnxruntime, pillow and PyYAML.
"""

import hashlib
import json
import logging
import os
import pathlib
import random
import statistics
import tempfile
import time

import numpy as np
import onnx
import yaml
from PIL import Image, ImageOps

import onnx_file

import onnxruntime  # after onnx_file, which sets an environment variable that it reads
from onnxruntime import quantization

CATALOGUE = pathlib.Path(__file__).with_name("catalogue.yaml")
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}
PENULTIMATE = "penultimate"  # as in the catalogue and in extractor.output
LINEAR = ("MatMul", "Gemm")
LAYERS = (*LINEAR, "Conv")
AVERAGES = ("GlobalAveragePool", "ReduceMean")
TIMED = 30  # passes of each network per number of threads


def parse_arguments():
    parser = onnx_file.new_parser(__doc__)
    parser.add_argument("backbone", type=pathlib.Path, metavar="FILE",
                        help="ONNX file with one float32 image input [N,3,S,S]")
    parser.add_argument("--images", type=pathlib.Path, required=True, metavar="DIR",
                        help="folder of photos like those to be labelled")
    parser.add_argument("--count", type=int, default=100, metavar="N",
                        help="photos to calibrate on (default 100); half as many others are used to compare")
    parser.add_argument("--linear-only", action="store_true",
                        help="quantize only the products with weight matrices and leave the rest in float32: "
                        "for transformers")
    parser.add_argument("--average-ranges", action="store_true",
                        help="range of an activation: the mean of its ranges on the photos, not the widest; "
                        "better for MobileNetV2")
    parser.add_argument("--reduce-range", action="store_true",
                        help="7-bit weights: for x86 processors without VNNI, whose 8-bit products can overflow")
    parser.add_argument("--output", default="", metavar="NAME",
                        help="tensor to keep, or penultimate; default: as in the catalogue, else the only output")
    parser.add_argument("--preprocess", default="", metavar="JSON",
                        help="preprocessing, as in the metadata key pipeline.preprocess; "
                        "default: that of the file, else of the catalogue")
    parser.add_argument("--seed", type=int, default=0, help="seed of the choice of photos (default 0)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="ONNX file to write")
    arguments = parser.parse_args()
    if arguments.out.suffix != ".onnx":
        parser.error(f"--out {arguments.out}: the name must end in .onnx")
    if arguments.count < 2:
        parser.error(f"--count {arguments.count}: must be at least 2")
    return arguments


def catalogue_entry(path):
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    entries = yaml.safe_load(CATALOGUE.read_text(encoding="utf-8"))
    return next((e for e in entries if e["sha256"] == sha256), {})


def preprocess_of(stated, metadata, entry, path):
    """The preprocessing as JSON and as a dictionary."""
    text = stated or metadata.get(onnx_file.PREPROCESS_KEY, "")
    if not text and "preprocess" in entry:
        text = json.dumps(entry["preprocess"], separators=(",", ":"))
    if not text:
        raise SystemExit(f"{path}: neither its metadata nor the catalogue states the preprocessing; "
                         "give it with --preprocess")
    try:
        spec = json.loads(text)
        for key in ("resize", "size", "crop", "interpolation", "mean", "std"):
            spec[key]
    except (ValueError, TypeError, KeyError) as err:
        raise SystemExit(f"{path}: the preprocessing {text} is not valid: {err!r}") from err
    return text, spec


def find_photos(folder, count, seed):
    """Photos to calibrate on, and photos to compare with, chosen at random."""
    photos = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    wanted = count + count // 2
    if len(photos) < wanted:
        raise SystemExit(f"{folder}: {len(photos)} photos; --count {count} needs {wanted}, "
                         "because half as many are kept for the comparison. Lower --count or add photos")
    chosen = random.Random(seed).sample(photos, wanted)
    return chosen[:count], chosen[count:]


def prepare(path, spec):
    """The input tensor [1,3,S,S] of a photo; the same geometry as preprocess.Spec in Go."""
    try:
        image = Image.open(path)
        if spec.get("orientation"):
            image = ImageOps.exif_transpose(image)
        image = image.convert("RGB")
    except (OSError, ValueError, Image.DecompressionBombError) as err:
        raise SystemExit(f"{path}: not a readable image; move it out of the folder: {err}") from err
    width, height = image.size
    size, crop = spec["size"], spec["crop"] or spec["size"]
    if spec["resize"] == "exact":
        width = height = size
    else:
        width, height = size * width // min(width, height), size * height // min(width, height)
    left, top = round((width - crop) / 2), round((height - crop) / 2)
    image = image.resize((width, height), Image.Resampling[spec["interpolation"].upper()])
    image = image.crop((left, top, left + crop, top + crop))
    x = np.asarray(image, np.float32) / 255
    x = (x - np.array(spec["mean"], np.float32)) / np.array(spec["std"], np.float32)
    return np.ascontiguousarray(x.transpose(2, 0, 1)[None])


def check_input(model, path):
    """The name of the only input."""
    weights = {w.name for w in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    if len(inputs) != 1:
        raise SystemExit(f"{path}: {len(inputs)} inputs, want one")
    tensor = inputs[0].type.tensor_type
    shape = [d.dim_value for d in tensor.shape.dim]
    if tensor.elem_type != onnx.TensorProto.FLOAT or len(shape) != 4 or shape[0] != 0 or shape[1] != 3:
        raise SystemExit(f"{path}: the input must be float32 [N,3,S,S] with N free, 0 below; "
                         f"it is {onnx.TensorProto.DataType.Name(tensor.elem_type)} {shape}")
    return inputs[0].name


def keep_output(model, name, path):
    """Make the tensor name the only output."""
    graph = model.graph
    if name == PENULTIMATE:
        linear = [n for n in graph.node if n.op_type in LINEAR]
        if not linear:
            raise SystemExit(f"{path}: no linear layer, so no penultimate tensor; name a tensor with --output")
        name = linear[-1].input[0]
    names = [o.name for o in graph.output]
    if not name and len(names) > 1:
        raise SystemExit(f"{path}: several outputs ({', '.join(names)}); choose with --output")
    name = name or names[0]
    if name not in names and not any(name in n.output for n in graph.node):
        raise SystemExit(f"{path}: no tensor {name}; its outputs are {', '.join(names)}")
    kept = next((o for o in graph.output if o.name == name), None)
    kept = kept or onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
    del graph.output[:]
    graph.output.append(kept)


class Reader(quantization.CalibrationDataReader):
    """Hands the photos to the calibration, one at a time."""

    def __init__(self, photos, spec, name):
        self.tensors = ({name: prepare(p, spec)} for p in photos)

    def get_next(self):
        return next(self.tensors, None)


def fold(model, path):
    """Write model with its constants folded, such as weights stored as float16, and batch normalization too."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = path
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def name_nodes(graph):
    """Give every node a name, by which quantize_static excludes them."""
    for i, node in enumerate(graph.node):
        node.name = node.name or f"{node.op_type}_{i}"


def from_last_average(graph):
    """The names of the nodes from the average over the last map on: nearly free, and 8 bits would round the embedding
    itself."""
    nodes = list(graph.node)
    layers = [i for i, node in enumerate(nodes) if node.op_type in LAYERS]
    averages = [i for i, node in enumerate(nodes) if node.op_type in AVERAGES and i > max(layers, default=-1)]
    return [node.name for node in nodes[averages[0]:]] if averages else []


def quantize(model, name, photos, spec, arguments):
    with tempfile.TemporaryDirectory() as folder:
        plain, small = (os.path.join(folder, f) for f in ("plain.onnx", "small.onnx"))
        fold(model, plain)
        folded = onnx.load(plain)
        name_nodes(folded.graph)
        onnx.save(folded, plain)
        logging.disable(logging.WARNING)  # it would ask for what fold has done
        quantization.quantize_static(
            plain, small, Reader(photos, spec, name),
            op_types_to_quantize=list(LINEAR) if arguments.linear_only else None,
            nodes_to_exclude=from_last_average(folded.graph),
            quant_format=quantization.QuantFormat.QDQ, per_channel=True, reduce_range=arguments.reduce_range,
            activation_type=quantization.QuantType.QUInt8, weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod.MinMax,
            extra_options={"CalibMovingAverage": arguments.average_ranges, "MatMulConstBOnly": arguments.linear_only})
        return onnx.load(small)


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def run(network, x):
    features, = network.run(None, {network.get_inputs()[0].name: x})
    if features.ndim != 2:
        raise SystemExit(f"the output is {features.shape}, want [N,d]; choose another with --output")
    return features


def milliseconds(network, x):
    start = time.perf_counter()
    run(network, x)
    return (time.perf_counter() - start) * 1000


def compare(before, after, photos, spec):
    """Print what it costs, the cosines of the embeddings, and what it buys, the time of one image."""
    tensors = [prepare(p, spec) for p in photos]
    for threads in sorted({1, os.cpu_count() or 1}):
        networks = session(before, threads), session(after, threads)
        if threads == 1:
            cosines = []
            for x in tensors:  # also warms both networks up
                f, g = (run(n, x)[0].astype(np.float64) for n in networks)
                cosines.append(float(f @ g / max(np.linalg.norm(f) * np.linalg.norm(g), 1e-30)))
            print(f"cosine on {len(tensors)} other photos: "
          f"median {statistics.median(cosines):.4f}, least {min(cosines):.4f}")
        # In turns, so that other work on the machine disturbs both alike.
        times = [[milliseconds(n, tensors[i % len(tensors)]) for n in networks] for i in range(TIMED)]
        slow, fast = (statistics.median(t) for t in zip(*times))
        print(f"ms per image, threads {threads}: float32 {slow:.2f}, 8 bits {fast:.2f} "
              f"({slow / fast:.2f} times as fast)")


def main():
    arguments = parse_arguments()
    path = arguments.backbone
    try:
        model = onnx.load(path)
    except Exception as err:  # protobuf's own exceptions differ between its implementations
        raise SystemExit(f"{path}: not a readable ONNX file: {err}") from err
    metadata = {p.key: p.value for p in model.metadata_props}
    entry = catalogue_entry(path)
    preprocess, spec = preprocess_of(arguments.preprocess, metadata, entry, path)
    name = check_input(model, path)
    keep_output(model, arguments.output or entry.get("output", ""), path)
    calibration, others = find_photos(arguments.images, arguments.count, arguments.seed)
    source = f"{metadata.get(onnx_file.SOURCE_KEY, path.name)}, 8 bits"

    try:
        small = quantize(model, name, calibration, spec, arguments)
    except Exception as err:  # of onnx, protobuf and ONNX Runtime, which share no base class
        raise SystemExit(f"{path}: ONNX Runtime cannot quantize it: {err}") from err
    del small.metadata_props[:]
    for key, value in ((onnx_file.PREPROCESS_KEY, preprocess), (onnx_file.SOURCE_KEY, source)):
        small.metadata_props.add(key=key, value=value)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    temporary = arguments.out.with_suffix(".part.onnx")
    try:
        onnx_file.save(small, temporary)
        compare(model.SerializeToString(), str(temporary), others, spec)
        os.replace(temporary, arguments.out)
    finally:
        temporary.unlink(missing_ok=True)
    onnx_file.report(arguments.out, preprocess, source)


if __name__ == "__main__":
    main()
