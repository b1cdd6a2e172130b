"""Makes the .mat files beside it: python dataset/matlab/testdata/make_mat.py

SciPy 1.17 writes them, the tests of dataset/matlab read them.
"""
import pathlib

import numpy as np
import scipy.io
import scipy.sparse

here = pathlib.Path(__file__).parent


def cell(*values, shape=None):
    c = np.empty(len(values), dtype=object)
    for i, v in enumerate(values):
        c[i] = v
    return c.reshape(shape or (len(values), 1), order="F")


variables = {
    # 5×7; NumPy's seeded numbers would hide a transposition less well than a formula.
    "matrix": np.array([[10.0 * i + j / 8 for j in range(7)] for i in range(5)]),
    "odd": np.array([[np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7976931348623157e308]]),
    "empty": np.zeros((0, 3)),
    "scalar": 0.1,
    "cube": np.arange(24, dtype=np.float64).reshape(2, 3, 4, order="F"),
    "single": np.array([[0.1, -3.5], [65504, 1e-40]], dtype=np.float32),
    "i8": np.array([[-128, 0, 127]], dtype=np.int8),
    "u8": np.array([[0, 255]], dtype=np.uint8),
    "i16": np.array([[-32768, 32767]], dtype=np.int16),
    "u16": np.array([[0, 65535]], dtype=np.uint16),
    "i32": np.array([[-2147483648, 2147483647]], dtype=np.int32),
    "u32": np.array([[0, 4294967295]], dtype=np.uint32),
    "i64": np.array([[-9223372036854775808, 9007199254740992]], dtype=np.int64),
    "u64": np.array([[0, 9223372036854775808]], dtype=np.uint64),
    "too_large": np.array([[1, 9007199254740993]], dtype=np.int64),
    "logical": np.array([[True, False], [False, False]]),
    "text": "a plain line of text",
    "unicode": "Zo\u00eb \u9ce5 \U0001f426!",
    "no_text": "",
    "rows": np.array(["one  ", "two  ", "three"]),
    "cells": cell("a/b.jpg", "", "c\u00e4/d.jpg"),
    "mixed": cell(np.array([[1.0, 2.0]]), cell("inner", np.array([[7]], dtype=np.int8)), "x", "y", shape=(2, 2)),
    "no_cells": np.empty((0, 0), dtype=object),
    "complex": np.array([[1 + 2j]]),
    "sparse": scipy.sparse.csc_matrix(np.eye(3)),
    "struct": {"field": 1.0},
}
scipy.io.savemat(here / "plain.mat", variables, oned_as="row")
scipy.io.savemat(here / "compressed.mat", variables, oned_as="row", do_compression=True)
scipy.io.savemat(here / "level4.mat", {"x": np.eye(3)}, format="4")
