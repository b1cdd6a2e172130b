package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// DigestName is the tensor that holds the SHA-256 of all bytes before it.
const DigestName = "sha256"

const (
	metadataKey = "__metadata__"
	// maxHeader is the reference implementation's limit.
	maxHeader   = 100_000_000
	chunkBytes  = 1 << 16
	digestBytes = sha256.Size
)

// A Written describes a written file.
type Written struct {
	// Bytes is the length of the file.
	Bytes int64
	// Digest is the content of the final sha256 tensor: the hash of every byte
	// before it.
	Digest [digestBytes]byte
	// SHA256 is the hash of the whole file, as sha256sum shows it.
	SHA256 [digestBytes]byte
}

// Write writes tensors and metadata to w, followed by the sha256 tensor. The
// same content gives the same bytes. Besides the tensors, memory holds only the
// header and one small chunk. The name sha256 is reserved.
func Write(w io.Writer, tensors map[string]Tensor, metadata map[string]string) (Written, error) {
	names, err := layout(tensors)
	if err != nil {
		return Written{}, err
	}
	head, err := header(names, tensors, metadata)
	if err != nil {
		return Written{}, err
	}
	out := &hashingWriter{w: w, sum: sha256.New(), buf: make([]byte, 0, chunkBytes)}
	out.bytes(head)
	for _, name := range names {
		out.tensor(tensors[name])
	}
	return out.close()
}

// layout validates the tensors and returns their names in file order.
func layout(tensors map[string]Tensor) ([]string, error) {
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if name == DigestName || name == metadataKey || !utf8.ValidString(name) {
			return nil, fmt.Errorf("write safetensors: the tensor name %q is reserved or not UTF-8", name)
		}
		if err := tensors[name].validate(); err != nil {
			return nil, fmt.Errorf("write safetensors: tensor %q: %w", name, err)
		}
	}
	return slices.SortedFunc(maps.Keys(tensors), func(a, b string) int {
		return cmp.Or(
			cmp.Compare(tensors[b].dtype().Size(), tensors[a].dtype().Size()),
			cmp.Compare(a, b))
	}), nil
}

// entry is one tensor of the JSON header; the field order is the file's.
type entry struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// header returns the length prefix and the JSON, padded with spaces so that the
// data starts on a multiple of eight bytes.
func header(names []string, tensors map[string]Tensor, metadata map[string]string) ([]byte, error) {
	var b bytes.Buffer
	var err error
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	field := func(before, name string, value any) {
		b.WriteString(before)
		err = errors.Join(err, enc.Encode(name))
		b.Truncate(b.Len() - 1) // the end of the line
		b.WriteString(":")
		err = errors.Join(err, enc.Encode(value))
		b.Truncate(b.Len() - 1)
	}
	before := "{"
	if len(metadata) > 0 {
		if err := validMetadata(metadata); err != nil {
			return nil, err
		}
		field(before, metadataKey, metadata)
		before = ","
	}
	var at int64
	for _, name := range names {
		t := tensors[name]
		end := at + t.count()*t.dtype().Size()
		field(before, name, entry{t.dtype(), append([]int{}, t.Shape...), [2]int64{at, end}})
		at, before = end, ","
	}
	field(before, DigestName, entry{U8, []int{digestBytes}, [2]int64{at, at + digestBytes}})
	b.WriteString("}")
	if err != nil {
		return nil, fmt.Errorf("write safetensors: header: %w", err)
	}
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	if b.Len() > maxHeader {
		return nil, fmt.Errorf("write safetensors: the header has %d bytes, at most %d are allowed", b.Len(), maxHeader)
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Len())), b.Bytes()...), nil
}

func validMetadata(metadata map[string]string) error {
	for k, v := range metadata {
		if !utf8.ValidString(k) || !utf8.ValidString(v) {
			return fmt.Errorf("write safetensors: metadata %q is not UTF-8", k)
		}
	}
	return nil
}

// hashingWriter writes and hashes in chunks; it keeps returning its first
// error.
type hashingWriter struct {
	w   io.Writer
	sum hash.Hash
	n   int64
	buf []byte
	err error
}

func (o *hashingWriter) bytes(b []byte) {
	if o.err != nil {
		return
	}
	o.sum.Write(b)
	n, err := o.w.Write(b)
	o.n += int64(n)
	o.err = err
}

func (o *hashingWriter) tensor(t Tensor) {
	o.bytes(t.U8)
	values(o, t.F32)
	values(o, t.F64)
	values(o, t.I64)
}

func values[T float32 | float64 | int64](o *hashingWriter, v []T) {
	for part := range slices.Chunk(v, chunkBytes/8) {
		o.buf, _ = binary.Append(o.buf[:0], binary.LittleEndian, part) // slices of numbers always encode
		o.bytes(o.buf)
	}
}

func (o *hashingWriter) close() (Written, error) {
	var done Written
	o.sum.Sum(done.Digest[:0])
	o.bytes(done.Digest[:])
	o.sum.Sum(done.SHA256[:0])
	done.Bytes = o.n
	if o.err != nil {
		return Written{}, fmt.Errorf("write safetensors: %w", o.err)
	}
	return done, nil
}
