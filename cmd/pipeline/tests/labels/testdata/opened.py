"""Opens each export in some results folders with the tool that it is for.

Prints JSON: for each folder and format the class of every photo, as that tool says.
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
            photo = place.parts[0 if (out / "imagefolder" / "metadata.jsonl").exists() else 1 :]
            assert row["labels"] == [row["label"]], row
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
        label = row.get("label", "")
        if isinstance(label, list):  # rectangles
            assert all(0 <= r["x"] <= r["x"] + r["width"] <= 100.001 for r in label), label
            label = ";".join(sorted(name for r in label for name in r["rectanglelabels"]))
        seen[f"{row.get('split', 'train')} {path}"] = label
    return seen


# What Camtrap DP 1.0.2 says of the columns of its tables, as far as label fills them: the type,
# and what is required (!), unique (!!), a range or one of some words. The profile itself is in no
# package of a registry.
CAMTRAP_DP = {
    "deployments": """
        deploymentID:string!! locationID:string locationName:string latitude:number!=-90..90
        longitude:number!=-180..180 coordinateUncertainty:integer=1..1e9 deploymentStart:datetime!
        deploymentEnd:datetime! setupBy:string cameraID:string cameraModel:string cameraDelay:integer
        cameraHeight:number cameraDepth:number cameraTilt:integer cameraHeading:integer
        detectionDistance:number timestampIssues:boolean baitUse:boolean featureType:string habitat:string
        deploymentGroups:string deploymentTags:string deploymentComments:string""",
    "media": """
        mediaID:string!! deploymentID:string! captureMethod:string timestamp:datetime! filePath:string!
        filePublic:boolean! fileName:string fileMediatype:string! exifData:any favorite:boolean
        mediaComments:string""",
    "observations": """
        observationID:string!! deploymentID:string! mediaID:string eventID:string eventStart:datetime!
        eventEnd:datetime! observationLevel:string!=media|event
        observationType:string!=animal|human|vehicle|blank|unknown|unclassified cameraSetupType:string
        scientificName:string count:integer lifeStage:string sex:string behavior:string individualID:string
        individualPositionRadius:number individualPositionAngle:number individualSpeed:number
        bboxX:number=0..1 bboxY:number=0..1 bboxWidth:number=1e-15..1 bboxHeight:number=1e-15..1
        classificationMethod:string=human|machine classifiedBy:string classificationTimestamp:datetime
        classificationProbability:number=0..1 observationTags:string observationComments:string""",
}
PATTERNS = {"filePath": r"^(?=^[^./~])(^((?!\.{2}).)*$).*$", "fileMediatype": "^(image|video|audio)/.*$"}
REFERENCES = {"deployments": [], "media": ["deployments"], "observations": ["deployments", "media"]}
KEYS = {"deployments": "deploymentID", "media": "mediaID", "observations": "observationID"}


def table_schema(name):
    fields = []
    for text in CAMTRAP_DP[name].split():
        declared, _, allowed = text.partition("=")
        field, _, kind = declared.partition(":")
        constraints = {"required": "!" in kind, "unique": "!!" in kind}
        kind = kind.rstrip("!")
        if ".." in allowed:
            least, most = (float(v) for v in allowed.split(".."))
            whole = kind == "integer"
            constraints |= {"minimum": int(least) if whole else least, "maximum": int(most) if whole else most}
        elif allowed:
            constraints["enum"] = allowed.split("|")
        if field in PATTERNS:
            constraints["pattern"] = PATTERNS[field]
        fields.append({"name": field, "type": kind, "constraints": constraints})
        if kind == "datetime":
            fields[-1]["format"] = "%Y-%m-%dT%H:%M:%S%z"
    references = [
        {"fields": KEYS[other], "reference": {"resource": other, "fields": KEYS[other]}} for other in REFERENCES[name]
    ]
    missing = ["", "NA", "NaN", "nan"]
    return {"fields": fields, "missingValues": missing, "primaryKey": KEYS[name], "foreignKeys": references}


def camtrap_dp(out):
    import frictionless

    folder = out / "camtrap-dp"
    package = json.loads((folder / "datapackage.json").read_text())
    version = "https://raw.githubusercontent.com/tdwg/camtrap-dp/1.0.2/"
    assert package.pop("profile") == version + "camtrap-dp-profile.json"
    wanted = {"created", "contributors", "project", "spatial", "temporal", "taxonomic"}
    assert wanted <= package.keys(), wanted - package.keys()
    assert {"title", "samplingDesign", "captureMethod", "individualAnimals", "observationLevel"} <= package[
        "project"
    ].keys()
    assert package["temporal"] == {"start": "2025-06-14", "end": "2025-06-14"}, package["temporal"]
    for resource in package["resources"]:
        name = resource["name"]
        assert resource.pop("profile") == "tabular-data-resource"
        assert resource["schema"] == f"{version}{name}-table-schema.json"
        resource["schema"] = table_schema(name)
    loaded = frictionless.Package.from_descriptor(package, basepath=str(folder))
    report = loaded.validate()
    assert report.valid, report.flatten(["title", "rowNumber", "message"])
    taxa = {taxon["scientificName"] for taxon in package["taxonomic"]}
    seen = {}
    for row in loaded.get_resource("observations").read_rows():
        assert row["scientificName"] is None or row["scientificName"] in taxa
        assert (row["observationLevel"] == "event") == (row["mediaID"] is None)
        if row["mediaID"] is None:
            seen[row["observationID"]] = row["scientificName"] or ""
            continue
        seen[row["mediaID"]] = row["scientificName"] or ""
    return seen


if __name__ == "__main__":
    sys.stdout, result = sys.stderr, sys.stdout  # some tools print
    opened = {}
    for folder in sys.argv[1:]:
        out = pathlib.Path(folder)
        tools = (imagefolder, coco, label_studio, camtrap_dp)
        opened[folder] = {f.__name__: f(out) for f in tools if (out / f.__name__.replace("_", "-")).exists()}
    json.dump(opened, result)
