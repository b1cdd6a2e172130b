package heif

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/imagebomb"
	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// allocated returns the bytes that f allocates, garbage included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestItemIsReadOnce: a grid of 65536 references to one item reads and keeps its data
// once.
func TestItemIsReadOnce(t *testing.T) {
	file := imagebomb.Grid{Columns: 256, Rows: 256, Items: 1, Extents: 2, DataBytes: 60_000}.HEIC()
	q := quota.New(2 << 20)
	var p *Picture
	var err error
	got := allocated(func() { p, err = Parse(file, q) })
	if err != nil {
		t.Fatal(err)
	}
	if len(p.tiles) != 256*256 || p.tiles[0] != p.tiles[len(p.tiles)-1] || len(p.tiles[0].data) != 2*60_000 {
		t.Errorf("%d tiles, the first of %d bytes", len(p.tiles), len(p.tiles[0].data))
	}
	if p.file.read > len(file) || got > 8<<20 {
		t.Errorf("%d bytes of items were read and %d bytes allocated for a file of %d", p.file.read, got, len(file))
	}
	if p.Bytes() < 256*256*64*64 {
		t.Errorf("decoding it is estimated at %d bytes", p.Bytes())
	}
}

// TestCostlyBoxes: whatever part of a file there is too much of, reading it ends at
// the quota.
func TestCostlyBoxes(t *testing.T) {
	const limit = 1 << 20
	for name, g := range map[string]imagebomb.Grid{
		"items":                        {Columns: 1, Rows: 1, Items: 1, Extents: 1, DataBytes: 100, Unused: 100_000},
		"tiles":                        {Columns: 8, Rows: 8, Items: 64, Extents: 1, DataBytes: 100},
		"references":                   {Columns: 256, Rows: 256, Items: 1, Extents: 1, DataBytes: 100},
		"parts":                        {Columns: 1, Rows: 1, Items: 1, Extents: 60_000, DataBytes: 1},
		"the same bytes in many items": {Columns: 32, Rows: 32, Items: 1024, Extents: 1, DataBytes: 200_000},
		"the same bytes in parts":      {Columns: 32, Rows: 32, Items: 200, Extents: 2, DataBytes: 10_000},
		"the same bytes of AV1": {Columns: 32, Rows: 32, Items: 1024, Extents: 1, DataBytes: 200_000,
			Codec: AV1},
	} {
		file := g.HEIC()
		q := quota.New(limit)
		var err error
		got := allocated(func() { _, err = Parse(file, q) })
		if !errors.Is(err, ErrMemory) || !errors.Is(err, quota.ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
		if q.Most() > limit || got > 4*limit+2*int64(len(file)) {
			t.Errorf("%s: %d of the quota were taken and %d bytes allocated for a file of %d", name, q.Most(), got,
				len(file))
		}
		if _, err := Parse(file, quota.New(1<<30)); err != nil {
			t.Errorf("%s, with a large quota: %v", name, err)
		}
	}
}

// TestManyParts: a coded picture may have a few slices or frames as large as itself, and
// for more of them a file takes of the quota what decoding them takes of time.
func TestManyParts(t *testing.T) {
	for name, c := range map[string]struct {
		codec string
		part  []byte
	}{
		"slices":                               {HEVC, []byte{0, 0, 0, 2, 1 << 1, 1}}, // with its length
		"frames":                               {AV1, []byte{6<<3 | 2, 0}},
		"frames with layers and a long length": {AV1, []byte{3<<3 | 4 | 2, 0, 0x80, 0}},
	} {
		for parts, want := range map[int]error{1: nil, 4: nil, 200: ErrMemory} {
			g := imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, Codec: c.codec,
				DataBytes: parts * len(c.part)}
			file := g.HEIC()
			copy(file[len(file)-g.DataBytes:], bytes.Repeat(c.part, parts))
			if _, err := Parse(file, quota.New(32<<10)); !errors.Is(err, want) {
				t.Errorf("%s: %d of them: %v, want %v", name, parts, err, want)
			}
		}
	}
}

// TestGiantTile: a grid of one tile whose size is beyond AV1's is refused, whatever the grid's own size, since
// its bytes cannot be counted.
func TestGiantTile(t *testing.T) {
	g := imagebomb.Grid{Columns: 1, Rows: 1, Items: 1, Extents: 1, Codec: AV1, DataBytes: 9}
	file := g.HEIC()
	side := []byte{0, 0, 0, 64}
	size := slices.Concat([]byte("ispe\x00\x00\x00\x00"), side, side)
	at := bytes.LastIndex(file, size)
	if at < 0 || bytes.Index(file, size) == at {
		t.Fatal("the file is another one")
	}
	for width, want := range map[uint32]error{64: nil, 1 << 16: nil, 1<<16 + 1: ErrDamaged, 1<<31 - 1: ErrDamaged} {
		binary.BigEndian.PutUint32(file[at+8:], width)
		p, err := Parse(file, quota.New(mostOfBoxes))
		if !errors.Is(err, want) || err == nil && p.Bytes() < int64(width) {
			t.Errorf("a tile %d pixels wide: %+v, %v", width, p, err)
		}
	}
}

// TestTilesFitThePicture: neither part of it is without tiles, nor a tile outside.
func TestTilesFitThePicture(t *testing.T) {
	file := images(t)["grid_420.heic"]
	size := []byte{0, 0, 1, 2, 0, 170, 0, 121} // 3×2 tiles of 64×64
	if bytes.Count(file, size) != 1 {
		t.Fatal("the file is another one")
	}
	for _, c := range []struct {
		width, height byte
		text          string
	}{
		{170, 121, ""}, {129, 65, ""}, {192, 128, ""},
		{193, 121, "cover"}, {170, 129, "cover"}, {128, 121, "outside"}, {170, 64, "outside"},
	} {
		changed := bytes.Replace(file, size, []byte{0, 0, 1, 2, 0, c.width, 0, c.height}, 1)
		_, err := Parse(changed, quota.New(mostOfBoxes))
		refused := errors.Is(err, ErrDamaged) && strings.Contains(err.Error(), c.text)
		if c.text == "" && err != nil || c.text != "" && !refused {
			t.Errorf("%d×%d pixels: %v", c.width, c.height, err)
		}
	}
}

// TestRepeatedTile: a tile that is in several places is decoded once, and looks there
// as if it were not.
func TestRepeatedTile(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes in one goroutine")
	}
	p := parsed(t, "grid_420.heic")
	first, second := p.tiles[0], p.tiles[1]
	p.tiles = []*coded{first, second, first, second, first, first}
	places, tiles := p.places()
	if len(tiles) != 2 || tiles[0] != first || len(places[first]) != 4 || len(places[second]) != 2 {
		t.Errorf("%d tiles, in %d and %d places", len(tiles), len(places[first]), len(places[second]))
	}
	d := Portable()
	repeated, err := d.HEVC(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range p.tiles {
		p.tiles[i] = new(*c)
	}
	separate, err := d.HEVC(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(repeated, separate) {
		t.Error("the pictures differ")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.HEVC(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context has ended: %v", err)
	}
}
