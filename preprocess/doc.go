// Package preprocess turns the bytes of an image file into the float32 tensor
// that a backbone expects, with the same pixels as Python's Pillow and
// torchvision, because backbones were trained on those.
//
//	bytes ─ identify ─ wait for memory ─ decode rows ─ (orient) ─ resize+crop ─ (v/255−mean)/std ─▶ CHW float32
//
// Of a picture that is not square a backbone sees the centre crop, or as Spec.View says the
// whole of it squeezed or with bars, or several squares, whose embeddings are averaged.
//
// A Spec holds everything that changes pixels and has a fingerprint; a
// Preprocessor applies it and is safe for concurrent use. Decode returns the
// 8-bit RGB picture itself, Thumbnail a small JPEG for reports.
//
// # Agreement with Pillow
//
// The references are Pillow 13.0 (libjpeg-turbo 3.2, libwebp 1.6) and
// torchvision 0.29; testdata has goldens made with them, and the script.
// "Level" is one of the 256 steps of an 8-bit channel.
//
//	step                     agreement
//	resize, crop, normalise  bit for bit: Pillow's fixed-point Resample.c (22 bits, a = −0.5), torchvision's rounding
//	JPEG, PNG, TIFF, WebP    bit for bit, by libvips; scaled JPEG leaves out a last row and column that are not whole
//	GIF, BMP                 bit for bit, by Go
//	HEIC                     bit for bit pillow-heif, by libheif
//	AVIF                     4:4:4 within 1 level; otherwise Pillow's plugin upsamples chroma differently
//
// Without libvips Go's packages decode, as they are: JPEG chroma is repeated, up to 25 levels
// off, and of files that are cut nothing is read.
//
// The order of the resize's two passes follows Pillow 13, which differs from
// earlier versions when the height shrinks by more than twice as many pixels as
// the width (tall screenshots).
//
// # Why the resize is our own
//
// disintegration/imaging makes the thumbnails, and tests compare our rotations with its.
// What the network sees does not pass through it. Its bicubic is up to 11 levels off
// Pillow's on textured photos, and features should be those that Python computes
// with the same backbone. It wants the whole picture, 4 bytes per pixel, where
// here rows are resized as they are decoded. And a palette index outside of
// the palette panics in a goroutine of its own (CVE-2023-36308), where no caller can
// recover; thumbnails give it pictures without palettes.
//
// # Decisions by format
//
// The format is decided by the content, never by the name. Formats not in the
// table are refused with ErrFormat, which names the format if it is recognised.
//
//	format  read                               decisions
//	JPEG    baseline, extended, progressive,   CMYK and YCCK taken as inverted (Adobe) and converted as
//	        arithmetic, 8 bits; grey, YCbCr,   convert("RGB") does; at most 64 scans when progressive
//	        RGB, CMYK, YCCK
//	PNG     all, APNG's default image          16 bits: the high byte, or that of the bits of sBIT; no gamma
//	GIF     first frame on its canvas, with    canvas outside of the frame: transparent, else colour 0
//	        too many pixels or too few
//	BMP     1 to 32 bits, masks, run lengths;  alpha only where a mask says it
//	        all headers of OS/2 and Windows
//	TIFF    first page; 1, 8, 16 bits grey,    16 bits: the high byte, or that of the bits of
//	        palette, RGB(A), CMYK, more bands, MaxSampleValue; of more bands the first three;
//	        separate planes, float of 32 bits; float: 1, 255 or 65535 is white; YCbCr only in JPEG
//	        LZW, Deflate, PackBits, CCITT,
//	        JPEG, and what else libtiff reads
//	WebP    lossy, lossless, alpha, first      the frame stands on a transparent canvas
//	        frame of an animation
//	HEIC    HEVC: one picture or a grid, 8 to  more than 8 bits: the high byte; the crop, rotation and
//	        16 bits, alpha; the primary one    mirroring of the boxes, not EXIF's; no gain maps
//	        of several
//	AVIF    AV1: the same; the first picture   libheif's colours
//	        of a sequence
//	raw     the largest JPEG in the file       turned as the camera says; without one it is refused
//
// Transparent pixels are composited over white, round(c·a/255 + 255·(1−a/255)),
// as Pillow's Image.paste with a mask does; convert("RGB") would instead reveal
// hidden colours. A palette index outside the palette is black. Orientation is
// the EXIF tag of IFD0, else XMP's, wherever the format or ImageMagick keeps them. It
// is applied to the full picture before the resize, as in ImageOps.exif_transpose.
// Pictures with an ICC profile are converted to sRGB, unless the profile is sRGB's: of curves and
// a matrix (Display P3, Adobe RGB) here, of tables, as for CMYK, and of grey by libvips.
//
// # Safety
//
// A Budget bounds the memory of all that is decoded at the same time. What a
// file takes is estimated from its header before any pixel is decoded. What costs time beside it is
// bounded too: the sides of a picture, the scans of JPEG, the strips and tiles of TIFF, and what the
// boxes of HEIF list. Decoding stops when the context ends, between some rows; that of HEIC cannot be
// stopped. Public functions never panic, whatever the bytes; they return an error.
//
// The libraries are C and C++ in this process: a fault of theirs is not contained.
package preprocess
