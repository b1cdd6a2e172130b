package heif

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-90d10d51/pipeline/internal/quota"
)

// An item is a coded picture, a picture derived from others, or metadata.
type item struct {
	kind       string
	properties []int               // numbers from 1, as in ipma, in the order of application
	refs       map[string][]uint32 // kind of reference → items
	inIdat     bool
	elsewhere  bool // in another file, or constructed from other items
	extents    []extent

	tile *tile // what was read of a coded picture; nil until then
}

type extent struct{ at, length uint64 }

// What the parts of meta take, as far as a file can have many of them.
const (
	itemBytes        = 512 // with the picture that it may be
	referencesBytes  = 512 // of a kind, from an item
	referenceBytes   = 8
	propertyBytes    = 96
	associationBytes = 16
	extentBytes      = 32
	tileBytes        = 16 << 10 // a decoder of its own, which takes as long as half a megapixel
)

// meta is the box "meta" of a file.
type meta struct {
	file         []byte
	quota        *quota.Quota
	read         int // bytes of items
	primary      uint32
	primaryAt    int // offset of the number of the primary item, in the file
	primaryBytes int // its length, 2 or 4; 0 if there is none
	items        map[uint32]*item
	properties   []box
	idat         []byte
}

// readMeta finds and reads the box. Whatever follows it at the top level is not
// read: telephones append data of their own.
func readMeta(file []byte, q *quota.Quota) (*meta, error) {
	m := &meta{file: file, quota: q, items: map[uint32]*item{}}
	found, film := false, false
	err := eachBox(file, 0, func(b box) error {
		film = film || b.kind == "moov"
		if b.kind != "meta" || found {
			return nil
		}
		found = true
		if len(b.body) < 4 {
			return io.ErrUnexpectedEOF
		}
		return eachBox(b.body[4:], b.at+4, m.take)
	})
	if !found && err != nil {
		return nil, err
	}
	if film && !found {
		return nil, unsupported("a sequence without a still picture")
	}
	if !found {
		return nil, damaged("no picture")
	}
	if err != nil && (m.primaryBytes == 0 || errors.Is(err, ErrMemory)) {
		return nil, err
	}
	return m, nil
}

// reserve asks for the memory of n parts of a size.
func (m *meta) reserve(n, size int) error {
	if err := m.quota.Take(int64(n) * int64(size)); err != nil {
		return fmt.Errorf("%w: its boxes: %w", ErrMemory, err)
	}
	return nil
}

func (m *meta) item(id uint32) (*item, error) {
	if it := m.items[id]; it != nil {
		return it, nil
	}
	if err := m.reserve(1, itemBytes); err != nil {
		return nil, err
	}
	m.items[id] = &item{}
	return m.items[id], nil
}

// take reads a box inside of meta.
func (m *meta) take(b box) error {
	r := &reader{b: b.body}
	switch b.kind {
	case "pitm":
		version, _ := r.version()
		m.primary, m.primaryAt, m.primaryBytes = r.id(version > 0), b.at+4, 2
		if version > 0 {
			m.primaryBytes = 4
		}
	case "iinf":
		return m.takeInfos(r, b)
	case "iref":
		return m.takeReferences(r, b)
	case "iprp":
		return eachBox(b.body, b.at, m.takeProperties)
	case "iloc":
		return m.takeLocations(r)
	case "idat":
		m.idat = b.body
	}
	return r.err()
}

func (m *meta) takeInfos(r *reader, b box) error {
	version, _ := r.version()
	count := 4
	if version == 0 {
		count = 2
	}
	if r.take(count); r.short {
		return r.err()
	}
	return eachBox(r.b, b.at+4+count, func(b box) error {
		r := &reader{b: b.body}
		version, _ := r.version()
		if b.kind != "infe" || version < 2 {
			return nil
		}
		it, err := m.item(r.id(version > 2))
		if err != nil {
			return err
		}
		r.take(2) // protection
		it.kind = string(r.take(4))
		return r.err()
	})
}

func (m *meta) takeReferences(r *reader, b box) error {
	version, _ := r.version()
	return eachBox(r.b, b.at+4, func(b box) error {
		r := &reader{b: b.body}
		it, err := m.item(r.id(version > 0))
		if err != nil {
			return err
		}
		n := int(r.number(2))
		if err := errors.Join(m.reserve(1, referencesBytes), m.reserve(n, referenceBytes)); err != nil {
			return err
		}
		if it.refs == nil {
			it.refs = map[string][]uint32{}
		}
		for range n {
			it.refs[b.kind] = append(it.refs[b.kind], r.id(version > 0))
		}
		return r.err()
	})
}

// takeProperties reads the properties and which items have them.
func (m *meta) takeProperties(b box) error {
	if b.kind == "ipco" {
		return eachBox(b.body, b.at, func(b box) error {
			m.properties = append(m.properties, b)
			return m.reserve(1, propertyBytes)
		})
	}
	if b.kind != "ipma" {
		return nil
	}
	r := &reader{b: b.body}
	version, flags := r.version()
	for range r.number(4) {
		it, err := m.item(r.id(version > 0))
		if err != nil {
			return err
		}
		associations := int(r.number(1))
		if err := m.reserve(associations, associationBytes); err != nil {
			return err
		}
		for range associations {
			n := int(r.number(1))
			if flags&1 != 0 {
				n = n&0x7f<<8 | int(r.number(1))
			} else {
				n &= 0x7f // the first bit says that the property is essential
			}
			it.properties = append(it.properties, n)
		}
		if r.short {
			break
		}
	}
	return r.err()
}

func (m *meta) takeLocations(r *reader) error {
	version, _ := r.version()
	sizes := r.number(2)
	offset, length, base, index := int(sizes>>12), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	if version == 0 {
		index = 0
	}
	if max(offset, length, base, index) > 8 {
		return damaged("numbers of more than 8 bytes in iloc")
	}
	for range r.id(version > 1) {
		it, err := m.item(r.id(version > 1))
		if err != nil {
			return err
		}
		method := uint64(0)
		if version > 0 {
			method = r.number(2) & 15
		}
		it.inIdat = method == 1
		it.elsewhere = method > 1 || r.number(2) != 0
		from, count := r.number(base), int(r.number(2))
		if count > 1 && offset+length+index == 0 {
			return damaged("%d parts without a place", count)
		}
		if err := m.reserve(count, extentBytes); err != nil {
			return err
		}
		it.extents = nil
		for range count {
			if r.short {
				break
			}
			r.take(index)
			it.extents = append(it.extents, extent{from + r.number(offset), r.number(length)})
		}
		if r.short {
			break
		}
	}
	return r.err()
}

// data returns the bytes of an item. A length of zero extends to the end.
func (m *meta) data(it *item) ([]byte, error) {
	source := m.file
	if it.inIdat {
		source = m.idat
	}
	var all []byte
	for _, e := range it.extents {
		if e.at > uint64(len(source)) || e.length > uint64(len(source))-e.at {
			return nil, io.ErrUnexpectedEOF
		}
		part := source[e.at:]
		if e.length > 0 {
			part = part[:e.length]
		}
		if err := m.willRead(len(part)); err != nil {
			return nil, err
		}
		if len(it.extents) == 1 {
			return part, nil
		}
		if len(all)+len(part) > len(m.file) {
			return nil, damaged("an item of more bytes than the file has")
		}
		all = append(all, part...)
	}
	return all, nil
}

// willRead counts bytes of the file that belong to an item. Usually items share
// none, so only what exceeds the file takes from the quota.
func (m *meta) willRead(n int) error {
	m.read += n
	return m.reserve(min(n, max(0, m.read-len(m.file))), 1)
}

// willDecode counts the pixels of a coded picture for each of its parts (slices, frames)
// but one: any of them can be as large as the picture.
func (m *meta) willDecode(parts int, pixels int64) error {
	const perByte, most = 32, 1 << 40
	return m.reserve(max(0, parts-1), int((min(pixels, most)+perByte-1)/perByte))
}

// property returns the body of an item's first property of a kind.
func (m *meta) property(it *item, kind string) ([]byte, bool) {
	for _, n := range it.properties {
		if b, ok := m.propertyAt(n, kind); ok {
			return b, true
		}
	}
	return nil, false
}

// propertyAt returns the body of a property if it is of a kind.
func (m *meta) propertyAt(n int, kind string) ([]byte, bool) {
	if n < 1 || n > len(m.properties) || m.properties[n-1].kind != kind {
		return nil, false
	}
	return m.properties[n-1].body, true
}
