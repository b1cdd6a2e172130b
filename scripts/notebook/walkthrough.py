# %% [markdown]
# # Two minutes with your photos, from Python
#
# The program `pipeline` must be on the path. The photos are drawn; replace `sample/images/base` (one folder
# per class) and `sample/images/photos` by your own, and add `--backbone dinov2-vits14` to `train` after
# `pipeline backbones pull dinov2-vits14`.

# %%
!pipeline demo --out sample --quiet
!pipeline train --images sample/images/base --out my.model

# %% [markdown]
# ## Label
#
# The exit code 3 means that a photo could not be read; one is broken on purpose, and `errors.csv` says why.

# %%
!pipeline label my.model --images sample/images/photos --out labels --reject 0.1

# %%
import csv
from collections import Counter

labels = list(csv.DictReader(open("labels/labels.csv", encoding="utf-8")))
known = [row for row in labels if row["rejected"] == "false"]
print(len(labels), "photos,", len(labels) - len(known), "like no known class")
print(Counter(row["label"] for row in known).most_common(5))

# %% [markdown]
# ## The unsure ones
#
# A label is worth most where two classes are nearly as probable.

# %%
from IPython.display import Image, display

unsure = sorted(known, key=lambda row: float(row["margin"]))[:3]
for row in unsure:
    print(row["label"], row["probability"])
    display(Image(filename="sample/images/photos/" + row["path"], width=160))

# %% [markdown]
# ## A new class
#
# Photos of unknown things are grouped by similarity into folders. Name a folder that shows one thing, remove what does not belong, and learn it.

# %%
!pipeline rank my.model --images sample/images/photos --by novelty --reject 0.2 --cluster-unknown unknown --out novel.csv --quiet

# %%
import pathlib

groups = sorted(pathlib.Path("unknown").iterdir())
print([(group.name, len(list(group.iterdir()))) for group in groups])
cacti = groups[0]
for photo in cacti.glob("*IMG_0146.jpg"):  # a hot-air balloon
    photo.unlink()
pathlib.Path("named").mkdir()
cacti.rename("named/cactus")

# %%
!pipeline learn my.model --images named
!pipeline label my.model --images sample/images/photos --out labels --reject 0.1 --quiet

# %%
labels = list(csv.DictReader(open("labels/labels.csv", encoding="utf-8")))
found = [row["path"] for row in labels if row["label"] == "cactus" and row["rejected"] == "false"]
print(len(found), "photos of cacti")
display(Image(filename="sample/images/photos/" + found[0], width=160))
