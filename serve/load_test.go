package serve

import (
	"bytes"
	"context"
	"fmt"
	pictures "image"
	"image/jpeg"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/dataset"
	pixels "github.com/seed-90d10d51/pipeline/embedding"
	"github.com/seed-90d10d51/pipeline/internal/random"
	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/testenv"
	"github.com/seed-90d10d51/pipeline/method"
	"github.com/seed-90d10d51/pipeline/model"
	"github.com/seed-90d10d51/pipeline/teach"
)

// BenchmarkLabel is the time to label one photo of 84×84 by the built-in backbone:
// "bare" without the server, one photo after another; "clients=…" in requests of so
// many clients, each of which waits for its answer; "offered=200" in 200 requests per
// second, whether or not those before were answered, counted from when each was due.
// s-of-CPU, which a busy machine does not change, includes the clients.
func BenchmarkLabel(b *testing.B) {
	o := pixels.Options{Backbone: testenv.Small(b)}
	o.Cache = b.TempDir()
	e, err := pixels.Open(o)
	if err != nil {
		b.Skip(err)
	}
	defer e.Close()
	m, err := model.New(model.Settings{Method: "plda", Heads: method.DefaultConfig(), Provenance: e.Provenance()})
	if err != nil {
		b.Fatal(err)
	}
	session,
		err := teach.Open(teach.Options{Model: b.TempDir() + "/m.model", Fresh: m, Dim: e.Dim(), Temp: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	for i := range 20 {
		items := must.Get(e.EmbedContents(b.Context(), [][]byte{noise(b, i)}))(b)
		must.Get(session.Teach([]teach.ID{teach.ID(items[0].Hash)}, [][]float32{items[0].Vector}, fmt.Sprint(i%5)))(b)
	}
	session.Wait()
	b.Run("bare", func(b *testing.B) {
		var took []float64
		photos, before := noises(b), cpu(b)
		for range b.N {
			photo, begun := photos[len(took)], time.Now()
			items := must.Get(e.EmbedContents(b.Context(), [][]byte{photo}))(b)
			must.Get(session.Score(matrix(items), 5))(b)
			took = append(took, time.Since(begun).Seconds())
		}
		report(b, took, before)
	})
	server := New(Options{Session: session, Embedder: e,
		Scan: func(context.Context) ([]dataset.Sample, error) { return nil, nil }})
	url, stop := listen(b, server)
	defer stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("clients=%d", clients), func(b *testing.B) {
			photos, took := noises(b), make([]float64, b.N)
			var next atomic.Int64
			var working sync.WaitGroup
			b.ResetTimer()
			before := cpu(b)
			for range clients {
				working.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						begun := time.Now()
						if code, err := labelOnce(client, url, photos[i]); code != http.StatusOK || err != nil {
							b.Error(code, err)
						}
						took[i] = time.Since(begun).Seconds()
					}
				})
			}
			working.Wait()
			report(b, took, before)
		})
	}
	b.Run("offered=200", func(b *testing.B) {
		const every = time.Second / 200
		photos, took, due := noises(b), make([]float64, b.N), time.NewTicker(every)
		defer due.Stop()
		var sent sync.WaitGroup
		b.ResetTimer()
		before, begun := cpu(b), time.Now()
		for i := range b.N {
			<-due.C
			sent.Go(func() {
				if code, err := labelOnce(client, url, photos[i]); code != http.StatusOK || err != nil {
					b.Error(code, err)
				}
				took[i] = (time.Since(begun) - time.Duration(i+1)*every).Seconds()
			})
		}
		sent.Wait()
		report(b, took, before)
	})
}

// noises returns a photo for each iteration.
func noises(b *testing.B) [][]byte {
	photos := make([][]byte, b.N)
	for i := range photos {
		photos[i] = noise(b, 1000+i)
	}
	return photos
}

func report(b *testing.B, took []float64, before time.Duration) {
	b.ReportMetric((cpu(b)-before).Seconds()/float64(len(took)), "s-of-CPU/photo")
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "photos/s")
	slices.Sort(took)
	b.ReportMetric(1000*took[len(took)/2], "ms-p50")
	b.ReportMetric(1000*took[len(took)*99/100], "ms-p99")
}

// cpu returns the processor time that the process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// noise returns a JPEG of 84×84.
func noise(tb testing.TB, seed int) []byte {
	tb.Helper()
	rng := random.Stream(uint64(seed), "noise")
	picture := pictures.NewYCbCr(pictures.Rect(0, 0, 84, 84), pictures.YCbCrSubsampleRatio420)
	for i := range picture.Y {
		picture.Y[i] = byte(100 + i/84 + rng.IntN(30))
	}
	var out bytes.Buffer
	must.Do(tb, jpeg.Encode(&out, picture, nil))
	return out.Bytes()
}

func labelOnce(client *http.Client, url string, photo []byte) (int, error) {
	answer, err := client.Post(url+"/v1/label", "image/jpeg", bytes.NewReader(photo))
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, err
}

// listen serves on a free port until stop is called.
func listen(tb testing.TB, server *Server) (url string, stop func()) {
	tb.Helper()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(tb)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l) }()
	return "http://" + l.Addr().String(), sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			tb.Error(err)
		}
	})
}
