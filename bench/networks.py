"""Which output of a network is the embedding: what the program chooses, for real exporters.

    python bench/networks.py --pipeline ./pipeline --out DIR [--only NAME...] [--show]

Exports small networks with random weights by PyTorch's two exporters, timm, transformers,
open_clip, tf2onnx and onnxruntime's quantizer, and asks `pipeline backbones inspect` and
`pipeline embed` about each. A network is right if the embeddings of drawn pictures are those that
the library itself calls the features of an image (median cosine > 0.999), or if the program asks.
Prints a table in Markdown. Networks whose library is not installed are left out and named.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import warnings

import exports_text  # noqa: F401  registers its networks
import numpy as np
from exports import NETWORKS, SIDE
from PIL import Image, ImageDraw

PICTURES = 6


def draw(folder):
    """Pictures of the network's side, so that no resize comes between the two programs."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    pictures = []
    for i in range(PICTURES):
        noise = rng.integers(0, 256, (7, 7, 3), dtype=np.uint8)
        picture = Image.fromarray(noise).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        x, y = rng.integers(0, SIDE // 2, 2)
        ImageDraw.Draw(picture).ellipse([x, y, x + SIDE // 2, y + SIDE // 3], fill=tuple(rng.integers(0, 256, 3)))
        picture.save(folder / f"{i}.png")
        pictures.append(np.asarray(picture))
    return np.stack(pictures)


def said(pipeline, path):
    out = subprocess.run([pipeline, "backbones", "inspect", path], capture_output=True, text=True)
    lines = dict(re.findall(r"^(\w+) +(.*)$", out.stdout, re.MULTILINE))
    return lines.get("embedding") or out.stderr.strip() or "?", lines


def embedded(pipeline, path, pictures, out):
    shutil.rmtree(out, ignore_errors=True)
    got = subprocess.run([pipeline, "embed", "--images", pictures, "--backbone", path, "--out", out,
                          "--cache", out.parent / "cache"], capture_output=True, text=True)
    if got.returncode:
        return None, got.stderr
    return np.load(out / "embeddings.npy"), got.stderr


def cosine(a, b):
    if a.shape != b.shape:
        return float("nan")
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return float(np.median((a * b).sum(1) / norms))


def shapes(lines):
    return lines.get("outputs", "?").replace("float32", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pipeline", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", nargs="*", default=NETWORKS)
    parser.add_argument("--show", action="store_true", help="print all that inspect says")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    pictures = draw(args.out / "pictures")
    print("| network | inputs | outputs | the program | verdict |\n|---|---|---|---|---|")
    for name in args.only:
        path = args.out / f"{name}.onnx"
        expected = path.with_suffix(".npy")
        if not path.exists() or not expected.exists():
            try:
                np.save(expected, NETWORKS[name](path, pictures))
            except ImportError as e:
                print(f"| {name} | | | not exported: {e} | |")
                continue
            except Exception as e:  # an exporter's fault is a result too
                print(f"| {name} | | | not exported: {type(e).__name__}: {str(e).splitlines()[0][:120]} | |")
                path.unlink(missing_ok=True)
                continue
        says, lines = said(args.pipeline, path)
        got, why = embedded(args.pipeline, path, args.out / "pictures", args.out / "features")
        if got is None:
            verdict = "asked" if "set extractor" in why else "refused"
        else:
            c = cosine(got, np.load(expected))
            verdict = "right" if c > 0.999 else f"cosine {c:.4f}, {got.shape[1]} values"
        says = says.replace(str(path), "FILE")[:300]
        print(f"| {name} | {lines.get('inputs', '?')} | {shapes(lines)} | {says} | {verdict} |", flush=True)
        if args.show:
            print("\n".join(f"    {k} {v}" for k, v in lines.items()), why, sep="\n")


if __name__ == "__main__":
    main()
