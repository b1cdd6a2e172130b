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
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
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
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		b.Fatal(err)
	}
	if !p.out.Scan() {
		b.Fatal("the Python program ended: ", p.out.Err())
	}
	return p.out.Text()
}

// round makes the peer do its work once.
func (p peer) round(b *testing.B) time.Duration {
	b.Helper()
	s, err := strconv.ParseFloat(p.ask(b, "go"), 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(s * float64(time.Second))
}
