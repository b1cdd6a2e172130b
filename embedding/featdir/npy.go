package featdir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// npyMagic starts every .npy file.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
const npyMagic = "\x93NUMPY"

// npyHeaderLimit bounds the header text: NumPy itself refuses more than 10 000
// bytes.
const npyHeaderLimit = 64 << 10

const npyAdvice = `convert it with: python -c "import numpy as np; np.save('embeddings.npy', ` +
	"np.ascontiguousarray(np.load('embeddings.npy'), dtype='<f4'))\""

// An npyHeader describes an n×d matrix in C order.
type npyHeader struct {
	n, d      int
	itemBytes int // 4: float32, 2: float16
	offset    int64
}

func (h npyHeader) dataBytes() int64 { return int64(h.n) * int64(h.d) * int64(h.itemBytes) }

// readNpyHeader checks the header against the size of the file, so that it
// cannot make the caller allocate more than twice the size of the file.
func readNpyHeader(r io.Reader, fileBytes int64) (npyHeader, error) {
	text, offset, err := npyDictionary(r)
	if err != nil {
		return npyHeader{}, err
	}
	h := npyHeader{offset: offset}
	if h.itemBytes, err = npyItemBytes(text); err != nil {
		return npyHeader{}, err
	}
	if h.n, h.d, err = npyShape(text); err != nil {
		return npyHeader{}, err
	}
	available := fileBytes - offset
	if h.n > 0 && int64(h.d) > available/int64(h.itemBytes)/int64(h.n) {
		return npyHeader{}, fmt.Errorf("shape %d×%d needs more data than the %d bytes that the file has: truncated "+
			"or damaged", h.n, h.d, available)
	}
	if h.dataBytes() != available {
		return npyHeader{}, fmt.Errorf("shape %d×%d needs %d bytes of data, the file has %d: damaged",
			h.n, h.d, h.dataBytes(), available)
	}
	return h, nil
}

// npyDictionary returns the Python dictionary of the header and the offset of
// the data.
func npyDictionary(r io.Reader) (string, int64, error) {
	var fixed [8]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil || string(fixed[:6]) != npyMagic {
		return "", 0, errors.New("not a .npy file")
	}
	lengthBytes := 4
	switch major := fixed[6]; major {
	case 1:
		lengthBytes = 2
	case 2, 3:
	default:
		return "", 0, fmt.Errorf(".npy version %d is not supported", major)
	}
	var length [4]byte
	if _, err := io.ReadFull(r, length[:lengthBytes]); err != nil {
		return "", 0, errors.New("truncated .npy header")
	}
	size := binary.LittleEndian.Uint32(length[:])
	if size > npyHeaderLimit {
		return "", 0, fmt.Errorf(".npy header of %d bytes is too long", size)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return "", 0, errors.New("truncated .npy header")
	}
	return string(text), int64(8 + lengthBytes + len(text)), nil
}

var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)`)
	npyShapeRE = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([^)]*)\)`)
)

func npyItemBytes(text string) (int, error) {
	descr := npyDescr.FindStringSubmatch(text)
	order := npyFortran.FindStringSubmatch(text)
	if descr == nil || order == nil {
		return 0, errors.New("the .npy header lacks a plain descr or fortran_order; " + npyAdvice)
	}
	if order[1] == "True" {
		return 0, errors.New("the array is in Fortran order, C order is needed; " + npyAdvice)
	}
	switch descr[1] {
	case "<f4":
		return 4, nil
	case "<f2":
		return 2, nil
	}
	return 0, fmt.Errorf("dtype %q, need float32 (<f4) or float16 (<f2); %s", descr[1], npyAdvice)
}

func npyShape(text string) (n, d int, err error) {
	shape := npyShapeRE.FindStringSubmatch(text)
	if shape == nil {
		return 0, 0, errors.New("the .npy header lacks a shape")
	}
	var dims []int
	for _, part := range strings.Split(shape[1], ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		size, err := strconv.Atoi(part)
		if err != nil || size < 0 || size > math.MaxInt32 {
			return 0, 0, fmt.Errorf("impossible shape (%s)", shape[1])
		}
		dims = append(dims, size)
	}
	if len(dims) != 2 {
		return 0, 0, fmt.Errorf("shape (%s), need two dimensions: n embeddings of size d", shape[1])
	}
	if dims[1] == 0 {
		return 0, 0, fmt.Errorf("shape (%s): embeddings of size 0", shape[1])
	}
	return dims[0], dims[1], nil
}

// npyHeaderBytes is the fixed size of the header that FeatureWriter writes and
// patches: a multiple of 64 that fits any shape.
const npyHeaderBytes = 128

// formatNpyHeader returns a version 1.0 header for float32 n×d.
func formatNpyHeader(n, d int) []byte {
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", n, d)
	b := binary.LittleEndian.AppendUint16([]byte(npyMagic+"\x01\x00"), npyHeaderBytes-10)
	return fmt.Appendf(b, "%-*s\n", npyHeaderBytes-11, text)
}

// readNpyData fills dst from the data part, in constant additional memory.
func readNpyData(dst []float32, r io.Reader, itemBytes int) error {
	buf := make([]byte, 1<<16)
	for len(dst) > 0 {
		k := min(len(dst), len(buf)/itemBytes)
		if _, err := io.ReadFull(r, buf[:k*itemBytes]); err != nil {
			return fmt.Errorf("truncated: %w", err)
		}
		if itemBytes == 2 {
			decodeFloat16(dst[:k], buf)
		} else if _, err := binary.Decode(buf, binary.LittleEndian, dst[:k]); err != nil {
			return err
		}
		dst = dst[k:]
	}
	return nil
}

func decodeFloat16(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = float16(binary.LittleEndian.Uint16(b[2*i:]))
	}
}

// float16 converts IEEE 754 binary16 (1 sign, 5 exponent with bias 15, 10
// fraction bits) to float32, exactly.
func float16(bits uint16) float32 {
	sign := uint32(bits>>15) << 31
	exponent, fraction := uint32(bits>>10)&31, uint32(bits)&1023
	switch exponent {
	case 0: // zero and subnormal: fraction·2⁻²⁴
		v := float32(fraction) * (1.0 / (1 << 24))
		return math.Float32frombits(sign | math.Float32bits(v))
	case 31: // Inf, NaN
		return math.Float32frombits(sign | 255<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
