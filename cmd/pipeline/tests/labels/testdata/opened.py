"""Opens each export of a results folder with the tool that it is for.

Prints JSON: for each format the class of every photo, as that tool says.
"""

import json
import os
import pathlib
import sys
import urllib.parse

os.environ["HF_HUB_OFFLINE"] = "1"


def imagefolder(out):
    import datasets

    datasets.disable_progress_bars()
    parts = datasets.load_dataset(str(out / "imagefolder"), cache_dir=str(out / "loaded"))
    seen = {}
    for part, rows in parts.items():
        assert rows.features["probability"].dtype == "float64", rows.features
        for row in rows.cast_column("image", datasets.Image(decode=False)):
            place = pathlib.Path(row["image"]["path"]).relative_to((out / "imagefolder").resolve())
            photo = place.parts[1 if (out / "imagefolder" / "metadata.jsonl").exists() else 2 :]
            seen[f"{part} {'/'.join(photo)}"] = row["label"]
        assert rows[0]["image"].width > 0  # decodes it
    return seen


def coco(out):
    from pycocotools.coco import COCO

    seen = {}
    for file in (out / "coco").glob("*.json"):
        c = COCO(str(file))
        part = file.stem.partition("_")[2] or "train"
        for image in c.loadImgs(c.getImgIds()):
            assert (image["width"], image["height"]) == (48, 64 if "upright" in image["file_name"] else 48), image
            names = c.loadCats([a["category_id"] for a in c.loadAnns(c.getAnnIds(image["id"]))])
            seen[f"{part} {image['file_name']}"] = "".join(n["name"] for n in names)
    return seen


def label_studio(out):
    from label_studio_converter import Converter

    folder = out / "label-studio"
    converter = Converter(str(folder / "config.xml"), str(folder), upload_dir=None)
    converter.convert_to_json_min(str(folder / "tasks.json"), str(out / "converted"), is_dir=False)
    (file,) = (out / "converted").glob("*.json")
    seen = {}
    for row in json.loads(file.read_text()):
        path = urllib.parse.parse_qs(urllib.parse.urlparse(row["image"]).query)["d"][0]
        seen[f"{row.get('split', 'train')} {path}"] = row.get("label", "")
    return seen


if __name__ == "__main__":
    sys.stdout, result = sys.stderr, sys.stdout  # some tools print
    out = pathlib.Path(sys.argv[1])
    opened = {f.__name__: f(out) for f in (imagefolder, coco, label_studio)}
    json.dump(opened, result)
