package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// parse reads the JSON header token by token: encoding/json's maps would hide a
// duplicate name.
func (f *File) parse(raw []byte) error {
	if raw[0] != '{' || !utf8.Valid(raw) {
		return fmt.Errorf("%w: the header does not begin with a JSON object", ErrFormat)
	}
	d := decoder{json.NewDecoder(bytes.NewReader(raw))}
	d.json.UseNumber()
	if err := d.object(func(key string) error { return f.field(d, key) }); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if _, err := d.json.Token(); err != io.EOF {
		return fmt.Errorf("%w: something follows the JSON object", ErrFormat)
	}
	return nil
}

func (f *File) field(d decoder, key string) error {
	if key == metadataKey {
		return f.parseMetadata(d)
	}
	info, err := d.info(key)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", key, err)
	}
	f.tensors = append(f.tensors, info)
	return nil
}

func (f *File) parseMetadata(d decoder) error {
	f.metadata = map[string]string{}
	return d.object(func(key string) (err error) {
		f.metadata[key], err = d.text()
		return err
	})
}

type decoder struct{ json *json.Decoder }

// token returns the next token, which must be a T.
func token[T json.Delim | json.Number | string](d decoder, what string) (T, error) {
	t, err := d.json.Token()
	v, ok := t.(T)
	if err == nil && !ok {
		err = fmt.Errorf("%v where %s was expected", t, what)
	}
	return v, err
}

func (d decoder) delim(want json.Delim) error {
	t, err := token[json.Delim](d, want.String())
	if err == nil && t != want {
		err = fmt.Errorf("%v where %v was expected", t, want)
	}
	return err
}

// object calls field for each key of the next object; field must consume the
// value.
func (d decoder) object(field func(key string) error) error {
	if err := d.delim('{'); err != nil {
		return err
	}
	seen := map[string]bool{}
	for d.json.More() {
		key, err := d.text()
		if err != nil {
			return err
		}
		if seen[key] {
			return fmt.Errorf("the name %q occurs twice", key)
		}
		seen[key] = true
		if err := field(key); err != nil {
			return err
		}
	}
	return d.delim('}')
}

func (d decoder) text() (string, error) { return token[string](d, "a string") }

func (d decoder) number() (int64, error) {
	n, err := token[json.Number](d, "a number")
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseInt(n.String(), 10, 64)
	if err != nil || v < 0 {
		return 0, fmt.Errorf("%s is not a whole number of at least 0", n)
	}
	return v, nil
}

func (d decoder) numbers(most int) ([]int64, error) {
	if err := d.delim('['); err != nil {
		return nil, err
	}
	out := []int64{}
	for d.json.More() {
		if len(out) == most {
			return nil, fmt.Errorf("more than %d numbers", most)
		}
		n, err := d.number()
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, d.delim(']')
}

// info reads one tensor's description and checks its consistency.
func (d decoder) info(name string) (Info, error) {
	info := Info{Name: name, Begin: -1}
	err := d.object(func(key string) error { return d.infoField(&info, key) })
	if err != nil {
		return info, err
	}
	if info.DType == "" || info.Shape == nil || info.Begin < 0 {
		return info, fmt.Errorf("dtype, shape or data_offsets is missing")
	}
	n, err := elements(info.Shape)
	if err != nil {
		return info, err
	}
	if info.End < info.Begin || info.End-info.Begin != n*info.DType.Size() {
		return info, fmt.Errorf("the offsets %d to %d do not fit shape %v of %s",
			info.Begin, info.End, info.Shape, info.DType)
	}
	return info, nil
}

func (d decoder) infoField(info *Info, key string) error {
	switch key {
	case "dtype":
		s, err := d.text()
		if err == nil && DType(s).Size() == 0 {
			err = fmt.Errorf("dtype %q is not supported, only F32, F64, I64 and U8 are", s)
		}
		info.DType = DType(s)
		return err
	case "shape":
		dims, err := d.numbers(maxRank)
		info.Shape = make([]int, len(dims))
		for i, v := range dims {
			info.Shape[i] = int(v)
		}
		return err
	case "data_offsets":
		at, err := d.numbers(2)
		if err == nil && len(at) != 2 {
			err = fmt.Errorf("data_offsets has %d numbers instead of 2", len(at))
		}
		if err != nil {
			return err
		}
		info.Begin, info.End = at[0], at[1]
		return nil
	}
	return fmt.Errorf("unknown key %q", key)
}
