package safetensors

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Errors of reading, for errors.Is.
var (
	// ErrTooShort reports that bytes are missing at the end.
	ErrTooShort = errors.New("the file is too short")
	// ErrFormat reports that the data is not a safetensors file.
	ErrFormat = errors.New("not a safetensors file")
	// ErrDigest reports that the data differs from what was written.
	ErrDigest = errors.New("the checksum does not match: the file was altered or damaged")
	// ErrNoTensor reports that a tensor is not in the file.
	ErrNoTensor = errors.New("no such tensor")
)

// An Info describes one tensor of a file.
type Info struct {
	Name  string
	DType DType
	Shape []int
	// Begin and End bound its bytes, counted from the end of the header.
	Begin, End int64
}

// A File is an open safetensors file. It is safe for concurrent use if its
// reader is.
type File struct {
	r        io.ReaderAt
	size     int64
	data     int64 // where the header ends
	tensors  []Info
	byName   map[string]int
	metadata map[string]string
}

// Open reads and checks the header of the size bytes in r. The error wraps
// ErrTooShort if the file ends before its header says, ErrFormat if it is not a
// safetensors file. The cost depends only on the size of the header.
func Open(r io.ReaderAt, size int64) (*File, error) {
	raw, err := readHeader(r, size)
	if err != nil {
		return nil, fmt.Errorf("read safetensors: %w", err)
	}
	f := &File{r: r, size: size, data: 8 + int64(len(raw)), byName: map[string]int{}}
	if err := f.parse(raw); err != nil {
		return nil, fmt.Errorf("read safetensors: header: %w", err)
	}
	if err := f.checkCoverage(); err != nil {
		return nil, fmt.Errorf("read safetensors: %w", err)
	}
	return f, nil
}

func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	var prefix [8]byte
	if size < 10 {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooShort, size)
	}
	if err := readFull(r, prefix[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(prefix[:])
	if n > maxHeader || n < 2 {
		return nil, fmt.Errorf("%w: it announces a header of %d bytes", ErrFormat, n)
	}
	if int64(n) > size-8 {
		return nil, headerBeyondEnd(r, int64(n), size)
	}
	raw := make([]byte, n)
	return raw, readFull(r, raw, 8)
}

// headerBeyondEnd distinguishes a truncated file from one of another kind: a
// header starts with a brace.
func headerBeyondEnd(r io.ReaderAt, n, size int64) error {
	var brace [1]byte
	if err := readFull(r, brace[:], 8); err != nil {
		return err
	}
	if brace[0] != '{' {
		return ErrFormat
	}
	return fmt.Errorf("%w: a header of %d bytes does not fit into %d", ErrTooShort, n, size)
}

func readFull(r io.ReaderAt, dst []byte, at int64) error {
	n, err := r.ReadAt(dst, at)
	if n == len(dst) {
		return nil
	}
	if err == io.EOF {
		return fmt.Errorf("%w: it ends at byte %d", ErrTooShort, at+int64(n))
	}
	return err
}

// checkCoverage sorts the tensors by offset and refuses gaps, overlaps and
// extra bytes before or after them.
func (f *File) checkCoverage() error {
	slices.SortStableFunc(f.tensors, func(a, b Info) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.End, b.End))
	})
	var at int64
	for i, t := range f.tensors {
		if t.Begin != at {
			return fmt.Errorf("%w: tensor %q begins at %d, the one before it ends at %d", ErrFormat, t.Name, t.Begin,
				at)
		}
		at = t.End
		f.byName[t.Name] = i
	}
	switch have := f.size - f.data; {
	case at > have:
		return fmt.Errorf("%w: the header promises %d bytes, there are %d", ErrTooShort, f.data+at, f.size)
	case at < have:
		return fmt.Errorf("%w: %d bytes follow the last tensor", ErrFormat, have-at)
	}
	return nil
}

// Tensors returns the tensors in file order.
func (f *File) Tensors() []Info { return f.tensors }

// Metadata returns the strings stored under __metadata__.
func (f *File) Metadata() map[string]string { return f.metadata }

// VerifyDigest reads the whole file and compares it with the sha256 tensor at
// its end. The error wraps ErrDigest.
func (f *File) VerifyDigest() (Written, error) {
	i, ok := f.byName[DigestName]
	if !ok || i != len(f.tensors)-1 || f.tensors[i].DType != U8 || f.tensors[i].End-f.tensors[i].Begin != digestBytes {
		return Written{}, fmt.Errorf("read safetensors: %w: it does not end in a %s tensor", ErrDigest, DigestName)
	}
	done := Written{Bytes: f.size}
	sum := sha256.New()
	if n, err := io.Copy(sum, io.NewSectionReader(f.r, 0, f.size-digestBytes)); err != nil || n != f.size-digestBytes {
		return Written{}, fmt.Errorf("read safetensors: %d of %d bytes: %w", n, f.size, errors.Join(err, ErrTooShort))
	}
	sum.Sum(done.Digest[:0])
	var stored [digestBytes]byte
	if err := readFull(f.r, stored[:], f.size-digestBytes); err != nil {
		return Written{}, fmt.Errorf("read safetensors: %w", err)
	}
	if !bytes.Equal(stored[:], done.Digest[:]) {
		return Written{}, fmt.Errorf("read safetensors: %w (%x… instead of %x…)",
			ErrDigest, done.Digest[:4], stored[:4])
	}
	sum.Write(stored[:])
	sum.Sum(done.SHA256[:0])
	return done, nil
}

// Read returns one tensor. Besides the tensor it allocates one small chunk.
func (f *File) Read(name string) (Tensor, error) {
	i, ok := f.byName[name]
	if !ok {
		return Tensor{}, fmt.Errorf("read safetensors: %q: %w", name, ErrNoTensor)
	}
	t, err := f.read(f.tensors[i])
	if err != nil {
		return Tensor{}, fmt.Errorf("read safetensors: tensor %q: %w", name, err)
	}
	return t, nil
}

func (f *File) read(info Info) (Tensor, error) {
	t := Tensor{Shape: slices.Clone(info.Shape)}
	var err error
	switch info.DType {
	case U8:
		t.U8 = make([]byte, info.End-info.Begin)
		err = readFull(f.r, t.U8, f.data+info.Begin)
	case F32:
		t.F32, err = readValues[float32](f, info)
	case F64:
		t.F64, err = readValues[float64](f, info)
	default:
		t.I64, err = readValues[int64](f, info)
	}
	return t, err
}

// readValues reads a tensor in chunks.
func readValues[T float32 | float64 | int64](f *File, info Info) ([]T, error) {
	width := info.DType.Size()
	out := make([]T, 0, (info.End-info.Begin)/width)
	buf := make([]byte, min(chunkBytes, info.End-info.Begin))
	for at := info.Begin; at < info.End; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), info.End-at)]
		if err := readFull(f.r, buf, f.data+at); err != nil {
			return out, err
		}
		n := len(out)
		out = out[:n+len(buf)/int(width)]
		if _, err := binary.Decode(buf, binary.LittleEndian, out[n:]); err != nil {
			return out, err
		}
	}
	return out, nil
}
