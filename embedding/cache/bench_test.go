package cache

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
)

// BenchmarkCache writes and reads photos, and reports the size of what is on disk.
func BenchmarkCache(b *testing.B) {
	for _, n := range []int{50_000, 1_000_000} {
		const d = 640
		b.Run(fmt.Sprintf("write_n=%d_d=%d", n, d), func(b *testing.B) {
			skipLong(b, n)
			for b.Loop() {
				writePhotos(b, b.TempDir(), n, d)
			}
		})
		b.Run(fmt.Sprintf("read_n=%d_d=%d", n, d), func(b *testing.B) {
			skipLong(b, n)
			dir := b.TempDir()
			writePhotos(b, dir, n, d)
			for b.Loop() {
				readPhotos(b, dir, n)
			}
			b.ReportMetric(float64(bytesOf(b, dir))/1e6, "MB_on_disk")
		})
	}
}

func skipLong(b *testing.B, n int) {
	b.Helper()
	if n > 100_000 && testing.Short() {
		b.Skip("gigabytes")
	}
}

func benchKey(i int) Hash { return HashOf(binary.LittleEndian.AppendUint64(nil, uint64(i))) }

func benchPath(i int) (string, FileState) {
	state := FileState{Size: int64(i), MtimeNs: int64(i)*1_000_000_007 + 1, Inode: uint64(i)}
	return fmt.Sprintf("/photos/%07d.jpg", i), state
}

func writePhotos(b *testing.B, dir string, n, d int) {
	b.Helper()
	c := must.Get(Open(dir, fakeNamespace(), nil))(b)
	v := make([]float32, d)
	for i := range n {
		v[0] = float32(i)
		path, state := benchPath(i)
		must.Do(b, c.Record(path, state, benchKey(i)))
		must.Do(b, c.Put(benchKey(i), v))
	}
	must.Do(b, c.Close())
}

func readPhotos(b *testing.B, dir string, n int) {
	b.Helper()
	began := time.Now()
	c := must.Get(Open(dir, fakeNamespace(), nil))(b)
	b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms_to_open")
	for i := range n {
		path, state := benchPath(i)
		h, known := c.Lookup(path, state)
		v, found := c.Get(h)
		if !known || !found || v[0] != float32(i) {
			b.Fatalf("photo %d: %t, %t", i, known, found)
		}
	}
	runtime.GC()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB_of_memory")
	must.Do(b, c.Close())
}

func bytesOf(b *testing.B, dir string) (bytes int64) {
	b.Helper()
	must.Do(b, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	}))
	return bytes
}
