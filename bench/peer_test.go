package bench_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// pythonVariable names the environment variable with the Python, with
// onnxruntime and Pillow, to compare with. If it is not set the comparisons are
// skipped.
const pythonVariable = "PIPELINE_PYTHON"

// A peer is a Python program that repeats the same work on request, so that our
// rounds and its rounds can alternate.
type peer struct {
	in  io.Writer
	out *bufio.Scanner
}

// newPeer starts a script, sends it the input lines and waits until it is warm.
func newPeer(b *testing.B, files []string, script string, args ...string) peer {
	b.Helper()
	python := os.Getenv(pythonVariable)
	if python == "" {
		b.Skipf("set %s to a Python with onnxruntime and Pillow", pythonVariable)
	}
	if kernels := os.Getenv("OPENBLAS_CORETYPE"); kernels != "" {
		b.Logf("OPENBLAS_CORETYPE is %s: OpenBLAS takes those kernels, not the ones for this machine", kernels)
	}
	cmd := exec.Command(python, append([]string{script}, args...)...)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(b)
	out := must.Get(cmd.StdoutPipe())(b)
	must.Do(b, cmd.Start())
	b.Cleanup(func() {
		in.Close() // its standard input ends, and so does it
		if err := cmd.Wait(); err != nil {
			b.Errorf("%s: %v", script, err)
		}
	})
	p := peer{in, bufio.NewScanner(out)}
	if said := p.ask(b, strings.Join(files, "\n")+"\n"); said != "ready" {
		b.Fatalf("%s says %q", script, said)
	}
	return p
}

func (p peer) ask(b *testing.B, line string) string {
	b.Helper()
	must.Get(fmt.Fprintln(p.in, line))(b)
	if !p.out.Scan() {
		b.Fatal("the Python program ended: ", p.out.Err())
	}
	return p.out.Text()
}

// round makes the peer do its work once.
func (p peer) round(b *testing.B) time.Duration {
	b.Helper()
	s := must.Get(strconv.ParseFloat(p.ask(b, "go"), 64))(b)
	return time.Duration(s * float64(time.Second))
}
