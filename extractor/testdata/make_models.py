"""Writes the tiny models of the extractor's and onnx's tests.

    python make_models.py

Needs onnx and numpy (any recent version; the files are opset 13, IR 7).
All weights are small integers or powers of two, so the tests' expected
values are exact.
"""
import os

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

HERE = os.path.dirname(os.path.abspath(__file__))


def const(name, a, dtype=np.float32):
    return nh.from_array(np.asarray(a, dtype=dtype), name)


def save(name, nodes, inputs, outputs, weights=(), meta=None, opset=13):
    graph = h.make_graph(nodes, name, inputs, outputs, list(weights))
    model = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], ir_version=7, producer_name="make_models")
    for key, value in (meta or {}).items():
        p = model.metadata_props.add()
        p.key, p.value = key, value
    with open(os.path.join(HERE, name + ".onnx"), "wb") as f:
        f.write(model.SerializeToString())


def image(shape, elem=T.FLOAT):
    return h.make_tensor_value_info("input", elem, shape)


def out(name, shape, elem=T.FLOAT):
    return h.make_tensor_value_info(name, elem, shape)


# A 1x1 convolution: colours (r, g, b) -> (r, g, b, r+2g+4b).
MIX = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 2, 4]], np.float32)
KERNEL = MIX.reshape(4, 3, 1, 1)


def conv(kernel="k"):
    return h.make_node("Conv", ["input", kernel], ["map"])


POOL = [h.make_node("GlobalAveragePool", ["map"], ["pooled"]), h.make_node("Flatten", ["pooled"], ["features"])]

# Rank 2, free batch, side 4, preprocessing in the metadata.
save("nchw", [conv()] + POOL, [image(["n", 3, 4, 4])], [out("features", ["n", 4])], [const("k", KERNEL)],
     meta={"pipeline.preprocess": '{"resize":"shorter","size":4,"crop":4}'})

# The same, height and width free.
save("free_side", [conv()] + POOL, [image(["n", 3, "h", "w"])], [out("features", ["n", 4])], [const("k", KERNEL)])

# The same from NHWC: ReduceMean over height and width of input x MIX^T; also as a map.
nhwc = [h.make_node("MatMul", ["input", "k"], ["map"]),
        h.make_node("ReduceMean", ["map"], ["features"], axes=[1, 2], keepdims=0)]
save("nhwc", nhwc, [image(["n", 4, 4, 3])], [out("features", ["n", 4]), out("map", ["n", 4, 4, 4])], [const("k", MIX.T)])

# float16 in and out.
save("half", [conv()] + POOL, [image(["n", 3, 4, 4], T.FLOAT16)], [out("features", ["n", 4], T.FLOAT16)],
     [const("k", KERNEL, np.float16)])

# 8 bits, as onnxruntime's quantization writes them: weights per channel, colours in steps of 1/8 from 0.
QDQ = [h.make_node("QuantizeLinear", ["input", "step", "zero"], ["colours8"]),
       h.make_node("DequantizeLinear", ["colours8", "step", "zero"], ["colours"]),
       h.make_node("DequantizeLinear", ["k8", "k_steps", "k_zeros"], ["k"], axis=0),
       h.make_node("Conv", ["colours", "k"], ["map"])]
save("int8", QDQ + POOL, [image(["n", 3, 4, 4])], [out("features", ["n", 4])],
     [const("step", 1 / 8), const("zero", 0, np.uint8), const("k8", KERNEL * [[[[4]]], [[[2]]], [[[1]]], [[[1]]]], np.int8),
      const("k_steps", [1 / 4, 1 / 2, 1, 1]), const("k_zeros", [0, 0, 0, 0], np.int8)])

# Fixed batch of 4.
save("batch4", [conv()] + POOL, [image([4, 3, 4, 4])], [out("features", [4, 4])], [const("k", KERNEL)])

# A spatial map as the only output.
save("map", [conv()], [image(["n", 3, 4, 4])], [out("map", ["n", 4, 4, 4])], [const("k", KERNEL)])

# Tokens [n,16,4]: one per pixel, row by row.
save("tokens",
     [conv(), h.make_node("Reshape", ["map", "shape"], ["columns"]),
      h.make_node("Transpose", ["columns"], ["tokens"], perm=[0, 2, 1])],
     [image(["n", 3, 4, 4])], [out("tokens", ["n", 16, 4])], [const("k", KERNEL), const("shape", [0, 4, -1], np.int64)])

# A map of 2x2 pixels, channels first and last.
SMALL = h.make_node("Conv", ["input", "k"], ["map"], strides=[2, 2])
save("map_first", [SMALL], [image(["n", 3, 4, 4])], [out("map", ["n", 4, 2, 2])], [const("k", KERNEL)])
save("map_last", [SMALL, h.make_node("Transpose", ["map"], ["last"], perm=[0, 2, 3, 1])], [image(["n", 3, 4, 4])],
     [out("last", ["n", 2, 2, 4])], [const("k", KERNEL)])


# Tokens with some before those of the pixels, all of which are their mean, plus a weight of zeros.
def tokens_with(name, more, weight="blocks.cls_token"):
    save(name,
         [conv(), h.make_node("Reshape", ["map", "shape"], ["columns"]), h.make_node("Transpose", ["columns"], ["pixels"], perm=[0, 2, 1]),
          h.make_node("ReduceMean", ["pixels"], ["mean"], axes=[1], keepdims=1), h.make_node("Add", ["mean", weight], ["special"]),
          h.make_node("Concat", ["special"] * more + ["pixels"], ["tokens"], axis=1)],
         [image(["n", 3, 4, 4])], [out("tokens", ["n", 16 + more, 4])],
         [const("k", KERNEL), const("shape", [0, 4, -1], np.int64), const(weight, np.zeros((1, 1, 4)))])


tokens_with("tokens_class", 1)
tokens_with("tokens_registers", 5)
tokens_with("tokens_odd", 3)
tokens_with("tokens_register", 1, "blocks.reg_token")

# An image and a text encoder in one graph.
save("pair",
     [h.make_node("Gather", ["words", "ids"], ["word"]), h.make_node("ReduceMean", ["word"], ["text_embeds"], axes=[1], keepdims=0),
      conv(), POOL[0], h.make_node("Flatten", ["pooled"], ["image_embeds"]),
      h.make_node("Transpose", ["text_embeds"], ["turned"], perm=[1, 0]), h.make_node("MatMul", ["image_embeds", "turned"], ["logits"])],
     [h.make_tensor_value_info("ids", T.INT64, ["k", "l"]), image(["n", 3, 4, 4])],
     [out("logits", ["n", "k"]), out("text_embeds", ["k", 4]), out("image_embeds", ["n", 4])],
     [const("words", np.eye(4)), const("k", KERNEL)])

# Two outputs without recognisable names.
save("two", [conv()] + POOL + [h.make_node("Neg", ["features"], ["b"]), h.make_node("Identity", ["features"], ["a"])],
     [image(["n", 3, 4, 4])], [out("a", ["n", 4]), out("b", ["n", 4])], [const("k", KERNEL)])

# A classifier: features -> Gemm(4 -> 2) -> Softmax; and MatMul + Add, through Identity.
W = np.array([[1, 0], [0, 1], [1, 0], [0, 1]], np.float32)
save("classifier",
     [conv()] + POOL + [h.make_node("Gemm", ["features", "w", "c"], ["logits"]), h.make_node("Softmax", ["logits"], ["probabilities"])],
     [image(["n", 3, 4, 4])], [out("probabilities", ["n", 2])], [const("k", KERNEL), const("w", W), const("c", [0, 1])])
save("classifier_matmul",
     [conv()] + POOL + [h.make_node("MatMul", ["features", "w"], ["product"]), h.make_node("Add", ["c", "product"], ["logits"]),
                        h.make_node("Identity", ["logits"], ["scores"])],
     [image(["n", 3, 4, 4])], [out("scores", ["n", 2])], [const("k", KERNEL), const("w", W), const("c", [0, 1])])

# log(colour): not finite for colours <= 0.
save("log", [h.make_node("GlobalAveragePool", ["input"], ["pooled"]), h.make_node("Log", ["pooled"], ["log"]),
             h.make_node("Flatten", ["log"], ["features"])], [image(["n", 3, 4, 4])], [out("features", ["n", 3])])

# Free batch, but a photo's features depend on its neighbours; and only one photo runs.
save("neighbours", [conv()] + POOL[:1] + [h.make_node("Flatten", ["pooled"], ["own"]), h.make_node("ReduceMax", ["own"], ["most"], axes=[0], keepdims=1),
                                          h.make_node("Add", ["own", "most"], ["features"])],
     [image(["n", 3, 4, 4])], [out("features", ["n", 4])], [const("k", KERNEL)])
save("one_only", [conv()] + POOL[:1] + [h.make_node("Reshape", ["pooled", "shape"], ["features"])],
     [image(["n", 3, 4, 4])], [out("features", ["n", 4])], [const("k", KERNEL), const("shape", [1, 4], np.int64)])

# Colours of bytes.
save("bytes", [h.make_node("Cast", ["input"], ["f"], to=T.FLOAT), h.make_node("Flatten", ["f"], ["features"])],
     [image(["n", 3, 4, 4], T.UINT8)], [out("features", ["n", 48])])

# Models that are refused.
save("two_inputs", [h.make_node("Add", ["input", "other"], ["sum"])], [image(["n", 3, 4, 4]), h.make_tensor_value_info("other", T.FLOAT, ["n", 3, 4, 4])],
     [out("sum", ["n", 3, 4, 4])])
save("grey", [h.make_node("Flatten", ["input"], ["features"])], [image(["n", 1, 4, 4])], [out("features", ["n", 16])])
save("oblong", [h.make_node("Flatten", ["input"], ["features"])], [image(["n", 3, 4, 8])], [out("features", ["n", 96])])
save("any_axis", [h.make_node("Flatten", ["input"], ["features"])], [image(["n", "a", "b", "c"])], [out("features", ["n", "d"])])
save("no_operator", [h.make_node("Frobnicate", ["input"], ["features"], domain="nowhere")], [image(["n", 3, 4, 4])], [out("features", ["n", 48])])
save("future", [h.make_node("Flatten", ["input"], ["features"])], [image(["n", 3, 4, 4])], [out("features", ["n", 48])], opset=999)

external = const("k", KERNEL)
external.ClearField("raw_data")
external.data_location = T.EXTERNAL
for key, value in (("location", "../../../etc/passwd"), ("offset", "0"), ("length", "48")):
    e = external.external_data.add()
    e.key, e.value = key, value
save("external", [conv()] + POOL, [image(["n", 3, 4, 4])], [out("features", ["n", 4])], [external])

# A loop without an end, after the pooled colours.
carried = h.make_tensor_value_info("value", T.FLOAT, None)
body = h.make_graph([h.make_node("Identity", ["go"], ["on"]), h.make_node("Sin", ["value"], ["next"])], "body",
                    [h.make_tensor_value_info("round", T.INT64, []), h.make_tensor_value_info("go", T.BOOL, []), carried],
                    [h.make_tensor_value_info("on", T.BOOL, []), h.make_tensor_value_info("next", T.FLOAT, None)])
save("endless", [conv()] + POOL[:1] + [h.make_node("Flatten", ["pooled"], ["own"]), h.make_node("Loop", ["", "yes", "own"], ["features"], body=body)],
     [image(["n", 3, 4, 4])], [out("features", ["n", 4])], [const("k", KERNEL), const("yes", True, np.bool_)])
