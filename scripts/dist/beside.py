"""What two builds of pipeline must have in common: labels.csv."""

import csv


def labels(folder):
    """Returns what labels.csv says of each photo, in its order."""
    with open(f"{folder}/labels.csv", newline="", encoding="utf-8") as file:
        text = file.read()
    assert "\r" not in text and "\\" not in text, f"{folder}: line ends or separators of Windows"
    return {row["path"]: row for row in csv.DictReader(text.splitlines())}


def compare(ours, theirs, most):
    """Fails unless the labels in two folders are equal, and the probabilities to most."""
    ours, theirs = labels(ours), labels(theirs)
    assert list(ours) == list(theirs), "other photos, or in another order"
    worst = 0.0
    for path, row in ours.items():
        other = theirs[path]
        assert (row["label"], row["rejected"]) == (other["label"], other["rejected"]), f"{path}: {row}, {other}"
        p, q = float(row["probability"] or 0), float(other["probability"] or 0)  # none for a rejected photo
        worst = max(worst, abs(p - q))
    assert worst <= most, f"probabilities differ by {worst}"
    print(f"          {len(ours)} labels are equal, probabilities to {worst:.1g}", flush=True)
