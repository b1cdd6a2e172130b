package cache

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/seed-90d10d51/pipeline/internal/regularfile"
)

// A recordFormat describes an append-only file: a header, then records of fixed
// size, each ending in its CRC-32C.
type recordFormat struct {
	magic   string // 8 bytes
	payload int    // bytes of a record without its checksum
}

const (
	recordVersion     = 1
	recordHeaderBytes = 32
	checksumBytes     = 4
)

var (
	errHeader  = errors.New("damaged header")
	errVersion = errors.New("written by another version")
)

// checksum returns the CRC-32C, which the CPU computes at memory speed.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func (f recordFormat) recordBytes() int { return f.payload + checksumBytes }

func (f recordFormat) offset(records int) int64 {
	return recordHeaderBytes + int64(records)*int64(f.recordBytes())
}

// header returns magic, version, payload size, dim, 8 reserved bytes and
// checksum.
func (f recordFormat) header(dim int) []byte {
	b := make([]byte, 0, recordHeaderBytes)
	b = append(b, f.magic...)
	b = binary.LittleEndian.AppendUint32(b, recordVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(f.payload))
	b = binary.LittleEndian.AppendUint32(b, uint32(dim))
	b = append(b, make([]byte, 8)...)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

func (f recordFormat) parseHeader(b []byte) (dim int, err error) {
	body := b[:recordHeaderBytes-checksumBytes]
	if !bytes.HasPrefix(body, []byte(f.magic)) || checksum(body) != binary.LittleEndian.Uint32(b[len(body):]) {
		return 0, errHeader
	}
	if binary.LittleEndian.Uint32(b[8:]) != recordVersion {
		return 0, errVersion
	}
	if int(binary.LittleEndian.Uint32(b[12:])) != f.payload {
		return 0, errHeader
	}
	return int(binary.LittleEndian.Uint32(b[16:])), nil
}

// recordState is the result of read.
type recordState struct {
	headed  bool // not empty
	dim     int
	records int // complete ones, including damaged ones
	damaged int
}

// read calls each for every complete record whose checksum holds, with its
// position. An empty file has no records; a partial last record is ignored.
func (f recordFormat) read(r io.Reader, each func(i int, payload []byte)) (recordState, error) {
	var s recordState
	in := bufio.NewReaderSize(r, 1<<16)
	head := make([]byte, recordHeaderBytes)
	if _, err := io.ReadFull(in, head); err == io.EOF {
		return s, nil
	} else if err == io.ErrUnexpectedEOF {
		return s, errHeader
	} else if err != nil {
		return s, err
	}
	var err error
	if s.dim, err = f.parseHeader(head); err != nil {
		return s, err
	}
	s.headed = true
	record := make([]byte, f.recordBytes())
	for ; ; s.records++ {
		if _, err := io.ReadFull(in, record); err == io.EOF || err == io.ErrUnexpectedEOF {
			return s, nil
		} else if err != nil {
			return s, err
		}
		payload := record[:f.payload]
		if checksum(payload) != binary.LittleEndian.Uint32(record[f.payload:]) {
			s.damaged++
			continue
		}
		each(s.records, payload)
	}
}

// A recordWriter appends to a file that this process has locked.
type recordWriter struct {
	format  recordFormat
	f       *os.File
	records int
	buf     []byte
}

// openRecords opens path for appending after its complete records (at most
// limit of them) and truncates the rest. A file with a damaged header is
// started over; one of another dimension or version is left alone.
func openRecords(path string, format recordFormat, dim, limit int) (*recordWriter, error) {
	f, err := regularfile.Edit(path, private)
	if err != nil {
		return nil, err
	}
	w := &recordWriter{format: format, f: f}
	state, err := format.read(f, func(int, []byte) {})
	switch {
	case errors.Is(err, errHeader):
		err = w.trim(dim)
	case err == nil && state.headed && state.dim != dim:
		err = errOtherSlot
	case err == nil:
		w.records = min(state.records, limit)
		err = w.trim(dim)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

func (w *recordWriter) trim(dim int) error {
	if w.records == 0 {
		if err := w.f.Truncate(0); err != nil {
			return err
		}
		_, err := w.f.WriteAt(w.format.header(dim), 0)
		return err
	}
	return w.f.Truncate(w.format.offset(w.records))
}

// append writes one record with one system call.
func (w *recordWriter) append(payload []byte) error {
	if len(payload) != w.format.payload {
		return fmt.Errorf("record of %d bytes, need %d", len(payload), w.format.payload)
	}
	w.buf = append(w.buf[:0], payload...)
	w.buf = binary.LittleEndian.AppendUint32(w.buf, checksum(payload))
	if _, err := w.f.WriteAt(w.buf, w.format.offset(w.records)); err != nil {
		return err
	}
	w.records++
	return nil
}

func (w *recordWriter) close() error {
	return errors.Join(w.f.Sync(), w.f.Close())
}
