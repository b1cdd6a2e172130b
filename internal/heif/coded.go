package heif

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// A coded picture is an item of HEVC.
type coded struct {
	sequence
	config []byte // hvcC
	data   []byte // the item: NAL units with their lengths
}

// coded reads the parameter sets of an item, which may also be among the data.
// All of them must agree, so that a decoder allocates what the first announces.
func (m *meta) coded(it *item) (*coded, error) {
	if it.elsewhere {
		return nil, unsupported("a picture stored in another file")
	}
	const fixed = 23
	body, ok := m.property(it, "hvcC")
	if !ok || len(body) < fixed {
		return nil, damaged("HEVC without its configuration")
	}
	if err := m.willRead(len(body)); err != nil {
		return nil, err
	}
	data, err := m.data(it)
	if err != nil {
		return nil, err
	}
	c := &coded{config: body, data: data}
	found, slices := false, 0
	err = c.eachNAL(func(nal []byte) error {
		const lastSlice, parameterSet = 31, 33
		if len(nal) == 0 {
			return nil
		}
		switch kind := nal[0] >> 1 & 63; {
		case kind <= lastSlice:
			slices++
			return nil
		case kind != parameterSet:
			return nil
		}
		s, err := readSequence(nal)
		if err == nil && found && s != c.sequence {
			err = damaged("sequence parameter sets that differ")
		}
		c.sequence, found = s, true
		return err
	})
	if err == nil && !found {
		err = damaged("HEVC without a sequence parameter set")
	}
	if err == nil {
		err = m.willDecode(slices, c.sequence.coded)
	}
	return c, err
}

// eachNAL visits the NAL units of the configuration, then those of the data.
func (c *coded) eachNAL(visit func(nal []byte) error) error {
	const lengthAt, fixed = 21, 22
	r := &reader{b: c.config[fixed:]}
	for range r.number(1) {
		r.take(1)
		for range r.number(2) {
			if err := visit(r.take(int(r.number(2)))); err != nil || r.short {
				return errors.Join(err, r.err())
			}
		}
	}
	bytes := int(c.config[lengthAt]&3) + 1
	for r = (&reader{b: c.data}); len(r.b) > 0; {
		nal := r.take(int(r.number(bytes)))
		if r.short {
			return io.ErrUnexpectedEOF
		}
		if err := visit(nal); err != nil {
			return err
		}
	}
	return nil
}

// appendBox appends a box; a full box has four bytes of version and flags.
func appendBox(b []byte, kind string, body ...[]byte) []byte {
	all := slices.Concat(body...)
	b = binary.BigEndian.AppendUint32(b, uint32(8+len(all)))
	return append(append(b, kind...), all...)
}

// file returns a HEIC file with nothing but this picture, for the decoder in the
// sandbox.
func (c *coded) file() []byte {
	var version [4]byte
	u16, u32 := binary.BigEndian.AppendUint16, binary.BigEndian.AppendUint32
	const id = 1
	size := appendBox(nil, "ispe", version[:], u32(u32(nil, uint32(c.width)), uint32(c.height)))
	colour := appendBox(nil, "colr", []byte("nclx\x00\x01\x00\x0d\x00\x06\x80")) // so that libheif converts none
	properties := appendBox(nil, "ipco", appendBox(nil, "hvcC", c.config), size, colour)
	owners := appendBox(nil, "ipma", u32(version[:], 1), u16(nil, id), []byte{3, 0x80 | 1, 2, 3})
	info := appendBox(nil, "infe", []byte{2, 0, 0, 0}, u16(nil, id), u16(nil, 0), []byte(HEVC), []byte{0})
	head := appendBox(nil, "ftyp", []byte("heic\x00\x00\x00\x00mif1heic"))
	build := func(at int) []byte {
		place := u32(u32(u16(u16(u16(nil, id), 0), 1), uint32(at)), uint32(len(c.data)))
		return appendBox(nil, "meta", version[:],
			appendBox(nil, "hdlr", version[:], version[:], []byte("pict"), make([]byte, 13)),
			appendBox(nil, "pitm", version[:], u16(nil, id)),
			appendBox(nil, "iloc", version[:], []byte{0x44, 0}, u16(nil, 1), place),
			appendBox(nil, "iinf", version[:], u16(nil, 1), info),
			appendBox(nil, "iprp", properties, owners))
	}
	at := len(head) + len(build(0)) + 8
	return appendBox(append(head, build(at)...), "mdat", c.data)
}
