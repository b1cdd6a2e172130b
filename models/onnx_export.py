"""Shared by the export scripts: PyTorch module in, one self-contained ONNX file out.

The pipeline relies on these properties of the file:
input `input` float32 [N, 3, S, S], output `features` float32 [N, d], N free;
weights inside the file; preprocessing in the metadata key `pipeline.preprocess`.
"""

import contextlib
import dataclasses
import json
import logging
import os
import pathlib
import warnings

import numpy as np
import onnx
import torch

from onnx_file import INPUT_NAME, OUTPUT_NAME, PREPROCESS_KEY, SOURCE_KEY, new_parser, report, save  # noqa: F401

import onnxruntime  # after onnx_file, which sets an environment variable that it reads

FP16_MIN_ELEMENTS = 256  # biases and scalars stay float32: nothing to gain
VERIFY_BATCHES = (1, 3)
# Largest |difference| to PyTorch, as a share of the largest |feature|.
TOLERANCE_FP32 = 1e-3
TOLERANCE_FP16_WEIGHTS = 5e-2

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Spec:
    """How a photo becomes the input tensor; same fields as preprocess.Spec in Go."""

    resize: str = "shorter"
    size: int  # pixels: the shorter side after resizing, or the exact side
    crop: int  # pixels: side of the centre crop, which is the network's input side
    interpolation: str = "bicubic"
    mean: tuple = IMAGENET_MEAN
    std: tuple = IMAGENET_STD
    orientation: bool = True  # apply the EXIF orientation first

    def to_json(self):
        return json.dumps(dataclasses.asdict(self), separators=(",", ":"))


@dataclasses.dataclass(frozen=True)
class Options:
    """Values of the common command-line arguments."""

    out: pathlib.Path
    opset: int
    fp16_weights: bool
    seed: int


def add_common_arguments(parser):
    parser.add_argument("--out", type=pathlib.Path, required=True, help="ONNX file to write")
    parser.add_argument("--size", type=int, default=None, metavar="PIXELS",
                        help="input side; default: the side that the model was trained for")
    parser.add_argument("--opset", type=int, default=18, help="ONNX operator set (default 18)")
    parser.add_argument("--fp16-weights", action="store_true",
                        help="store weights as float16 (half the file); arithmetic stays float32")
    parser.add_argument("--random-weights", action="store_true",
                        help="no download, untrained weights; only for checking the export")
    parser.add_argument("--seed", type=int, default=0, help="seed of --random-weights (default 0)")


def options_from(arguments):
    return Options(arguments.out, arguments.opset, arguments.fp16_weights, arguments.seed)


def parse(parser):
    """Parse the command line; invalid values end the program through argparse with exit code 2."""
    arguments = parser.parse_args()
    if arguments.out.suffix != ".onnx":
        parser.error(f"--out {arguments.out}: the name must end in .onnx")
    if arguments.size is not None and arguments.size < 1:
        parser.error(f"--size {arguments.size}: must be at least 1")
    return arguments


def resize_with(side, native_side, native_size):
    """Size of the resize for an input side, in the model's own size-to-crop ratio."""
    return round(side * native_size / native_side)


def export(module, side, spec, source, options):
    """Write module as ONNX to options.out, check it against PyTorch, print its properties."""
    module = module.eval().float()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.out.with_suffix(".part.onnx")
    try:
        _trace(module, side, temporary, options.opset)
        model = onnx.load(temporary)
        _finish(model, spec, source, options)
        save(model, temporary)
        _verify(module, side, temporary, options)
        os.replace(temporary, options.out)
    finally:
        temporary.unlink(missing_ok=True)
    report(options.out, spec.to_json(), source)


def _trace(module, side, path, opset):
    example = torch.zeros(2, 3, side, side)  # 2, because a batch of 1 would become a constant
    with _quiet(), torch.no_grad():
        torch.onnx.export(
            module, (example,), str(path), dynamo=True, external_data=False,
            input_names=[INPUT_NAME], output_names=[OUTPUT_NAME], opset_version=opset,
            dynamic_shapes=({0: torch.export.Dim("N")},), verbose=False)


@contextlib.contextmanager
def _quiet():
    """Silence the exporter's messages; errors are exceptions anyway."""
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(logging.NOTSET)


def _finish(model, spec, source, options):
    _strip_traces(model)
    if options.fp16_weights:
        _store_weights_as_fp16(model.graph)
    del model.metadata_props[:]
    for key, value in ((PREPROCESS_KEY, spec.to_json()), (SOURCE_KEY, source)):
        model.metadata_props.add(key=key, value=value)


def _strip_traces(model):
    """Remove source paths and stack traces, which name folders of the exporting machine."""
    graphs = [model.graph, *model.functions]
    for graph in graphs:
        graph.doc_string = ""
        del graph.metadata_props[:]
        for part in (*graph.node, *graph.value_info):
            part.doc_string = ""
            del part.metadata_props[:]
    for part in (*model.graph.initializer, *model.graph.input, *model.graph.output):
        part.doc_string = ""
        del part.metadata_props[:]


def _store_weights_as_fp16(graph):
    """Replace each large float32 weight by a float16 one and a Cast back to float32.

    ONNX Runtime folds the Cast when it loads the file, so inference is as fast as before.
    """
    casts = []
    for weight in graph.initializer:
        if weight.data_type != onnx.TensorProto.FLOAT:
            continue
        values = onnx.numpy_helper.to_array(weight)
        if values.size < FP16_MIN_ELEMENTS or not _fits_fp16(values):
            continue
        name = weight.name
        weight.CopyFrom(onnx.numpy_helper.from_array(values.astype(np.float16), name + "_fp16"))
        casts.append(onnx.helper.make_node("Cast", [name + "_fp16"], [name], to=onnx.TensorProto.FLOAT))
    nodes = casts + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)


def _fits_fp16(values):
    return bool(np.all(np.abs(values) <= np.finfo(np.float16).max))


def _verify(module, side, path, options):
    """Run ONNX Runtime and PyTorch on the same noise; a difference above the tolerance is an error."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    generator = torch.Generator().manual_seed(options.seed)
    for batch in VERIFY_BATCHES:
        pixels = torch.randn(batch, 3, side, side, generator=generator)
        with torch.no_grad():
            expected = module(pixels).numpy()
        features, = session.run([OUTPUT_NAME], {INPUT_NAME: pixels.numpy()})
        _compare(features, expected, batch, options)


def _compare(features, expected, batch, options):
    if features.shape != expected.shape or features.ndim != 2:
        raise SystemExit(f"batch {batch}: features {features.shape}, PyTorch {expected.shape}; want [N, d]")
    difference = float(np.abs(features - expected).max())
    scale = float(np.abs(expected).max())
    tolerance = TOLERANCE_FP16_WEIGHTS if options.fp16_weights else TOLERANCE_FP32
    print(f"batch {batch}: max |delta| {difference:.3g} (largest |feature| {scale:.3g})")
    if not difference <= tolerance * scale:
        raise SystemExit(f"batch {batch}: ONNX and PyTorch differ by more than {tolerance:g} of the largest feature")
