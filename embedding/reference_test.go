package embedding

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/extractor/backbone"
	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// TestReferencePhoto: networks that could be run have the features of the reference photo that
// Python found; other pixels, or another network's values, are noticed.
func TestReferencePhoto(t *testing.T) {
	orttest.Open(t)
	files := map[string]string{backbone.OfNewModels: ""}
	for name, file := range map[string]string{"vit-tiny-16-dev": "vit_tiny_patch16_224.onnx",
		"mobilenetv2-dev": "mobilenetv2_features.onnx"} {
		files[name] = shared.Path(t, "models", file)
	}
	for name, file := range files {
		var said bytes.Buffer
		o := DefaultOptions()
		o.Backbone, o.Cache = file, t.TempDir()
		o.Log = slog.New(slog.NewTextHandler(&said, nil))
		e, err := Open(o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e.file.Entry == nil || e.file.Entry.Name != name || len(e.file.Entry.Reference) != 32 {
			t.Fatalf("%s is taken for %+v", name, e.file.Entry)
		}
		of := e.reference()
		t.Logf("%s: cosine %.6f", name, of)
		if !(of >= 0.9995) || strings.Contains(said.String(), "reference photo") {
			t.Errorf("%s: cosine %.6f\n%s", name, of, &said)
		}
		other := e.file.Entry.Reference
		for i, j := 0, len(other)-1; i < j; i, j = i+1, j-1 {
			other[i], other[j] = other[j], other[i]
		}
		e.checkReference()
		if !strings.Contains(said.String(), "reference photo") {
			t.Errorf("%s: nothing is said of other features", name)
		}
		e.spec.Size++
		if of := e.reference(); of != 1 {
			t.Errorf("%s: other pixels are compared, cosine %g", name, of)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
