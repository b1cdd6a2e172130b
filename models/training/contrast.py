"""Supervised contrastive loss against a queue of earlier keys (Khosla et al. 2020; He et al. 2020; SAVC, Song et al.
2023).

Keys are the projected features of second views, made by the moving average of the
network. The labels are those of the classifier: quarter turns are classes of their own.
"""
import torch

TEMPERATURE = 0.07
QUEUE = 8192


class Queue:
    """The latest keys and their labels; an empty place has the label −1."""

    def __init__(self, dim, device, size=QUEUE):
        self.keys = torch.zeros(size, dim, device=device)
        self.labels = torch.full((size,), -1, device=device)
        self.at = 0

    def push(self, keys, labels):
        """Replaces the oldest entries."""
        index = (torch.arange(len(labels), device=labels.device) + self.at) % len(self.labels)
        self.keys[index], self.labels[index] = keys, labels
        self.at = (self.at + len(labels)) % len(self.labels)

    def state(self):
        return {"keys": self.keys, "labels": self.labels, "at": self.at}

    def restore(self, state):
        self.keys.copy_(state["keys"])
        self.labels.copy_(state["labels"])
        self.at = state["at"]


def loss(queries, labels, keys, key_labels, temperature=TEMPERATURE):
    """−log share of each query's similarity that a key of its label has, mean over such keys; one value a query.

    Queries and keys are unit rows. A query without a key of its label gets 0.
    """
    logits = (queries @ keys.T / temperature).masked_fill(key_labels < 0, float("-inf"))
    same = labels[:, None] == key_labels
    return -logits.log_softmax(1).masked_fill(~same, 0).sum(1) / same.sum(1).clamp(min=1)
