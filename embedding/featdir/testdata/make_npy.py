"""Writes the .npy files in its folder: python embedding/featdir/testdata/make_npy.py

NumPy writes them; the tests of package featdir read them.
"""
import hashlib
import pathlib

import numpy as np

here = pathlib.Path(__file__).parent
x = np.array([[0.5, -2.0, 65504.0], [6.103515625e-05, 5.960464477539063e-08, -0.0]])
np.save(here / "f4.npy", x.astype("<f4"))
np.save(here / "f2.npy", x.astype("<f2"))
np.save(here / "f8.npy", x)
np.save(here / "big_endian.npy", x.astype(">f4"))
np.save(here / "fortran.npy", np.asfortranarray(x.astype("<f4")))
np.save(here / "one_dimension.npy", x[0].astype("<f4"))
# TestFloat16 compares with this digest: all finite float16, in the order of their bits, as float32.
bits = np.arange(65536, dtype="<u2").view("<f2")
print(hashlib.sha256(bits[np.isfinite(bits)].astype("<f4").tobytes()).hexdigest())
