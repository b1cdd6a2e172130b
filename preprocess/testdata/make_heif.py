#!/usr/bin/env python3
"""Make the HEIC and AVIF goldens of package preprocess.

    python make_heif.py        # in this folder; needs numpy, pillow, pillow-heif

Writes heif/ (files, and the pixels that pillow-heif or, for AVIF, Pillow gives,
as PNG) and heif.json. HEVC is encoded by pillow-heif; the boxes of most files
are put together here, to have what telephones write: grids of tiles, rotation,
crops, alpha, thumbnails, depth maps. Made with pillow-heif 1.8.1 (libheif
1.23.6) and Pillow 13.0.0 (libavif 1.4.2).
"""

import io
import json
import pathlib
import shutil
import struct

import numpy as np
import pillow_heif
from PIL import Image, ImageOps

HERE = pathlib.Path(__file__).parent
OUT = HERE / "heif"
RNG = np.random.default_rng(7)
CASES = []
pillow_heif.register_heif_opener()


def picture(w, h, channels=3):
    """A smooth picture with a little noise; the last of 2 or 4 channels is alpha."""
    y, x = np.mgrid[0:h, 0:w]
    planes = [128 + 90 * np.sin(x / 9 + c) + 60 * np.cos(y / 7 * (c + 1)) for c in range(channels)]
    return np.clip(np.stack(planes, -1) + RNG.normal(0, 4, (h, w, channels)), 0, 255).astype(np.uint8)


def rgb(w, h):
    return Image.fromarray(picture(w, h))


def over_white(im):
    if "A" in im.mode:
        im = im.convert("RGBA")
        paper = Image.new("RGB", im.size, (255, 255, 255))
        paper.paste(im, mask=im.getchannel("A"))
        return paper
    return im.convert("RGB")


# SMOOTHED is allowed where Pillow's AVIF plugin upsamples chroma differently: in
# these pictures it changes with every pixel.
SMOOTHED = 25


def case(name, data, levels, orient=False):
    (OUT / name).write_bytes(data)
    im = Image.open(io.BytesIO(data))
    if orient:  # Pillow reports irot and imir of AVIF as EXIF
        im = ImageOps.exif_transpose(im)
    over_white(im).save(OUT / (name + ".png"), optimize=True)
    CASES.append({"file": name, "want": name + ".png", "levels": levels})


def encode(im, kind="HEIF", **options):
    b = io.BytesIO()
    im.save(b, kind, **options)
    return b.getvalue()


# --- boxes -------------------------------------------------------------------


def box(kind, *body):
    body = b"".join(body)
    return struct.pack(">I", 8 + len(body)) + kind.encode() + body


def full(kind, *body, version=0, flags=0):
    return box(kind, struct.pack(">I", version << 24 | flags), *body)


def boxes(data):
    at = 0
    while at < len(data):
        n = struct.unpack_from(">I", data, at)[0] or len(data) - at
        yield data[at + 4 : at + 8].decode(), data[at + 8 : at + n]
        at += n


def find(data, *path):
    for kind in path:
        data = next(body for k, body in boxes(data[4:] if kind in ("hdlr", "pitm", "iinf", "iprp", "iloc") else data) if k == kind)
    return data


class Coded:
    """The HEVC data of a picture, as pillow-heif encodes it."""

    def __init__(self, im, **options):
        self.size = im.size
        data = encode(im, quality=options.pop("quality", 70), **options)
        meta = find(data, "meta")
        self.config = find(meta, "iprp", "ipco", "hvcC")
        size = struct.unpack(">II", find(meta, "iprp", "ipco", "ispe")[4:])
        assert size == im.size, f"the encoder pads {im.size} to {size}"
        items = {}
        iloc = find(meta, "iloc")
        version, sizes = iloc[0], iloc[4]
        assert version in (0, 1) and sizes == 0x44, (version, sizes)
        assert iloc[5] == 0x40, iloc[5]
        count, at = struct.unpack_from(">H", iloc, 6)[0], 8
        for _ in range(count):
            number = struct.unpack_from(">H", iloc, at)[0]
            at += 6 if version else 4
            base, extents, offset, length = struct.unpack_from(">IHII", iloc, at)
            assert extents == 1
            at += 14
            items[number] = data[base + offset :][:length]
        primary = struct.unpack_from(">H", find(meta, "pitm"), 4)[0]
        self.data = items[primary]


class File:
    """A HEIC file made of items."""

    def __init__(self):
        self.items, self.refs, self.properties = [], [], []

    def prop(self, data):
        if data not in self.properties:
            self.properties.append(data)
        return self.properties.index(data) + 1

    def add(self, kind, data, props, hidden=False):
        self.items.append((kind, data, [self.prop(p) for p in props], hidden))
        return len(self.items)

    def picture(self, coded, *props, hidden=False):
        size = full("ispe", struct.pack(">II", *coded.size))
        return self.add("hvc1", coded.data, [box("hvcC", coded.config), size, *props], hidden)

    def grid(self, tiles, columns, size, *props):
        ids = [self.picture(t, hidden=True) for t in tiles]
        rows = len(tiles) // columns
        body = struct.pack(">BBBBHH", 0, 0, rows - 1, columns - 1, *size)
        number = self.add("grid", body, [full("ispe", struct.pack(">II", *size)), *props])
        self.ref("dimg", number, *ids)
        return number

    def ref(self, kind, source, *targets):
        self.refs.append(box(kind, struct.pack(f">HH{len(targets)}H", source, len(targets), *targets)))

    def file(self, primary, brands=b"heicmif1"):
        head = box("ftyp", brands[:4], bytes(4), brands)

        def meta(start):
            places, at = b"", start
            for i, (_, data, _, _) in enumerate(self.items):
                places += struct.pack(">HHHII", i + 1, 0, 1, at, len(data))
                at += len(data)
            infos = [full("infe", struct.pack(">HH", i + 1, 0), k.encode(), b"\0", version=2, flags=int(hidden)) for i, (k, _, _, hidden) in enumerate(self.items)]
            owners = b"".join(struct.pack(">HB", i + 1, len(p)) + bytes(0x80 | n for n in p) for i, (_, _, p, _) in enumerate(self.items))
            return full(
                "meta",
                full("hdlr", bytes(4), b"pict", bytes(13)),
                full("pitm", struct.pack(">H", primary)),
                full("iloc", b"\x44\0", struct.pack(">H", len(self.items)), places),
                full("iinf", struct.pack(">H", len(self.items)), *infos),
                full("iref", *self.refs) if self.refs else b"",
                box("iprp", box("ipco", *self.properties), full("ipma", struct.pack(">I", len(self.items)), owners)),
            )

        start = len(head) + len(meta(0)) + 8
        return head + meta(start) + box("mdat", *(d for _, d, _, _ in self.items))


def nclx(matrix, full_range, primaries=1, transfer=13):
    return box("colr", b"nclx", struct.pack(">HHHB", primaries, transfer, matrix, full_range << 7))


def irot(turns):
    return box("irot", bytes([turns]))


def imir(axis):
    return box("imir", bytes([axis]))


def clap(w, h, x, y):
    return box("clap", struct.pack(">IIIIiIiI", w, 1, h, 1, x, 2, y, 2))


def aux(urn):
    return full("auxC", urn.encode() + b"\0")


ALPHA = aux("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha")


def one(name, coded, *props, levels=2):
    f = File()
    case(name, f.file(f.picture(coded, *props)), levels)


# --- files -------------------------------------------------------------------


def heics():
    for w, h in [(64, 48), (65, 49), (97, 131)]:
        for chroma in (420, 422, 444):
            case(f"{w}x{h}_{chroma}.heic", encode(rgb(w, h), quality=80, chroma=chroma), 2)
    case("grey.heic", encode(rgb(66, 50).convert("L"), quality=80), 1)
    case("grey_alpha.heic", encode(Image.fromarray(picture(66, 50, 2), "LA"), quality=80), 2)
    case("alpha.heic", encode(Image.fromarray(picture(66, 50, 4)), quality=80), 2)
    deep = pillow_heif.from_bytes("RGB;16", (64, 48), (picture(64, 48).astype(np.uint16) * 257).tobytes())
    for bits in (10, 12):
        pillow_heif.options.SAVE_HDR_TO_12_BIT = bits == 12
        b = io.BytesIO()
        deep.save(b, quality=80)
        case(f"{bits}_bits.heic", b.getvalue(), 3)
    several = pillow_heif.HeifFile()
    for size in [(64, 48), (80, 40), (48, 64)]:
        several.add_from_pillow(rgb(*size))
    b = io.BytesIO()
    several.save(b, quality=80, primary_index=1)
    case("several.heic", b.getvalue(), 2)


def colours():
    coded = Coded(rgb(72, 64))
    for matrix in (1, 2, 5, 6, 9):
        for full_range in (0, 1):
            one(f"matrix_{matrix}_{full_range}.heic", coded, nclx(matrix, full_range))
    one("no_colour_box.heic", coded)
    one("identity.heic", Coded(rgb(72, 64), chroma=444, matrix_coefficients=0), nclx(0, 1))


def shapes():
    coded = Coded(rgb(96, 64))
    for turns in range(4):
        one(f"irot_{turns}.heic", coded, nclx(6, 1), irot(turns))
        for axis in range(2):
            one(f"irot_{turns}_imir_{axis}.heic", coded, nclx(6, 1), irot(turns), imir(axis))
    one("clap.heic", coded, nclx(6, 1), clap(40, 24, 0, 0))
    one("clap_offset.heic", coded, nclx(6, 1), clap(32, 16, 8, -16))
    one("clap_irot.heic", coded, nclx(6, 1), clap(32, 16, 8, -16), irot(1))
    for chroma in (420, 444):
        f = File()
        tiles = [Coded(rgb(64, 64), chroma=chroma) for _ in range(6)]
        case(f"grid_{chroma}.heic", f.file(f.grid(tiles, 3, (170, 121), nclx(6, 1))), 2)
    f = File()
    case("grid_irot.heic", f.file(f.grid([Coded(rgb(64, 64)) for _ in range(4)], 2, (128, 100), nclx(6, 1), irot(3))), 2)


def auxiliary():
    f = File()
    main = f.picture(Coded(rgb(96, 64)), nclx(6, 1))
    f.ref("auxl", f.picture(Coded(rgb(64, 64).convert("L")), aux("urn:mpeg:hevc:2015:auxid:2"), hidden=True), main)
    f.ref("auxl", f.picture(Coded(rgb(64, 64).convert("L")), aux("urn:com:apple:photo:2020:aux:hdrgainmap"), hidden=True), main)
    f.ref("thmb", f.picture(Coded(rgb(64, 64)), nclx(6, 1)), main)
    case("depth_thumbnail.heic", f.file(main), 2)
    f = File()
    main = f.grid([Coded(rgb(64, 64)) for _ in range(4)], 2, (126, 112), nclx(6, 1), irot(1))
    f.ref("thmb", f.picture(Coded(rgb(72, 64)), nclx(6, 1), irot(1)), main)
    case("grid_thumbnail.heic", f.file(main), 2)
    f = File()
    main = f.picture(Coded(rgb(72, 64)), nclx(6, 1))
    f.ref("auxl", f.picture(Coded(rgb(72, 64).convert("L")), ALPHA, hidden=True), main)
    case("alpha_full.heic", f.file(main), 2)


def avifs():
    for chroma in ("4:2:0", "4:2:2", "4:4:4"):
        case(f"{chroma.replace(':', '')}.avif", encode(rgb(65, 49), "AVIF", quality=80, subsampling=chroma), 1 if chroma == "4:4:4" else SMOOTHED)
    case("grey.avif", encode(rgb(66, 50).convert("L"), "AVIF", quality=80), 1)
    case("alpha.avif", encode(Image.fromarray(picture(66, 50, 4)), "AVIF", quality=80), SMOOTHED)
    case("animated.avif", encode(rgb(64, 48), "AVIF", save_all=True, append_images=[rgb(64, 48)]), SMOOTHED)
    for o in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = o
        case(f"orientation_{o}.avif", encode(rgb(60, 40), "AVIF", quality=80, exif=exif), SMOOTHED, True)


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()
    heics()
    colours()
    shapes()
    auxiliary()
    avifs()
    (HERE / "heif.json").write_text(json.dumps(CASES, indent=0) + "\n")


main()
