package vips

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/seed-90d10d51/pipeline/internal/sharedlib"
)

// A Library is libvips. It is safe for concurrent use and stays loaded for the life of the
// process.
type Library struct {
	path, version string
	functions

	blobType, imageType uintptr
	// order is held for reading by what decodes, and for writing by what has to know whose
	// messages are in the buffer.
	order sync.RWMutex
}

// functions are those of libvips and of GLib, which it exports.
type functions struct {
	start          func(name string) int32
	setConcurrency func(threads int32)
	setCacheMost   func(operations int32)
	blockUntrusted func(state int32)
	block          func(class string, state int32)
	setEnv         func(name, value string, overwrite int32) int32
	setLog         func(handler, data uintptr) uintptr
	endThread      func()

	newOperation  func(nickname string) uintptr
	setOptions    func(object uintptr, options string) int32
	setProperty   func(object uintptr, name string, v *value)
	getProperty   func(object uintptr, name string, v *value)
	build         func(operation uintptr) int32
	unref         func(object uintptr)
	unrefOutputs  func(object uintptr)
	newBlob       func(free uintptr, data unsafe.Pointer, bytes uintptr) uintptr
	unrefBlob     func(blob uintptr)
	typeOfBlob    func() uintptr
	typeOfImage   func() uintptr
	initValue     func(v *value, kind uintptr) uintptr
	setBoxed      func(v *value, boxed uintptr)
	setObject     func(v *value, object uintptr)
	getObject     func(v *value) uintptr
	unsetValue    func(v *value)
	width, height func(image uintptr) int32
	bands, format func(image uintptr) int32
	space         func(image uintptr) int32
	kindOf        func(image uintptr, field string) uintptr
	getBlob       func(image uintptr, field string, data *unsafe.Pointer, bytes *uintptr) int32
	newRegion     func(image uintptr) uintptr
	fetch         func(region uintptr, left, top, width, height int32, bytes *uintptr) unsafe.Pointer
	free          func(data unsafe.Pointer)
	message       func() *byte
	clearMessage  func()
}

// A value is a GValue, of which only the size matters: a type and two words.
type value [3]uint64

func (f *functions) load(path string) error {
	return sharedlib.Load(path, map[string]any{
		"vips_init":            &f.start,
		"vips_concurrency_set": &f.setConcurrency, "vips_cache_set_max": &f.setCacheMost,
		"vips_block_untrusted_set": &f.blockUntrusted, "vips_operation_block_set": &f.block,
		"g_setenv": &f.setEnv, "g_log_set_default_handler": &f.setLog, "vips_thread_shutdown": &f.endThread,
		"vips_operation_new": &f.newOperation, "vips_object_set_from_string": &f.setOptions,
		"g_object_set_property": &f.setProperty, "g_object_get_property": &f.getProperty,
		"vips_object_build": &f.build, "g_object_unref": &f.unref,
		"vips_object_unref_outputs": &f.unrefOutputs,
		"vips_blob_new":             &f.newBlob, "vips_area_unref": &f.unrefBlob,
		"vips_blob_get_type": &f.typeOfBlob, "vips_image_get_type": &f.typeOfImage,
		"g_value_init": &f.initValue, "g_value_set_boxed": &f.setBoxed, "g_value_set_object": &f.setObject,
		"g_value_get_object": &f.getObject, "g_value_unset": &f.unsetValue,
		"vips_image_get_width": &f.width, "vips_image_get_height": &f.height,
		"vips_image_get_bands": &f.bands, "vips_image_get_format": &f.format,
		"vips_image_get_interpretation": &f.space,
		"vips_image_get_typeof":         &f.kindOf, "vips_image_get_blob": &f.getBlob,
		"vips_region_new": &f.newRegion, "vips_region_fetch": &f.fetch, "g_free": &f.free,
		"vips_error_buffer": &f.message, "vips_error_clear": &f.clearMessage,
	}, nil)
}

// process holds the libraries that are loaded: their settings and messages are the process's.
var process struct {
	sync.Mutex
	libraries map[string]*Library
}

// Open loads the library at path, which is of that version, and allows it what is needed. A second
// call returns the same.
func Open(path, version string) (*Library, error) {
	process.Lock()
	defer process.Unlock()
	if l := process.libraries[path]; l != nil {
		return l, nil
	}
	l := &Library{path: path, version: version}
	if err := l.prepare(); err != nil {
		return nil, fmt.Errorf("libvips %s: %w", path, err)
	}
	if process.libraries == nil {
		process.libraries = map[string]*Library{}
	}
	process.libraries[path] = l
	return l, nil
}

func (l *Library) prepare() error {
	if err := l.load(l.path); err != nil {
		return err
	}
	l.setEnv("VIPS_WARNING", "0", 1) // both would be written to standard error
	l.setLog(sharedlib.Callback(func(_, _, _, _ uintptr) uintptr { return 0 }), 0)
	if l.start("pipeline") != 0 {
		return fmt.Errorf("cannot start: %s", l.takeMessage())
	}
	l.setConcurrency(1)
	l.setCacheMost(0)
	l.blockUntrusted(1)
	l.block("VipsForeign", 1)
	for _, class := range allowed {
		l.block(class, 0)
	}
	l.blobType, l.imageType = l.typeOfBlob(), l.typeOfImage()
	return nil
}

// allowed are the loaders that may run.
var allowed = []string{"VipsForeignLoadJpegBuffer", "VipsForeignLoadPngBuffer", "VipsForeignLoadNsgifBuffer",
	"VipsForeignLoadTiffBuffer", "VipsForeignLoadWebpBuffer", "VipsForeignLoadHeifBuffer"}

// Path returns the path of the library.
func (l *Library) Path() string { return l.path }

// Version returns its version, such as "8.18.7".
func (l *Library) Version() string { return l.version }

// hasMessage reports whether there is a message.
func (l *Library) hasMessage() bool { return *l.message() != 0 }

// takeMessage returns the messages and clears them.
func (l *Library) takeMessage() string {
	const most = 4096
	var text []byte
	for p, i := unsafe.Pointer(l.message()), 0; i < most; i++ {
		c := *(*byte)(unsafe.Add(p, i))
		if c == 0 {
			break
		}
		text = append(text, c)
	}
	l.clearMessage()
	return string(text)
}
