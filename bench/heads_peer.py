"""The peer of training a head: scikit-learn's linear discriminant analysis or logistic regression.

    echo "lda 100 16 512" | python heads_peer.py             the method, classes, images of each, d
    echo "calibrated-lda 100 16 512" | python heads_peer.py  by CalibratedClassifierCV: left-out rows are predicted, too

Reads the job up to an empty line, makes the data and prints "ready". For each further line it does
the job and prints the processor seconds of all its threads. Rows have length 1, in float32.
"""

import sys
import time

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression

HEADS = {
    "lda": lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
    "logistic": lambda: LogisticRegression(C=100, max_iter=1000),
}


def rows(classes, images, d):
    rng = np.random.default_rng(1)
    scale = 1 / np.sqrt(np.arange(1, d + 1))
    x = np.repeat(rng.standard_normal((classes, d)) * scale, images, 0)
    x += rng.standard_normal(x.shape) * scale
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x.astype(np.float32), np.repeat(np.arange(classes), images)


def head(name, images):
    if name.startswith("calibrated-"):
        return CalibratedClassifierCV(head(name.removeprefix("calibrated-"), images), cv=min(5, images), ensemble=False)
    return HEADS[name]()


def main():
    lines = [line.split() for line in iter(sys.stdin.readline, "\n")]
    name, (classes, images, d) = lines[0][0], [int(v) for v in lines[0][1:]]
    x, y = rows(classes, images, d)
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.process_time()
        head(name, images).fit(x, y)
        print(time.process_time() - begin, flush=True)


if __name__ == "__main__":
    main()
