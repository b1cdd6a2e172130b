package heif

import (
	"fmt"
	"unsafe"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// A Library is libheif. It is safe for concurrent use and stays loaded for the life of the
// process.
type Library struct {
	path, version string
	functions
}

// functions are those of libheif. The first pointer of most is what they work on.
type functions struct {
	start       func(parameters uintptr) failure
	newContext  func() uintptr
	freeContext func(context uintptr)
	limits      func(context uintptr) *limits
	setThreads  func(context uintptr, most int32)
	read        func(context uintptr, data *byte, bytes uintptr, options uintptr) failure
	primary     func(context uintptr, handle *uintptr) failure

	freeHandle    func(handle uintptr)
	width, height func(handle uintptr) int32
	alpha, depth  func(handle uintptr) int32
	profileBytes  func(handle uintptr) uintptr
	getProfile    func(handle uintptr, data *byte) failure
	tiling        func(handle uintptr, transformed int32, t *tiling) failure
	thumbnails    func(handle uintptr, ids *uint32, most int32) int32
	getThumbnail  func(handle uintptr, id uint32, thumbnail *uintptr) failure

	newOptions  func() *options
	freeOptions func(o *options)
	decode      func(handle uintptr, image *uintptr, space, chroma int32, o *options) failure
	freeImage   func(image uintptr)
	warnings    func(image uintptr, first int32, out *failure, most int32) int32
	imageWidth  func(image uintptr, channel int32) int32
	imageHeight func(image uintptr, channel int32) int32
	plane       func(image uintptr, channel int32, stride *int32) unsafe.Pointer
}

// A failure is a heif_error.
type failure struct {
	code, detail int32
	message      *byte
}

// limits are a heif_security_limits, as far as it is used.
type limits struct {
	_              uint8 // its version
	pixels, tiles  uint64
	_              uint32
	items, profile uint32
	block          uint64
	_              uint32
	extents        uint32
	_              uint32
	children       uint32
	memory         uint64 // from version 2
}

// options are a heif_decoding_options, as far as it is used.
type options struct {
	_         [2]uint8
	_         [3]uintptr // callbacks
	_         uintptr    // what they get
	eightBits uint8      // from version 2
}

// A tiling is a heif_image_tiling.
type tiling struct {
	version               int32
	columns, rows         uint32
	tileWidth, tileHeight uint32
	_                     [18]uint32
}

func (f *functions) load(path string) error {
	return sharedlib.Load(path, map[string]any{
		"heif_init":          &f.start,
		"heif_context_alloc": &f.newContext, "heif_context_free": &f.freeContext,
		"heif_context_get_security_limits":           &f.limits,
		"heif_context_set_max_decoding_threads":      &f.setThreads,
		"heif_context_read_from_memory_without_copy": &f.read,
		"heif_context_get_primary_image_handle":      &f.primary,
		"heif_image_handle_release":                  &f.freeHandle,
		"heif_image_handle_get_width":                &f.width, "heif_image_handle_get_height": &f.height,
		"heif_image_handle_has_alpha_channel":          &f.alpha,
		"heif_image_handle_get_luma_bits_per_pixel":    &f.depth,
		"heif_image_handle_get_raw_color_profile_size": &f.profileBytes,
		"heif_image_handle_get_raw_color_profile":      &f.getProfile,
		"heif_image_handle_get_image_tiling":           &f.tiling,
		"heif_image_handle_get_list_of_thumbnail_IDs":  &f.thumbnails,
		"heif_image_handle_get_thumbnail":              &f.getThumbnail,
		"heif_decoding_options_alloc":                  &f.newOptions, "heif_decoding_options_free": &f.freeOptions,
		"heif_decode_image": &f.decode, "heif_image_release": &f.freeImage,
		"heif_image_get_decoding_warnings": &f.warnings,
		"heif_image_get_width":             &f.imageWidth, "heif_image_get_height": &f.imageHeight,
		"heif_image_get_plane_readonly": &f.plane,
	}, nil)
}

// Open loads the library at path, which is of that version.
func Open(path, version string) (*Library, error) {
	l := &Library{path: path, version: version}
	if err := l.load(path); err != nil {
		return nil, fmt.Errorf("libheif %s: %w", path, err)
	}
	if err := l.check(l.start(0)); err != nil {
		return nil, fmt.Errorf("libheif %s: %w", path, err)
	}
	return l, nil
}

// Path returns the path of the library.
func (l *Library) Path() string { return l.path }

// Version returns its version, such as "1.23.0".
func (l *Library) Version() string { return l.version }
