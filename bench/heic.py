"""Writes a photo as HEIC, with pillow-heif.

    python heic.py IN.jpg OUT.heic
"""

import sys

import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()
Image.open(sys.argv[1]).save(sys.argv[2], quality=60)
