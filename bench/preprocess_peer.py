"""The peer of package preprocess: Pillow + NumPy, JPEG bytes to tensor, one thread.

    python preprocess_peer.py --repeat 20 < PATHS

Reads paths of photos up to an empty line and prints "ready". For each further
line it turns all of them into tensors, --repeat times, and prints the seconds
per repeat: by the clock, or of processor time with --processor. HEIC files are
decoded by pillow-heif.
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
    a.add_argument("--processor", action="store_true")
    args = a.parse_args()
    now = time.process_time if args.processor else time.perf_counter
    paths = [pathlib.Path(line.strip()) for line in iter(sys.stdin.readline, "\n")]
    if any(path.suffix == ".heic" for path in paths):
        import pillow_heif

        pillow_heif.options.DECODE_THREADS = 1
        pillow_heif.register_heif_opener()
    files = [path.read_bytes() for path in paths]
    photo.tensor(photo.decode(io.BytesIO(files[0])), "imagenet")
    print("ready", flush=True)
    for _ in sys.stdin:
        begin = now()
        for _ in range(args.repeat):
            for file in files:
                photo.tensor(photo.decode(io.BytesIO(file)), "imagenet")
        print((now() - begin) / args.repeat, flush=True)


if __name__ == "__main__":
    main()
