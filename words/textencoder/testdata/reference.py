"""Writes small networks of texts, their tokenizer and the embeddings that onnx's reference
evaluator computes, for the test of the same name: reference.py FOLDER"""

import json
import sys

import numpy as np
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh
from onnx.reference import ReferenceEvaluator
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

TEXTS = ["a photo of a cat.", "Dog", "", "a red fox in the snow, seen from far away", "été ü 狐", "cat " * 60,
         "a photo of a dog."]
LENGTH, WIDTH, DIM = 24, 16, 8
draw = np.random.default_rng(16)


def tokenizer():
    t = Tokenizer(models.BPE(unk_token="<end>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(TEXTS * 3, trainers.BpeTrainer(
        vocab_size=400, show_progress=False, end_of_word_suffix="</w>",
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    size = t.get_vocab_size()  # the end token has the highest number, as in CLIP
    made = json.loads(t.to_str())
    for i, name in enumerate(["<start>", "<end>"]):
        made["model"]["vocab"][name] = size + i
        made["added_tokens"].append({"id": size + i, "content": name, "single_word": False, "lstrip": False,
                                     "rstrip": False, "normalized": False, "special": True})
    t = Tokenizer.from_str(json.dumps(made))
    t.post_processor = processors.BertProcessing(("<end>", size + 1), ("<start>", size))
    return t


def table(name, *shape):
    return nh.from_array(draw.standard_normal(shape).astype(np.float32), name)


def whole(name, *values):
    return nh.from_array(np.array(values, np.int64), name)


def network(kind, vocab):
    """clip: each token sees those before, read at the highest number; masked: the mean of the tokens that count;
    all: the mean of all tokens, padding too."""
    elem = T.INT32 if kind == "all" else T.INT64
    shape = [1, LENGTH] if kind == "fixed" else ["n", "length"]
    inputs = [h.make_tensor_value_info("input_ids", elem, shape)]
    weights = [table("tokens", vocab, WIDTH), table("projection", WIDTH, DIM), whole("one", 1)]
    nodes = [h.make_node("Gather", ["tokens", "input_ids"], ["x"])]
    if kind == "masked":
        inputs.insert(0, h.make_tensor_value_info("attention_mask", T.INT64, shape))
        nodes += [h.make_node("Cast", ["attention_mask"], ["m"], to=T.FLOAT),
                  h.make_node("Unsqueeze", ["m", "two"], ["m3"]), h.make_node("Mul", ["x", "m3"], ["xm"]),
                  h.make_node("ReduceSum", ["xm", "one"], ["sum"], keepdims=0),
                  h.make_node("ReduceSum", ["m", "one"], ["count"], keepdims=1),
                  h.make_node("Div", ["sum", "count"], ["pooled"])]
        weights.append(whole("two", 2))
    elif kind == "all":
        nodes += [h.make_node("Tanh", ["x"], ["y"]), h.make_node("ReduceMean", ["y"], ["pooled"], axes=[1], keepdims=0)]
    else:
        weights.append(nh.from_array(np.array(1, np.int64), "axis"))
        nodes += [h.make_node("CumSum", ["x", "axis"], ["sums"]), h.make_node("Tanh", ["sums"], ["last_hidden_state"]),
                  h.make_node("ArgMax", ["input_ids"], ["end"], axis=1, keepdims=1),
                  h.make_node("GatherND", ["last_hidden_state", "end"], ["pooled"], batch_dims=1)]
    nodes.append(h.make_node("MatMul", ["pooled", "projection"], ["text_embeds"]))
    outputs = [h.make_tensor_value_info("text_embeds", T.FLOAT, ["n", DIM])]
    if kind in ("clip", "combined"):
        outputs.insert(0, h.make_tensor_value_info("last_hidden_state", T.FLOAT, ["n", "length", WIDTH]))
    if kind == "half":
        nodes.append(h.make_node("Cast", ["text_embeds"], ["halved"], to=T.FLOAT16))
        outputs = [h.make_tensor_value_info("halved", T.FLOAT16, ["n", DIM])]
    if kind == "combined":
        inputs.append(h.make_tensor_value_info("pixel_values", T.FLOAT, ["m", DIM, 4, 4]))
        nodes += [h.make_node("GlobalAveragePool", ["pixel_values"], ["mean"]),
                  h.make_node("Flatten", ["mean"], ["image_embeds"]),
                  h.make_node("Transpose", ["image_embeds"], ["columns"]),
                  h.make_node("MatMul", ["text_embeds", "columns"], ["logits_per_text"])]
        outputs += [h.make_tensor_value_info("image_embeds", T.FLOAT, ["m", DIM]),
                    h.make_tensor_value_info("logits_per_text", T.FLOAT, ["n", "m"])]
    graph = h.make_graph(nodes, kind, inputs, outputs, weights)
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 13)], ir_version=7)


def main(folder):
    t = tokenizer()
    t.save(f"{folder}/tokenizer.json")
    end = t.token_to_id("<end>")
    t.enable_truncation(LENGTH)
    t.enable_padding(length=LENGTH, pad_id=end, pad_token="<end>")
    ids = [e.ids for e in t.encode_batch(TEXTS)]
    masks = [e.attention_mask for e in t.encode_batch(TEXTS)]
    results = {}
    for kind in ["clip", "masked", "all", "fixed", "half", "combined"]:
        model = network(kind, t.get_vocab_size())
        with open(f"{folder}/{kind}.onnx", "wb") as f:
            f.write(model.SerializeToString())
        evaluator = ReferenceEvaluator(model)
        rows = []
        for i, m in zip(ids, masks):
            feeds = {"input_ids": np.array([i], np.int32 if kind == "all" else np.int64)}
            if kind == "masked":
                feeds["attention_mask"] = np.array([m], np.int64)
            if kind == "combined":
                feeds["pixel_values"] = np.ones((1, DIM, 4, 4), np.float32)
            row = evaluator.run(["halved" if kind == "half" else "text_embeds"], feeds)[0][0].astype(np.float64)
            rows.append((row / np.linalg.norm(row)).tolist())
        results[kind] = rows
    with open(f"{folder}/results.json", "w") as f:
        json.dump({"texts": TEXTS, "length": LENGTH, "rows": results}, f)


if __name__ == "__main__":
    main(sys.argv[1])
