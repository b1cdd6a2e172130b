//go:build (linux || darwin) && (amd64 || arm64)

package heif

import "github.com/ebitengine/purego"

// load resolves the functions. The library is never unloaded.
func (l *Library) load() error {
	handle, err := purego.Dlopen(l.path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return err
	}
	for name, target := range map[string]any{
		"de265_get_version":        &l.getVersion,
		"de265_get_version_number": &l.getNumber,
		newDecoder:                 &l.newDecoder,
		"de265_free_decoder":       &l.freeDecoder,
		"de265_push_NAL":           &l.push,
		"de265_flush_data":         &l.flush,
		"de265_decode":             &l.decode,
		"de265_get_next_picture":   &l.next,
		"de265_get_error_text":     &l.errorText,
		"de265_get_chroma_format":  &l.chroma,
		"de265_get_image_width":    &l.width,
		"de265_get_image_height":   &l.height,
		"de265_get_bits_per_pixel": &l.depth,
		"de265_get_image_plane":    &l.plane,
	} {
		address, err := purego.Dlsym(handle, name)
		if err != nil {
			return err
		}
		purego.RegisterFunc(target, address)
	}
	return nil
}
