package pipeline_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

var (
	threeRows = [][]float32{{1, 0.1, 0}, {1, 0.2, 0}, {0.1, 1, 0}, {0.3, 1, 0}, {0, 0.1, 1}, {0.1, 0, 1}}
	threeOf   = []string{"cat", "cat", "dog", "dog", "newt", "newt"}
)

// rowsRequest writes a request with its rows.
func rowsRequest(t *testing.T, fields map[string]any, rows [][]float32) []byte {
	t.Helper()
	fields["rows"], fields["columns"] = len(rows), len(rows[0])
	request := bytes.NewBuffer(append(must.Get(json.Marshal(fields))(t), '\n'))
	for _, row := range rows {
		must.Do(t, binary.Write(request, binary.LittleEndian, row))
	}
	return request.Bytes()
}

// TestRows: another program fits a model and gets the probabilities that Predict has; a request that cannot be
// answered says why, and the next one is answered.
func TestRows(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "é.model")
	p := must.Get(pipeline.Open(ctx))(t)
	asked := [][]float32{{0.2, 0, 1}, {1, 1, 0}}
	in := bytes.Join([][]byte{
		rowsRequest(t, map[string]any{"do": "predict", "model": file}, asked),
		rowsRequest(t, map[string]any{"do": "fit", "model": file, "labels": threeOf, "method": "ncm"}, threeRows),
		rowsRequest(t, map[string]any{"do": "predict", "model": file}, asked),
		rowsRequest(t, map[string]any{"do": "predict", "model": file}, [][]float32{{1, 2}}),
		rowsRequest(t, map[string]any{"do": "fit", "model": file, "labels": threeOf[1:]}, threeRows),
		rowsRequest(t, map[string]any{"do": "sing", "model": file}, asked),
		rowsRequest(t, map[string]any{"do": "predict"}, asked),
		rowsRequest(t, map[string]any{"do": "predict", "model": file}, [][]float32{{0, float32(math.NaN()), 0}}),
		rowsRequest(t, map[string]any{"do": "fit", "model": file, "labels": threeOf[:2], "method": "ncm"},
			threeRows[:2]),
		rowsRequest(t, map[string]any{"do": "predict", "model": file}, asked[:1]),
	}, nil)
	var out bytes.Buffer
	must.Do(t, p.Rows(ctx, bytes.NewReader(in), &out))
	m := must.Get(p.Fit(ctx, threeRows, threeOf, pipeline.Method("ncm")))(t)
	want := must.Get(m.Predict(ctx, asked))(t)
	for i, wants := range []struct {
		text string
		rows int
	}{
		{"no such file", 0}, {`{"classes":["cat","dog","newt"],"method":"ncm","rows":0}`, 0}, {`"newt"]`, 2},
		{"rows have 2 values, and those that the model has learned 3", 0}, {"6 rows and 5 labels", 0}, {"sing", 0},
		{"names no file", 0}, {"NaN", 0}, {`{"classes":["cat"],"method":"ncm","rows":0}`, 0}, {`{"classes":["cat"]`, 1},
	} {
		line := must.Get(out.ReadString('\n'))(t)
		var answer struct {
			Classes []string
			Rows    int
		}
		must.Do(t, json.Unmarshal([]byte(line), &answer))
		if !strings.Contains(line, wants.text) || answer.Rows != wants.rows {
			t.Errorf("answer %d: %s, want %d rows and %q", i, line, wants.rows, wants.text)
		}
		for r := range answer.Rows {
			row := make([]float64, len(answer.Classes))
			must.Do(t, binary.Read(&out, binary.LittleEndian, row))
			for k, probability := range row {
				for _, ranked := range want[r].TopK {
					if i == 2 && ranked.Label == answer.Classes[k] && math.Abs(probability-ranked.Probability) > 1e-12 {
						t.Errorf("row %d, %s: %g, want %g", r, ranked.Label, probability, ranked.Probability)
					}
				}
			}
		}
	}
	if out.Len() > 0 {
		t.Errorf("%d bytes too many", out.Len())
	}
}

// TestRowsThatEnd: a stream that ends within a request, or is none, is an error; memory is taken for rows that come.
func TestRowsThatEnd(t *testing.T) {
	p := must.Get(pipeline.Open(t.Context()))(t)
	whole := string(rowsRequest(t, map[string]any{"do": "predict", "model": "a"}, threeRows))
	for _, in := range []string{"{", "no JSON\n", `{"do":"fit"}`, whole[:len(whole)-1],
		`{"do":"fit","rows":-1,"columns":1}` + "\n", `{"do":"fit","rows":1,"columns":99999999}` + "\n",
		`{"do":"fit","rows":1000000000000,"columns":1000000}` + "\n"} {
		if err := p.Rows(t.Context(), strings.NewReader(in), io.Discard); err == nil {
			t.Errorf("%.60q is taken for a request", in)
		}
	}
}

// TestRowsEndWithTheirContext: also where nobody closes the input.
func TestRowsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	p := must.Get(pipeline.Open(ctx))(t)
	cancel()
	if err := p.Rows(ctx, in, io.Discard); err != ctx.Err() {
		t.Error(err)
	}
}
