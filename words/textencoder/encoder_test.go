package textencoder_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/ort/orttest"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/onnx"
	"github.com/seed-90d10d51/pipeline/words/textencoder"
	"github.com/seed-90d10d51/pipeline/words/textencoder/textencodertest"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

func words(t testing.TB) *tokenizer.Tokenizer {
	t.Helper()
	return must.Get(tokenizer.Parse(textencodertest.Vocabulary(t)))(t)
}

func TestEmbed(t *testing.T) {
	e, err := textencoder.Open(orttest.Open(t), textencodertest.TextSide(t), "small", words(t), textencoder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rows := must.Get(e.Embed(t.Context(), []string{"a photo of a RED fox.", "red", "blue"}))(t)
	for i, colour := range []int{0, 0, 2} {
		if rows[i][colour] < 0.99 {
			t.Errorf("row %d: %v", i, rows[i])
		}
	}
	if e.Length() != 77 {
		t.Errorf("length %d", e.Length())
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Embed(stopped, []string{"red"}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the end of the context", err)
	}
	if err := errors.Join(e.Close(), e.Close()); err != nil {
		t.Error(err)
	}
	if _, err := e.Embed(t.Context(), []string{"red"}); err == nil {
		t.Error("a closed network embeds")
	}
}

// TestRefused: networks that are not of texts are refused, with what is wrong.
func TestRefused(t *testing.T) {
	rt := orttest.Open(t)
	build := func(make func(g *onnx.Graph)) []byte {
		g := onnx.NewGraph("t:")
		make(g)
		return must.Get(g.Model("test", nil))(t)
	}
	sum := func(g *onnx.Graph, ids string, axis int64) string {
		return g.Node("ReduceSum", []string{g.Cast(ids, onnx.Float32), g.Int64s(axis)}, onnx.Int("keepdims", 1))
	}
	for _, c := range []struct {
		model  []byte
		output string
		says   string
	}{
		{[]byte("nothing"), "", "text network x"},
		{textencodertest.PhotoSide(t), "", "no output is one vector per text"},
		{textencodertest.TextSide(t), "other", `no output "other"`},
		{build(func(g *onnx.Graph) {
			a, b := g.Input("ids", onnx.Int64, 1, 4), g.Input("types", onnx.Int64, 1, 4)
			g.Output("y", sum(g, g.Op("Add", a, b), 1), onnx.Float32, 1, 1)
		}), "", "only tokens and their mask"},
		{build(func(g *onnx.Graph) {
			g.Output("y", sum(g, g.Input("ids", onnx.Int64, 8, 4), 1), onnx.Float32, 8, 1)
		}), "", "8 texts at once"},
		{build(func(g *onnx.Graph) {
			g.Output("y", sum(g, g.Input("ids", onnx.Int64, 1, 1<<20), 1), onnx.Float32, 1, 1)
		}), "", "takes 1048576 tokens"},
		{build(func(g *onnx.Graph) {
			ids := g.Input("ids", onnx.Int64, onnx.Free, onnx.Free)
			places := g.Op("Add", ids, g.Int64s(make([]int64, 64)...)) // of so many tokens, as SigLIP's
			g.Output("y", sum(g, places, 1), onnx.Float32, onnx.Free, 1)
		}), "", "does not run with 77 tokens; if it takes fewer, set text.length"},
		{build(func(g *onnx.Graph) {
			ids := g.Input("ids", onnx.Int64, 1, 4)
			g.Output("y", sum(g, ids, 1), onnx.Float32, 1, 1)
			g.Output("z", sum(g, ids, 1), onnx.Float32, 1, 1)
		}), "", "set text.output to one of y, z"},
		{build(func(g *onnx.Graph) {
			g.Output("y", sum(g, g.Input("mask", onnx.Int64, 1, 4), 1), onnx.Float32, 1, 1)
		}), "", "none of which takes tokens"},
		{build(func(g *onnx.Graph) {
			ids := g.Input("ids", onnx.Int64, 1, 4)
			g.Output("y", g.Op("Mul", sum(g, ids, 1), g.Float32s([]float32{0}, 1, 1)), onnx.Float32, 1, 1)
		}), "", ""},
	} {
		e, err := textencoder.Open(rt, c.model, "x", words(t), textencoder.Config{Output: c.output})
		if c.says == "" {
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Embed(t.Context(), []string{"red"}); err == nil || !strings.Contains(err.Error(), "zero") {
				t.Errorf("error %v for an embedding of zeros", err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %v, want one with %q", err, c.says)
		}
	}
}
