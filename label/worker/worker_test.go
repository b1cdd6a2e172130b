package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/seed-90d10d51/pipeline/dataset"
	"github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// An echo embeds a path as its length; names that begin with "bad" and those
// with a NUL fail.
type echo struct{ seen *atomic.Int64 }

func (e echo) EmbedSeq(ctx context.Context, _ string, samples iter.Seq[dataset.Sample],
	emit func(embedding.Item) error) (embedding.Counts, error) {
	for s := range samples {
		if e.seen != nil {
			e.seen.Add(1)
		}
		item := embedding.Item{Sample: s, Vector: []float32{float32(len(s.Path))}}
		if strings.HasPrefix(s.Path, "bad") || strings.Contains(s.Path, "\x00") {
			item.Vector, item.Err = nil, errors.New("no picture")
		}
		if err := emit(item); err != nil {
			return embedding.Counts{}, err
		}
	}
	return embedding.Counts{}, ctx.Err()
}

type lengthOf struct {
	Path   string  `json:"path"`
	Length float32 `json:"length"`
}

func lengths(items []embedding.Item) ([]any, error) {
	var answers []any
	for _, item := range items {
		answers = append(answers, lengthOf{dataset.EscapePath(item.Sample.Path), item.Vector[0]})
	}
	return answers, nil
}

func answers(t *testing.T, in string) (string, Outcome, error) {
	t.Helper()
	var out bytes.Buffer
	outcome,
		err := Worker{Embedder: echo{}, In: strings.NewReader(in), Out: &out, Answer: lengths}.Run(context.Background())
	return out.String(), outcome, err
}

func TestAnswersKeepOrderAndID(t *testing.T) {
	got, outcome := must.Get2(answers(t, strings.Join([]string{
		"a.jpg", "", `{"path":"<b&>.jpg","id":{"row":7,"s":"<"}}`, "bad.jpg", `{"path":"caf%E9.jpg","id":null}`,
		"d\xe9.jpg\r",
		`{"path":""}`, `{"id":3}`, `{"path":1,"id":4}`, `{"file":"x"}`, `{"path":"x"} {}`, "{", "last",
	}, "\n")))(t)
	want := []string{
		`{"path":"a.jpg","length":5}`, `{"id":{"row":7,"s":"<"},"path":"<b&>.jpg","length":8}`,
		`{"path":"bad.jpg","error":"no picture"}`, `{"id":null,"path":"caf%E9.jpg","length":8}`,
		`{"path":"d%E9.jpg","length":6}`,
	}
	lines := strings.Split(strings.TrimSpace(got), "\n")
	for i, w := range want {
		if lines[i] != w {
			t.Errorf("answer %d is %s, want %s", i, lines[i], w)
		}
	}
	for i, line := range lines[len(want) : len(lines)-1] {
		var f failure
		if err := json.Unmarshal([]byte(line), &f); err != nil || !strings.HasPrefix(f.Error, "request: ") {
			t.Errorf("bad line %d: %s (%v)", i, line, err)
		}
	}
	if len(lines) != 12 || lines[11] != `{"path":"last","length":4}` || outcome != (Outcome{12, 7}) {
		t.Errorf("%d answers, %+v:\n%s", len(lines), outcome, got)
	}
}

// TestAnswersDoNotWait for the next request.
func TestAnswersDoNotWait(t *testing.T) {
	in, requests := io.Pipe()
	replies, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := Worker{Embedder: echo{}, In: in, Out: out, Answer: lengths}.Run(context.Background())
		ended <- err
	}()
	scan := bufio.NewScanner(replies)
	for i := range 200 {
		name := strings.Repeat("x", i+1)
		must.Get(fmt.Fprintln(requests, name))(t)
		if !scan.Scan() || scan.Text() != fmt.Sprintf(`{"path":%q,"length":%d}`, name, i+1) {
			t.Fatalf("answer %d: %s (%v)", i, scan.Text(), scan.Err())
		}
	}
	requests.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// An endless input counts the bytes read from it.
type endless struct{ lines atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.lines.Add(1)
	return copy(p, "a\n"), nil
}

// TestBackPressure: while nobody reads the answers, a bounded number of
// requests is read.
func TestBackPressure(t *testing.T) {
	in := &endless{}
	var seen atomic.Int64
	replies, out := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := Worker{Embedder: echo{&seen}, In: in, Out: out, Answer: lengths}.Run(ctx)
		ended <- err
	}()
	scan := bufio.NewScanner(replies)
	taken := 0
	for ; taken < 5000 && scan.Scan(); taken++ {
	}
	const bound = requestsWaiting + 3*batchAnswers + 2*4096 // the last: lines in the scanner's and the writer's buffers
	if n := int(seen.Load()); taken != 5000 || n > taken+bound {
		t.Errorf("%d requests are in work after %d answers", n, taken)
	}
	cancel()
	replies.Close()
	if err := <-ended; err == nil {
		t.Error("a cancelled run ended well")
	}
}

func TestOutputThatIsGone(t *testing.T) {
	replies, out := io.Pipe()
	replies.Close()
	_, err := Worker{Embedder: echo{}, In: &endless{}, Out: out, Answer: lengths}.Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "write answers") {
		t.Errorf("%v", err)
	}
}

// TestEndlessLine: a line that is too long is one failure, and its length does not
// matter.
func TestEndlessLine(t *testing.T) {
	for _, n := range []int{maxLineBytes + 1, 20 * maxLineBytes} {
		got, outcome, err := answers(t, "a\n"+strings.Repeat("x", n)+"\nbb\r\n"+strings.Repeat("y", n))
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if err != nil || outcome != (Outcome{4, 2}) || lines[2] != `{"path":"bb","length":2}` {
			t.Fatalf("%v, %+v, %.300s", err, outcome, got)
		}
		for _, i := range []int{1, 3} {
			if !strings.Contains(lines[i], "request: the line has more than 1048576 bytes") {
				t.Errorf("answer %d: %.100s", i, lines[i])
			}
		}
	}
}

func TestErrorsEndTheRun(t *testing.T) {
	torn := io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("torn")))
	w := Worker{Embedder: echo{}, In: torn, Out: io.Discard, Answer: lengths}
	if _, err := w.Run(context.Background()); err == nil ||
		!strings.Contains(err.Error(), "read requests: torn") {
		t.Errorf("a broken input: %v", err)
	}
	broken := errors.New("broken head")
	_, err := Worker{Embedder: echo{}, In: &endless{}, Out: io.Discard,
		Answer: func([]embedding.Item) ([]any, error) { return nil, broken }}.Run(context.Background())
	if !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	silent, _ := io.Pipe() // nothing ever comes
	if _, err := (Worker{Embedder: echo{}, In: silent, Out: io.Discard, Answer: lengths}).Run(ctx); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, line := range []string{"a.jpg", `{"path":"a","id":1}`, `{"path":"%E9"}`, "{", `{"path":"x","id":{"a":[]}}`,
		"\xff"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		q := parse(line)
		if q.err == nil && len(line) > 0 && q.path == "" {
			t.Errorf("%q gives no path and no error", line)
		}
		if q.err == nil && q.id != nil && !json.Valid(q.id) {
			t.Errorf("%q gives the id %q", line, q.id)
		}
	})
}
