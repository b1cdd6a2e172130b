package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

func sample() (map[string]Tensor, map[string]string) {
	return map[string]Tensor{
			"b.mean":  {Shape: []int{2, 2}, F64: []float64{1, -2, math.Inf(1), math.SmallestNonzeroFloat64}},
			"a.label": {Shape: []int{3}, I64: []int64{math.MinInt64, 0, math.MaxInt64}},
			"x":       {Shape: []int{2, 1, 2}, F32: []float32{1, 0.5, -0.25, math.MaxFloat32}},
			"hash":    {Shape: []int{5}, U8: []byte("abcde")},
			"none":    {Shape: []int{0, 7}, F32: []float32{}},
			"scalar":  {Shape: []int{}, F64: []float64{3}},
		}, map[string]string{
			"format": "test", "quote": "a\"b\\c <&> \u2028 ü 日本",
		}
}

func encode(t testing.TB, tensors map[string]Tensor, metadata map[string]string) ([]byte, Written) {
	t.Helper()
	var b bytes.Buffer
	done := must.Get(Write(&b, tensors, metadata))(t)
	return b.Bytes(), done
}

func open(raw []byte) (*File, error) { return Open(bytes.NewReader(raw), int64(len(raw))) }

func TestRoundTrip(t *testing.T) {
	tensors, metadata := sample()
	raw, done := encode(t, tensors, metadata)
	f := must.Get(open(raw))(t)
	if !reflect.DeepEqual(f.Metadata(), metadata) {
		t.Errorf("metadata %q", f.Metadata())
	}
	for name, want := range tensors {
		got, err := f.Read(name)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v (%v), want %v", name, got, err, want)
		}
	}
	if done.SHA256 != sha256.Sum256(raw) || done.Digest != sha256.Sum256(raw[:len(raw)-32]) ||
		done.Bytes != int64(len(raw)) {
		t.Errorf("Write reports %+v", done)
	}
	if again, err := f.VerifyDigest(); err != nil || again != done {
		t.Errorf("VerifyDigest = %+v, %v, want %+v", again, err, done)
	}
	if _, err := f.Read("absent"); !errors.Is(err, ErrNoTensor) {
		t.Errorf("absent tensor: %v", err)
	}
}

// Tensors longer than the chunk, and not a multiple of it, must survive.
func TestRoundTripAcrossChunks(t *testing.T) {
	n := chunkBytes/4*2 + 7
	want := Tensor{Shape: []int{n}, F32: make([]float32, n)}
	for i := range want.F32 {
		want.F32[i] = float32(i)
	}
	raw, _ := encode(t, map[string]Tensor{"x": want}, nil)
	f := must.Get(open(raw))(t)
	if got, err := f.Read("x"); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("differs (%v)", err)
	}
}

func TestWriteIsDeterministicAndAligned(t *testing.T) {
	tensors, metadata := sample()
	first, _ := encode(t, tensors, metadata)
	for range 20 {
		tensors, metadata = sample()
		if again, _ := encode(t, tensors, metadata); !bytes.Equal(first, again) {
			t.Fatal("two writes differ")
		}
	}
	f, _ := open(first)
	var order []string
	for _, info := range f.Tensors() {
		order = append(order, info.Name)
		if size := info.DType.Size(); (f.data+info.Begin)%size != 0 {
			t.Errorf("%s is not aligned", info.Name)
		}
	}
	if got, want := fmt.Sprint(order), "[a.label b.mean scalar none x hash sha256]"; got != want {
		t.Errorf("order %s, want %s", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, tensors := range map[string]map[string]Tensor{
		"reserved":   {DigestName: {Shape: []int{1}, U8: []byte{1}}},
		"metadata":   {metadataKey: {Shape: []int{1}, U8: []byte{1}}},
		"not utf-8":  {"\xff": {Shape: []int{1}, U8: []byte{1}}},
		"two kinds":  {"x": {Shape: []int{1}, U8: []byte{1}, I64: []int64{1}}},
		"no kind":    {"x": {Shape: []int{1}}},
		"wrong size": {"x": {Shape: []int{2}, U8: []byte{1}}},
		"negative":   {"x": {Shape: []int{-1, -1}, U8: []byte{1}}},
		"overflow":   {"x": {Shape: []int{math.MaxInt, 2}, U8: []byte{1}}},
	} {
		if _, err := Write(io.Discard, tensors, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Write(io.Discard, nil, map[string]string{"k": "\xff"}); err == nil {
		t.Error("metadata that is not UTF-8: no error")
	}
}

type brokenWriter struct{ left int }

func (b *brokenWriter) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestWriteReportsWriterError(t *testing.T) {
	tensors, metadata := sample()
	_, done := encode(t, tensors, metadata)
	for left := range int(done.Bytes) {
		if _, err := Write(&brokenWriter{left}, tensors, metadata); !errors.Is(err, io.ErrShortWrite) {
			t.Fatalf("room for %d bytes: %v", left, err)
		}
	}
}

// Every shortened file and every flipped bit must be noticed.
func TestDamageIsNoticed(t *testing.T) {
	tensors, metadata := sample()
	raw, _ := encode(t, tensors, metadata)
	for n := range raw {
		if _, err := verify(raw[:n]); !errors.Is(err, ErrTooShort) {
			t.Errorf("first %d of %d bytes: %v", n, len(raw), err)
		}
	}
	for i := range raw {
		bad := bytes.Clone(raw)
		bad[i] ^= 0x40
		if _, err := verify(bad); err == nil {
			t.Errorf("byte %d altered: no error", i)
		}
	}
	if _, err := verify(append(bytes.Clone(raw), 0)); !errors.Is(err, ErrFormat) {
		t.Errorf("one byte more: %v", err)
	}
}

func verify(raw []byte) (Written, error) {
	f, err := open(raw)
	if err != nil {
		return Written{}, err
	}
	return f.VerifyDigest()
}

// file builds a file from an unchecked header and n bytes of data.
func file(header string, n int) []byte {
	raw := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(raw, header...), make([]byte, n)...)
}

func TestHostileHeaders(t *testing.T) {
	u8 := func(shape, offsets string) string {
		return fmt.Sprintf(`{"dtype":"U8","shape":%s,"data_offsets":%s}`, shape, offsets)
	}
	for name, raw := range map[string][]byte{
		"empty object with data": file(`{}`, 3),
		"array":                  file(`[]`, 0),
		"huge length":            append(binary.LittleEndian.AppendUint64(nil, math.MaxUint64), "{}"...),
		"duplicate name":         file(`{"a":`+u8("[1]", "[0,1]")+`,"a":`+u8("[1]", "[1,2]")+`}`, 2),
		"duplicate by escape":    file(`{"a":`+u8("[1]", "[0,1]")+`,"\u0061":`+u8("[1]", "[1,2]")+`}`, 2),
		"duplicate key":          file(`{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1),
		"duplicate metadata":     file(`{"__metadata__":{"k":"1","k":"2"}}`, 0),
		"metadata number":        file(`{"__metadata__":{"k":1}}`, 0),
		"overlap":                file(`{"a":`+u8("[2]", "[0,2]")+`,"b":`+u8("[2]", "[1,3]")+`}`, 3),
		"same place":             file(`{"a":`+u8("[2]", "[0,2]")+`,"b":`+u8("[2]", "[0,2]")+`}`, 2),
		"gap":                    file(`{"a":`+u8("[1]", "[0,1]")+`,"b":`+u8("[1]", "[2,3]")+`}`, 3),
		"not from zero":          file(`{"a":`+u8("[1]", "[1,2]")+`}`, 2),
		"out of range":           file(`{"a":`+u8("[9]", "[0,9]")+`}`, 2),
		"backwards":              file(`{"a":`+u8("[1]", "[2,1]")+`}`, 2),
		"shape and offsets":      file(`{"a":`+u8("[3]", "[0,2]")+`}`, 2),
		"shape overflow":         file(`{"a":`+u8("[9223372036854775807,4]", "[0,2]")+`}`, 2),
		"empty but overflowing":  file(`{"a":`+u8("[0,9223372036854775807,4]", "[0,0]")+`}`, 0),
		"number overflow":        file(`{"a":`+u8("[99999999999999999999]", "[0,2]")+`}`, 2),
		"negative":               file(`{"a":`+u8("[-2]", "[0,2]")+`}`, 2),
		"fraction":               file(`{"a":`+u8("[2.0]", "[0,2]")+`}`, 2),
		"many dimensions":        file(`{"a":`+u8("[1"+strings.Repeat(",1", 40)+"]", "[0,1]")+`}`, 1),
		"dtype":                  file(`{"a":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}}`, 2),
		"missing dtype":          file(`{"a":{"shape":[1],"data_offsets":[0,1]}}`, 1),
		"missing offsets":        file(`{"a":{"dtype":"U8","shape":[0]}}`, 0),
		"three offsets":          file(`{"a":`+u8("[1]", "[0,1,2]")+`}`, 1),
		"unknown key":            file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":1}}`, 1),
		"two objects":            file(`{}{}`, 0),
		"trailing comma":         file(`{"a":`+u8("[1,]", "[0,1]")+`}`, 1),
		"not utf-8":              file("{\"\xff\":"+u8("[1]", "[0,1]")+`}`, 1),
		"deep":                   file(strings.Repeat(`{"a":`, 20000), 0),
	} {
		if _, err := open(raw); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if f, err := open(file(`{}  `, 0)); err != nil || len(f.Tensors()) != 0 {
		t.Errorf("empty file refused: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	tensors, metadata := sample()
	raw, _ := encode(f, tensors, metadata)
	f.Add(raw)
	f.Add(raw[:len(raw)-40])
	f.Add(file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1))
	f.Add(file(`{"__metadata__":{"k":"v"}}`, 0))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := open(raw)
		if err != nil {
			return
		}
		total := int64(0)
		for _, info := range file.Tensors() {
			got, err := file.Read(info.Name)
			if err != nil {
				t.Fatalf("tensor %q of an accepted file: %v", info.Name, err)
			}
			if got.count()*info.DType.Size() != info.End-info.Begin {
				t.Fatalf("tensor %q has %d elements", info.Name, got.count())
			}
			total += info.End - info.Begin
		}
		if file.data+total != int64(len(raw)) {
			t.Fatalf("%d bytes of %d covered", file.data+total, len(raw))
		}
		_, _ = file.VerifyDigest()
	})
}

func BenchmarkWrite16MiB(b *testing.B) {
	x := Tensor{Shape: []int{1 << 22}, F32: make([]float32, 1<<22)}
	b.SetBytes(1 << 24)
	for b.Loop() {
		must.Get(Write(io.Discard, map[string]Tensor{"x": x}, nil))(b)
	}
}

func BenchmarkRead16MiB(b *testing.B) {
	var raw bytes.Buffer
	x := Tensor{Shape: []int{1 << 22}, F32: make([]float32, 1<<22)}
	must.Get(Write(&raw, map[string]Tensor{"x": x}, nil))(b)
	b.SetBytes(1 << 24)
	for b.Loop() {
		f := must.Get(open(raw.Bytes()))(b)
		must.Get(f.Read("x"))(b)
	}
}
