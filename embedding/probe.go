package embedding

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/seed-90d10d51/pipeline/embedding/cache"
	"github.com/seed-90d10d51/pipeline/internal/dense"
	"github.com/seed-90d10d51/pipeline/preprocess"
)

// The probe pictures: drawn scenes with edges, texture and saturated colours; the
// last is large enough for scaled decoding. They are files rather than code, so
// that every build decodes the same bytes. TestProbePictures -update writes them.
//
//go:embed probes
var probeFiles embed.FS

// probeNames are the probe pictures in the order of Probes. A change of them
// makes older models incomparable: give a new picture a new name, and Probes a
// new length.
func probeNames() []string { return []string{"landscape.jpg", "portrait.jpg", "large.jpg"} }

// leastProbeCosine is the least mean cosine of Probes of the same pictures under
// two decoders with which embeddings may be mixed.
const leastProbeCosine = 0.999

// Probes are the embeddings of the probe pictures, one after the other, 3·d
// values. They show whether two decoders are the same to a backbone. In JSON they
// are the base64 of little-endian float32.
type Probes []float32

// MarshalText implements encoding.TextMarshaler.
func (p Probes) MarshalText() ([]byte, error) {
	raw, err := binary.Append(nil, binary.LittleEndian, []float32(p))
	return base64.StdEncoding.AppendEncode(nil, raw), err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Probes) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || len(raw)%4 != 0 {
		return errors.New("the features of the probe pictures are not base64 of float32 values")
	}
	*p = make(Probes, len(raw)/4)
	_, err = binary.Decode(raw, binary.LittleEndian, []float32(*p))
	return err
}

func (p Probes) validate(dim int) error {
	n := len(probeNames())
	if len(p)%n != 0 || dim != 0 && len(p) != 0 && len(p) != n*dim || !dense.Finite32(p) {
		return fmt.Errorf("the features of the %d probe pictures have %d values in all, or some are not finite; the "+
			"dimension is %d", n, len(p), dim)
	}
	return nil
}

// cosine returns the mean cosine over the pictures; false if either side is
// unknown. Features without a length have none: then it is NaN.
func (p Probes) cosine(o Probes) (mean float64, known bool) {
	n := len(probeNames())
	if len(p) == 0 || len(p) != len(o) {
		return 0, false
	}
	d := len(p) / n
	for i := range n {
		mean += cosineOf(p[i*d:(i+1)*d], o[i*d:(i+1)*d]) / float64(n)
	}
	return mean, true
}

func cosineOf(a, b []float32) float64 {
	var ab, aa, bb float64
	for j := range a {
		x, y := float64(a[j]), float64(b[j])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	return ab / math.Sqrt(aa*bb)
}

// leastReferenceCosine is the least cosine of the features of the reference photo and those
// published with the network. Decoders make 0.999 of it.
const leastReferenceCosine = 0.99

// checkReference warns if the features of the reference photo, the first probe picture, are
// not those that Python found for the network as it was published.
func (e *Embedder) checkReference() {
	if of := e.reference(); of < leastReferenceCosine {
		e.options.Log.Warn("the features of the reference photo are not those that are published with the network: "+
			"try another build of ONNX Runtime, or extractor.provider=cpu", "backbone", e.file.Name, "cosine", of)
	}
}

// reference returns the cosine of the first values of the first probe picture's embedding and
// the published ones; 1 where none are published for these settings, or for this picture's
// pixels.
func (e *Embedder) reference() float64 {
	entry := e.file.Entry
	if entry == nil || len(e.probes) < len(entry.Reference) || len(entry.Reference) == 0 ||
		e.settings.Output != entry.Output || e.spec.Geometry() != entry.Preprocess.Geometry() {
		return 1
	}
	return cosineOf(e.probes[:len(entry.Reference)], entry.Reference)
}

// probe embeds the probe pictures, through the cache. The memory for images does
// not limit it: the largest takes 11 MiB. It returns nil for a backbone that
// overflows on them.
func (e *Embedder) probe() (Probes, error) {
	enough := e.options.Preprocess
	enough.Memory = "64MiB"
	budget, err := enough.Budget()
	if err != nil {
		return nil, err
	}
	pre, err := preprocess.New(e.spec, budget)
	if err != nil {
		return nil, err
	}
	var all Probes
	for _, name := range probeNames() {
		v, err := e.probePicture(pre, name)
		if errors.Is(err, errNotFinite) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("embed the probe picture %s: %w", name, err)
		}
		all = append(all, v...)
	}
	return all, e.cache.Flush()
}

func (e *Embedder) probePicture(pre *preprocess.Preprocessor, name string) ([]float32, error) {
	file, err := probeFiles.ReadFile("probes/" + name)
	if err != nil {
		return nil, err
	}
	hash := cache.HashOf(file)
	if v, hit := e.cache.Get(hash); hit {
		return v, nil
	}
	pixels, rows, err := tensors(context.Background(), pre, file)
	if err != nil {
		return nil, err
	}
	x := dense.New32(rows, e.Dim())
	if err := extract(e.extractor, x, pixels); err != nil {
		return nil, err
	}
	v := meanRow(x, 0, rows)
	if !dense.Finite32(v) {
		return nil, errNotFinite
	}
	return v, e.cache.Put(hash, v)
}
