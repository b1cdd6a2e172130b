"""What two builds of pipeline must have in common: labels.csv."""

import csv
import json


def labels(folder):
    """Returns what labels.csv says of each photo, in its order."""
    with open(f"{folder}/labels.csv", newline="", encoding="utf-8") as file:
        text = file.read()
    assert "\r" not in text and "\\" not in text, f"{folder}: line ends or separators of Windows"
    return {row["path"]: row for row in csv.DictReader(text.splitlines())}


def at_threshold(rows):
    """Returns the photo that is accepted and nearly was not, and that which is rejected and nearly was not."""
    sides = {"false": [], "true": []}
    for path, row in rows.items():
        sides[row["rejected"]].append((float(row["novelty"]), path))
    return {pick(side)[1] for pick, side in ((max, sides["false"]), (min, sides["true"])) if side}


def compare(ours, theirs, most, rounded=False):
    """Fails unless the labels in two folders are equal, and the probabilities to most.

    Embeddings that are rounded otherwise may move the threshold of rejection past the photo nearest to it.
    """
    ours, theirs = labels(ours), labels(theirs)
    assert list(ours) == list(theirs), "other photos, or in another order"
    edge = at_threshold(ours) & at_threshold(theirs) if rounded else ()
    worst, moved = 0.0, []
    for path, row in ours.items():
        other = theirs[path]
        (best, p), (other_best, q) = (json.loads(each["top_k"])[0] for each in (row, other))
        assert best == other_best, f"{path}: {row}, {other}"
        worst = max(worst, abs(p - q))
        if row["rejected"] == other["rejected"]:
            assert row["label"] == other["label"], f"{path}: {row}, {other}"
        else:
            assert path in edge, f"{path}: {row}, {other}"
            moved.append(path)
    assert worst <= most, f"probabilities differ by {worst}"
    print(f"          {len(ours)} labels are equal, probabilities to {worst:.1g}", flush=True)
    if moved:
        print(f"          at the threshold, and rejected by one of them: {moved[0]}", flush=True)
