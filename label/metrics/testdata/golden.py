"""Goldens from scikit-learn (pip install scikit-learn numpy): python golden.py
writes golden.json beside itself. ECE is computed here from its definition."""

import json
import os

import numpy as np
from sklearn.metrics import (accuracy_score, balanced_accuracy_score,
                             confusion_matrix, log_loss, recall_score,
                             roc_auc_score)

rng = np.random.default_rng(7)
n, C, bins = 80, 5, 15
classes = [f"class {i}" for i in range(C + 1)]  # the last has no samples
truth = rng.integers(0, C, n)
scores = rng.normal(size=(n, C + 1)) + 2.0 * np.eye(C + 1)[truth]
logp = scores - np.log(np.exp(scores).sum(1, keepdims=True))
novelty = np.round(rng.normal(size=n), 1)  # rounding makes ties
unknown = 30
novelty_unknown = np.round(rng.normal(0.7, 1.3, size=unknown), 1)

p = np.exp(logp)
pred, conf = p.argmax(1), p.max(1)
ece = 0.0
for b in range(bins):
    inside = (conf > b / bins) & (conf <= (b + 1) / bins)
    if inside.any():
        ece += inside.mean() * abs((pred == truth)[inside].mean() - conf[inside].mean())
labels = np.arange(C + 1)
golden = {
    "classes": classes,
    "truth": [classes[i] for i in truth] + ["other"] * unknown,
    "log_prob": logp.tolist() + [[float(np.log(1 / (C + 1)))] * (C + 1)] * unknown,
    "novelty": novelty.tolist() + novelty_unknown.tolist(),
    "accuracy": accuracy_score(truth, pred),
    "balanced_accuracy": float(np.mean(recall_score(truth, pred, labels=range(C), average=None))),
    "nll": log_loss(truth, p, labels=labels),
    "ece": ece,
    "novelty_auroc": roc_auc_score([0] * n + [1] * unknown, np.r_[novelty, novelty_unknown]),
    "confusion": confusion_matrix(truth, pred, labels=labels).tolist(),
    "recall": recall_score(truth, pred, labels=range(C), average=None).tolist(),
}
if set(pred) <= set(truth):
    assert golden["balanced_accuracy"] == balanced_accuracy_score(truth, pred)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.json"), "w") as f:
    json.dump(golden, f)
    f.write("\n")
