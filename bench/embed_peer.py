"""The peer of `pipeline embed`: Pillow + onnxruntime in one process per core.

    python embed_peer.py --backbone M.onnx --preset vit-0.5 --workers 2 < PATHS

Reads paths of photos up to an empty line and prints "ready". For each further
line it embeds them all and prints the time in seconds, without start-up and
warm-up. Each worker has its own single-threaded session. With --draft N, Pillow
decodes JPEG files at the smallest scale whose sides have N pixels.
"""

import argparse
import multiprocessing
import sys
import time

import photo

worker = {}


def start(backbone, preset, draft):
    worker.update(model=photo.session(backbone, threads=1), preset=preset, draft=draft)


def embed(path):
    return photo.embed(worker["model"], photo.tensor(photo.decode(path, worker["draft"]), worker["preset"]))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--backbone", required=True)
    a.add_argument("--preset", required=True, choices=photo.PRESETS)
    a.add_argument("--workers", type=int, required=True)
    a.add_argument("--draft", type=int, default=0)
    args = a.parse_args()
    paths = [line.strip() for line in iter(sys.stdin.readline, "\n")]
    context = multiprocessing.get_context("spawn")  # a fork would copy a library with threads
    with context.Pool(args.workers, start, (args.backbone, args.preset, args.draft)) as pool:
        pool.map(embed, paths[:20], chunksize=1)
        print("ready", flush=True)
        for _ in sys.stdin:
            begin = time.perf_counter()
            rows = list(pool.imap(embed, paths, chunksize=4))
            print(time.perf_counter() - begin, flush=True)
            assert len(rows) == len(paths)


if __name__ == "__main__":
    main()
