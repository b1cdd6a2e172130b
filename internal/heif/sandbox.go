package heif

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	_ "embed"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// The decoders' programs; wasm/README.md says where they come from.
var (
	//go:embed wasm/heif.wasm.gz
	hevcProgram []byte
	//go:embed wasm/avif.wasm.gz
	av1Program []byte
)

// A sandbox runs a decoder compiled to WebAssembly. A damaged file can at worst
// confuse its own instance, which has a limited memory and no access to
// anything else.
type sandbox struct {
	program []byte
	once    sync.Once
	runtime wazero.Runtime
	code    wazero.CompiledModule
	err     error
}

// start translates the program to machine code, which takes about a second; on
// processors without a compiler in wazero it is interpreted, many times slower.
func (s *sandbox) start(ctx context.Context) error {
	s.once.Do(func() {
		z, err := gzip.NewReader(bytes.NewReader(s.program))
		if err != nil {
			s.err = err
			return
		}
		program, err := io.ReadAll(z)
		if err != nil {
			s.err = err
			return
		}
		config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads)
		ctx = context.WithoutCancel(ctx)
		s.runtime = wazero.NewRuntimeWithConfig(ctx, config)
		if _, s.err = wasi_snapshot_preview1.Instantiate(ctx, s.runtime); s.err == nil {
			s.code, s.err = s.runtime.CompileModule(ctx, program)
		}
	})
	return s.err
}

// A scratch memory is for the sandboxes of the tiles of a picture, one after the
// other.
type scratch struct {
	bytes []byte
	used  int
}

// take returns n zero bytes. New pages that are never used cost nothing.
func (s *scratch) take(n int) []byte {
	if len(s.bytes) < n {
		*s = scratch{bytes: make([]byte, n)}
	}
	clear(s.bytes[:s.used])
	s.used = 0
	return s.bytes[:n]
}

// A linear memory has a limit below that of the program.
type linear struct {
	scratch *scratch
	bytes   []byte
	limit   uint64
	refused bool
}

// Reallocate reserves all memory at once, so that growing it copies nothing.
func (m *linear) Reallocate(size uint64) []byte {
	if size > m.limit {
		m.refused = true
		return nil
	}
	if m.bytes == nil {
		m.bytes = m.scratch.take(int(m.limit))
	}
	m.scratch.used = max(m.scratch.used, int(size))
	return m.bytes[:size]
}

// Free is part of the interface; the memory is garbage when nothing refers to
// it.
func (m *linear) Free() {}

// An instance is a running program with its own memory.
type instance struct {
	ctx    context.Context
	module api.Module
	memory linear
}

// run starts an instance with a limit of memory in bytes, and ends it after use.
func (s *sandbox) run(ctx context.Context, memory *scratch, limit int64, use func(*instance) error) error {
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("start the built-in decoder: %w", err)
	}
	in := &instance{memory: linear{scratch: memory, limit: min(uint64(limit), 1<<32) &^ (1<<16 - 1)}}
	in.ctx = experimental.WithMemoryAllocator(context.WithoutCancel(ctx),
		experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory { return &in.memory }))
	var err error
	if in.module, err = s.runtime.InstantiateModule(in.ctx, s.code,
		wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize")); err == nil {
		err = errors.Join(use(in), in.module.Close(in.ctx))
	}
	if err != nil && in.memory.refused {
		return fmt.Errorf("%w: decoding takes more than %d bytes", ErrMemory, limit)
	}
	return err
}

// call calls a function. What goes wrong in the program is due to the file.
func (in *instance) call(function string, arguments ...uint64) (uint32, error) {
	out, err := in.module.ExportedFunction(function).Call(in.ctx, arguments...)
	if err != nil {
		return 0, damaged("the decoder failed")
	}
	if len(out) == 0 {
		return 0, nil
	}
	return uint32(out[0]), nil
}

// allocate returns the address of n zero bytes.
func (in *instance) allocate(n int) (uint32, error) {
	at, err := in.call("malloc", uint64(n))
	if err == nil && (at == 0 || int64(at)+int64(n) > int64(len(in.memory.bytes))) {
		err = damaged("the decoder failed to allocate %d bytes", n)
		in.memory.refused = in.memory.refused || at == 0
	}
	if err == nil {
		clear(in.memory.bytes[at:][:n])
	}
	return at, err
}

// write copies bytes into the memory.
func (in *instance) write(b []byte) (uint32, error) {
	at, err := in.allocate(len(b))
	if err == nil {
		copy(in.memory.bytes[at:], b)
	}
	return at, err
}

// numbers reads consecutive numbers.
func (in *instance) numbers(at uint32, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = int(binary.LittleEndian.Uint32(in.memory.bytes[int(at)+4*i:]))
	}
	return out
}

// tile decodes a coded picture with libheif, whose shim writes the planes with
// the library's own padding.
func (s *sandbox) tile(ctx context.Context, c *coded, memory *scratch) (out *Planes, err error) {
	file := c.file()
	return out, s.run(ctx, memory, c.sandboxBytes(), func(in *instance) error {
		at, err := in.write(file)
		if err != nil {
			return err
		}
		facts, err := in.allocate(5 * 4) // width, height, colour space, chroma, premultiplied
		if err != nil {
			return err
		}
		out = newPlanes(c.width, c.height, c.chroma)
		w, h := out.chromaSize()
		luma, chroma := libheifStride(c.width), libheifStride(w)
		to, err := in.allocate(luma*c.height + 2*chroma*h)
		if err != nil {
			return err
		}
		ok, err := in.call("decode", uint64(at), uint64(len(file)), 0, uint64(facts), uint64(facts+4), uint64(facts+8),
			uint64(facts+12), uint64(facts+16), uint64(to))
		if err != nil {
			return err
		}
		n := in.numbers(facts, 4)
		if grey := n[2] == spaceGrey; ok == 0 || n[0] != c.width || n[1] != c.height || grey != (c.chroma == 0) ||
			!grey && n[3] != c.chroma {
			return damaged("libheif cannot decode it")
		}
		b := in.memory.bytes[to:]
		out.Y = pack(b, luma, c.width, c.height, 8)
		if c.chroma != 0 {
			b = b[luma*c.height:]
			out.Cb = pack(b, chroma, w, h, 8)
			out.Cr = pack(b[chroma*h:], chroma, w, h, 8)
		}
		return nil
	})
}

// spaceGrey is heif_colorspace_monochrome.
const spaceGrey = 2

// libheifStride is the distance between rows of a width in libheif 1.18.
func libheifStride(width int) int { return (max(width+width&1, 64) + 15) &^ 15 }

// An RGBA is a decoded picture: four bytes per pixel, colours premultiplied by
// alpha.
type RGBA struct {
	Width, Height int
	Pix           []byte
}

// asStill returns the file as one whose major brand is that of pictures. Of a sequence
// libavif would read the film, of which nothing has been checked.
func asStill(file []byte) []byte {
	const brandAt = 8
	return slices.Concat(file[:brandAt], []byte("avif"), file[brandAt+4:])
}

// decodeAV1 decodes a picture with libavif.
func (s *sandbox) decodeAV1(ctx context.Context, p *Picture) (out *RGBA, err error) {
	file := p.primary()
	return out, s.run(ctx, new(scratch), p.sandboxBytes(), func(in *instance) error {
		at, err := in.write(asStill(file))
		if err != nil {
			return err
		}
		facts, err := in.allocate(4*4 + 8) // width, height, depth, count; the duration
		if err != nil {
			return err
		}
		decode := func(headerOnly, to uint32) error {
			ok, err := in.call("decode", uint64(at), uint64(len(file)), uint64(headerOnly), 0, uint64(facts),
				uint64(facts+4), uint64(facts+8), uint64(facts+12), uint64(facts+16), uint64(to))
			if err == nil && ok == 0 {
				err = damaged("libavif cannot decode it")
			}
			return err
		}
		if err := decode(1, 0); err != nil {
			return err
		}
		n := in.numbers(facts, 3)
		if n[0] != p.Width || n[1] != p.Height {
			return damaged("%d×%d pixels were decoded, announced were %d×%d", n[0], n[1], p.Width, p.Height)
		}
		bytes, deep := 4*p.Width*p.Height, n[2] > 8
		if deep {
			bytes *= 2
		}
		to, err := in.allocate(bytes)
		if err != nil {
			return err
		}
		if err := decode(0, to); err != nil {
			return err
		}
		out = &RGBA{Width: p.Width, Height: p.Height, Pix: in.memory.bytes[to:][:bytes:bytes]}
		if deep { // 16 bits, little-endian: the high byte
			for i := range bytes / 2 {
				out.Pix[i] = out.Pix[2*i+1]
			}
			out.Pix = out.Pix[: bytes/2 : bytes/2]
		}
		return nil
	})
}
