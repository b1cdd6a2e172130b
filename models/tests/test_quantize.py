"""Tests of quantize.py: python3 -m unittest discover models/tests (needs requirements.txt)."""
import os
import sys
import unittest

import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import quantize


def graph(*operators):
    """A chain of nodes without names."""
    nodes = [onnx.helper.make_node(op, [f"t{i}"], [f"t{i + 1}"]) for i, op in enumerate(operators)]
    value = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
    return onnx.helper.make_graph(nodes, "chain", [value("t0")], [value(f"t{len(nodes)}")])


class LastAverageTest(unittest.TestCase):
    def excluded(self, *operators):
        g = graph(*operators)
        quantize.name_nodes(g)
        self.assertEqual(len({node.name for node in g.node}), len(operators))
        return [next(node.op_type for node in g.node if node.name == name) for name in quantize.from_last_average(g)]

    def test_average_and_what_follows_stay_as_they_are(self):
        self.assertEqual(self.excluded("Conv", "Relu", "GlobalAveragePool", "Flatten", "Abs", "Pow"),
                         ["GlobalAveragePool", "Flatten", "Abs", "Pow"])
        self.assertEqual(self.excluded("MatMul", "ReduceMean", "ReduceMean", "Sqrt"),
                         ["ReduceMean", "ReduceMean", "Sqrt"])

    def test_averages_before_a_layer_are_quantized(self):
        self.assertEqual(self.excluded("Conv", "GlobalAveragePool", "Conv", "Mul"), [])
        self.assertEqual(self.excluded("Conv", "GlobalAveragePool", "Conv", "GlobalAveragePool", "Gemm"), [])
        self.assertEqual(self.excluded("GlobalAveragePool", "Flatten"), ["GlobalAveragePool", "Flatten"])


if __name__ == "__main__":
    unittest.main()
