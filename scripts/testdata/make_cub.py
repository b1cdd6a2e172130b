"""Write the .mat and .txt files of this folder: python scripts/testdata/make_cub.py

A data set of 12 images as SciPy 1.17 writes it, in the shape of Xian et al.'s
res101.mat and CUB-200-2011's lists, and one .mat for each possible error.
"""
import pathlib

import numpy as np
import scipy.io

here = pathlib.Path(__file__).parent
classes = ["001.Black_footed_Albatross", "002.Laysan_Albatross", "010.Red_winged_Blackbird"]
d, n = 8, 12
images = [f"{c}/{c[4:]}_{k:04d}_{100 + k}.jpg" for c in classes for k in range(4)]

with open(here / "images.txt", "w") as f:
    f.writelines(f"{i + 1} {path}\n" for i, path in enumerate(images))
with open(here / "train_test_split.txt", "w") as f:
    f.writelines(f"{i + 1} {int(i % 4 != 1)}\n" for i in range(n))  # the second of each class is for testing

order = [(7 * i + 3) % n for i in range(n)]  # column i is images[order[i]]


def value(image, j):
    """Value j of an image: exact in float32, far apart between classes."""
    return (8.0 if image // 4 == j else 0.0) + image % 4 / 4 + j / 64


def write(name, change=lambda v: None, compress=True):
    files = np.empty((n, 1), dtype=object)
    for i, image in enumerate(order):
        files[i, 0] = "/BS/data/CUB_200_2011/images/" + images[image]
    v = {
        "features": np.array([[value(image, j) for image in order] for j in range(d)]),
        "image_files": files,
        "labels": np.array([[float(images[image][:3])] for image in order]),
    }
    change(v)
    scipy.io.savemat(here / name, v, do_compression=compress)


def put(variable, index, new):
    def change(v):
        v[variable][index] = new
    return change


def cut(variable, count):
    def change(v):
        v[variable] = v[variable][..., :count] if variable == "features" else v[variable][:count]
    return change


def swap(variable, new):
    def change(v):
        if new is None:
            del v[variable]
        else:
            v[variable] = new
    return change


def twice(v):
    v["image_files"][5, 0] = "/other/place/" + images[order[2]]
    v["labels"][5] = v["labels"][2]


write("res101.mat")
write("plain.mat", compress=False)
write("twice.mat", twice)
write("strange.mat", put("image_files", (5, 0), "/BS/001.Black_footed_Albatross/no_such.jpg"))
write("no_folder.mat", put("image_files", (5, 0), "one.jpg"))
write("wrong_label.mat", put("labels", (5, 0), 7.0))
write("not_finite.mat", put("features", (2, 5), np.nan))
write("too_large.mat", put("features", (2, 5), 1e39))
write("no_labels.mat", swap("labels", None))
write("few_labels.mat", cut("labels", 11))
write("few_features.mat", cut("features", 11))
write("few_files.mat", cut("image_files", 11))
write("text_labels.mat", swap("labels", "x" * n))
write("number_files.mat", put("image_files", (5, 0), 5.0))
write("complex_features.mat", swap("features", np.full((d, n), 1j)))


def eleven(v):
    for name in ("image_files", "labels"):
        v[name] = v[name][:11]
    v["features"] = v["features"][:, :11]


write("eleven.mat", eleven)


def odd():
    """A data set whose names, classes and values take more care: names that CSV quotes or that are escaped, values
    that float32 rounds, features stored as single, labels as uint8 in a row, files of a Windows computer."""
    names = ["007.Caf\u00e9 bird/a, b.jpg", "007.Caf\u00e9 bird/100%.jpg", "007.Caf\u00e9 bird/caf%E9.jpg", '021.It is "x".y/c%41.jpg']
    folder = here / "odd"
    folder.mkdir(exist_ok=True)
    (folder / "images.txt").write_bytes("".join(f"{10 * i + 1} {name}\r\n" for i, name in enumerate(names)).encode())
    (folder / "train_test_split.txt").write_bytes(b"31 0\n\n1 1\n11 0\n21 1\n")
    files = np.empty((1, len(names)), dtype=object)
    files[0] = ["C:\\BS\\" + name.replace("/", "\\") for name in names[::-1]]
    labels = np.array([[21, 7, 7, 7]], dtype=np.uint8)
    values = np.array([[np.pi * 10.0 ** (3 * j - 6 * i) * (-1) ** j for i in range(len(names))] for j in range(5)])
    for name, features in {"double.mat": values, "single.mat": values.astype(np.float32), "int16.mat": values.clip(-9, 9).round().astype(np.int16)}.items():
        scipy.io.savemat(folder / name, {"other": "text", "features": features, "labels": labels, "image_files": files})


odd()
