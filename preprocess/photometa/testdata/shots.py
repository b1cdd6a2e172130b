"""Write the photos of TestShotsOfPillow into this folder (Pillow 13)."""

import pathlib

from PIL import Image

MODEL, EXIF, TAKEN, OFFSET, SUBSEC, SERIAL = 0x0110, 0x8769, 0x9003, 0x9011, 0x9291, 0xA431
GPS, SOUTH, LATITUDE, WEST, LONGITUDE = 0x8825, 1, 2, 3, 4


def exif_of(picture, kind):
    exif = picture.getexif()
    if kind != "none":
        exif[MODEL] = "HC600 "
    if kind in ("full", "plain"):
        exif.get_ifd(EXIF)[TAKEN] = "2025:03:30 02:59:58"
        exif.get_ifd(EXIF)[SERIAL] = "S/N 007"
    if kind == "full":
        exif.get_ifd(EXIF)[SUBSEC] = "25"
        exif.get_ifd(EXIF)[OFFSET] = "+01:00"
    if kind == "placed":
        exif.get_ifd(GPS).update({SOUTH: "S", LATITUDE: (33.0, 51.0, 35.9), WEST: "E", LONGITUDE: (151.0, 12.6, 0.0)})
    if kind == "unset":
        exif.get_ifd(EXIF)[TAKEN] = "0000:00:00 00:00:00"
    return exif


folder = pathlib.Path(__file__).parent
for name in ("a.jpg", "a.png", "a.webp"):
    for kind in ("full", "plain", "none", "unset", "placed"):
        picture = Image.new("RGB", (16, 12), (90, 120, 30))
        picture.save(folder / f"{kind}-{name}", exif=exif_of(picture, kind))
