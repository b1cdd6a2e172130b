"""The peer of package preprocess: Pillow + NumPy, JPEG bytes to tensor, one thread.

    python preprocess_peer.py --repeat 20 < PATHS

Reads paths of photos up to an empty line and prints "ready". For each further
line it turns all of them into tensors, --repeat times, and prints the seconds
per repeat.
"""

import argparse
import io
import pathlib
import sys
import time

import photo


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--repeat", type=int, default=1)
    args = a.parse_args()
    files = [pathlib.Path(line.strip()).read_bytes() for line in iter(sys.stdin.readline, "\n")]
    photo.tensor(photo.decode(io.BytesIO(files[0])), "imagenet")
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = time.perf_counter()
        for _ in range(args.repeat):
            for file in files:
                photo.tensor(photo.decode(io.BytesIO(file)), "imagenet")
        print((time.perf_counter() - begin) / args.repeat, flush=True)


if __name__ == "__main__":
    main()
