"""What two builds of pipeline must have in common: labels.csv."""

import csv
import json

PARTIAL = 3  # the exit code if a photo cannot be read; one of the demo's is damaged


def labels(folder):
    """Returns what labels.csv says of each photo, in its order."""
    with open(f"{folder}/labels.csv", newline="", encoding="utf-8") as file:
        text = file.read()
    assert "\r" not in text and "\\" not in text, f"{folder}: line ends or separators of Windows"
    return {row["path"]: row for row in csv.DictReader(text.splitlines())}


def compare(ours, theirs, most, trained=False):
    """Fails unless the labels in two folders are equal, and the probabilities to most.

    Of two models that were trained, each on its processor, one photo in fifty may be rejected by one only: the last
    bits of embeddings decide which photos were held out, and these the threshold.
    """
    ours, theirs = labels(ours), labels(theirs)
    assert list(ours) == list(theirs), "other photos, or in another order"
    worst, moved = 0.0, []
    for path, row in ours.items():
        other = theirs[path]
        (best, p), (other_best, q) = (json.loads(each["top_k"])[0] for each in (row, other))
        assert best == other_best, f"{path}: {row}, {other}"
        worst = max(worst, abs(p - q))
        if row["rejected"] != other["rejected"]:
            assert trained, f"{path}: {row}, {other}"
            moved.append(path)
        else:
            assert row["label"] == other["label"], f"{path}: {row}, {other}"
    assert worst <= most, f"probabilities differ by {worst}"
    assert 50 * len(moved) <= len(ours), f"rejected by one only: {moved}"
    print(f"          {len(ours)} labels are equal, probabilities to {worst:.1g}", flush=True)
    if moved:
        print(f"          rejected by one of two models only: {' '.join(moved)}", flush=True)
