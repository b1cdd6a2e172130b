package mutation

import (
	"bytes"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-90d10d51/pipeline/internal/safetensors"
)

// A Sealed is a file of tensors that ends in a checksum. To reach what is behind the checksum,
// the content is damaged and sealed again.
type Sealed struct {
	Raw      []byte
	Tensors  map[string]safetensors.Tensor
	Metadata map[string]string
}

// Unseal reads a file.
func Unseal(raw []byte) (Sealed, error) {
	f, err := safetensors.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return Sealed{}, err
	}
	s := Sealed{raw, map[string]safetensors.Tensor{}, f.Metadata()}
	for _, info := range f.Tensors() {
		if info.Name == safetensors.DigestName {
			continue
		}
		if s.Tensors[info.Name], err = f.Read(info.Name); err != nil {
			return Sealed{}, err
		}
	}
	return s, nil
}

// Seal returns the tensors and metadata with a correct checksum, nil if they cannot be written.
func (s Sealed) Seal() []byte {
	var b bytes.Buffer
	if _, err := safetensors.Write(&b, s.Tensors, s.Metadata); err != nil {
		return nil
	}
	return b.Bytes()
}

// With returns a copy of the file with another tensor under a name.
func (s Sealed) With(name string, v safetensors.Tensor) Sealed {
	s.Tensors = maps.Clone(s.Tensors)
	s.Tensors[name] = v
	return s
}

// Mutated returns the file damaged, every second time behind its checksum as Damaged does. Bytes and texts
// are also taken from those of others; nil if it cannot be written.
func (s Sealed) Mutated(i int, rng *rand.Rand, key string, others, texts [][]byte) []byte {
	if i%2 == 0 {
		return Bytes(rng, s.Raw, others)
	}
	return s.Damaged(rng, key, texts)
}

// Damaged returns the file with one to three tensors damaged, or the text under a key of the metadata, and a
// correct checksum; nil if it cannot be written. Text is also taken from the others.
func (s Sealed) Damaged(rng *rand.Rand, key string, others [][]byte) []byte {
	names := slices.Sorted(maps.Keys(s.Tensors))
	if kind := rng.IntN(4); kind > 0 {
		for range 1 + rng.IntN(3) {
			name := names[rng.IntN(len(names))]
			s = s.With(name, forgedTensor(rng, s.Tensors[name]))
		}
	} else {
		text := []byte(s.Metadata[key])
		if rng.IntN(2) == 0 {
			text = Bytes(rng, text, others)
		} else {
			text = forgedNumber(rng, text)
		}
		s.Metadata = maps.Clone(s.Metadata)
		s.Metadata[key] = strings.ToValidUTF8(string(text), "?")
	}
	return s.Seal()
}

// Forgeries returns copies of a tensor, by what is wrong with them.
func Forgeries(v safetensors.Tensor) map[string]safetensors.Tensor {
	all := map[string]safetensors.Tensor{}
	n := len(v.F32) + len(v.F64) + len(v.I64) + len(v.U8)
	if n == 0 {
		return all
	}
	for name, value := range map[string]float64{
		"NaN": math.NaN(), "Inf": math.Inf(1), "-Inf": math.Inf(-1),
		"-1": -1, "0": 0, "huge": math.MaxFloat32, "-huge": -math.MaxFloat32, "tiny": 1e-300,
		"largest": math.MaxFloat64,
	} {
		w, ok := filled(v, value, n-1, n)
		if ok {
			all[name] = w
		}
		w, ok = filled(v, value, 0, n)
		if ok && !math.IsNaN(value) && !math.IsInf(value, 0) {
			all["all "+name] = w
		}
	}
	if len(v.Shape) == 0 {
		return all
	}
	if rows := v.Shape[0]; rows > 0 {
		w := v
		w.Shape = slices.Clone(v.Shape)
		w.Shape[0]--
		keep := n / rows * (rows - 1)
		w.F32, w.F64, w.I64, w.U8 = cutTo(v.F32, keep), cutTo(v.F64, keep), cutTo(v.I64, keep), cutTo(v.U8, keep)
		all["one row less"] = w
	}
	flat := v
	flat.Shape = append(slices.Clone(v.Shape), 1)
	all["flat"] = flat
	all["another type"] = safetensors.Tensor{Shape: v.Shape, U8: make([]byte, n)}
	if v.U8 != nil {
		all["another type"] = safetensors.Tensor{Shape: v.Shape, F64: make([]float64, n)}
	}
	return all
}

// filled returns the tensor with a value in the places from … to−1, false if its
// type cannot hold the value or nothing changes.
func filled(v safetensors.Tensor, value float64, from, to int) (safetensors.Tensor, bool) {
	whole := !math.IsNaN(value) && math.Abs(value) < 1<<63 && value == math.Trunc(value)
	changed := false
	v.F32, v.F64, v.I64 = slices.Clone(v.F32), slices.Clone(v.F64), slices.Clone(v.I64)
	for i := from; i < to; i++ {
		switch {
		case v.F32 != nil && (math.IsInf(value, 0) || !math.IsInf(float64(float32(value)), 0)):
			changed = changed || v.F32[i] != float32(value)
			v.F32[i] = float32(value)
		case v.F64 != nil:
			changed = changed || v.F64[i] != value
			v.F64[i] = value
		case v.I64 != nil && whole:
			changed = changed || v.I64[i] != int64(value)
			v.I64[i] = int64(value)
		case v.I64 != nil && value == math.MaxFloat64:
			changed, v.I64[i] = true, math.MaxInt64
		}
	}
	return v, changed
}

func forgedTensor(rng *rand.Rand, v safetensors.Tensor) safetensors.Tensor {
	all := Forgeries(v)
	if rng.IntN(2) == 0 && len(all) > 0 {
		return all[slices.Sorted(maps.Keys(all))[rng.IntN(len(all))]]
	}
	v.F32, v.F64, v.I64 = slices.Clone(v.F32), slices.Clone(v.F64), slices.Clone(v.I64)
	for range 1 + rng.IntN(4) {
		bits := rng.Uint64()
		switch {
		case len(v.F32) > 0:
			v.F32[rng.IntN(len(v.F32))] = math.Float32frombits(uint32(bits))
		case len(v.F64) > 0:
			v.F64[rng.IntN(len(v.F64))] = math.Float64frombits(bits)
		case len(v.I64) > 0:
			v.I64[rng.IntN(len(v.I64))] += int64(bits%9) - 4
		}
	}
	return v
}

// forgedNumber replaces a number of a JSON document.
func forgedNumber(rng *rand.Rand, text []byte) []byte {
	isDigit := func(b byte) bool { return b >= '0' && b <= '9' || b == '.' }
	var starts []int
	for i := 1; i < len(text); i++ {
		if isDigit(text[i]) && strings.IndexByte(":[,-", text[i-1]) >= 0 {
			starts = append(starts, i)
		}
	}
	if len(starts) == 0 {
		return text
	}
	from := starts[rng.IntN(len(starts))]
	to := from
	for to < len(text) && isDigit(text[to]) {
		to++
	}
	values := []string{"0", "-1", "1", "2", "3", "1e-300", "1e300", "-1e300", "0.5", "4294967296",
		"9223372036854775807"}
	return slices.Concat(text[:from], []byte(values[rng.IntN(len(values))]), text[to:])
}

func cutTo[T any](s []T, n int) []T { return s[:min(n, len(s))] }
