package icc

import (
	"encoding/binary"
	"math"
	"testing"
)

// A tag is one of a profile under test.
type tag struct {
	name    string
	content []byte
}

func number(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*(1<<16)))))
	}
	return b
}

// build returns a profile of RGB with the tags of the three columns and curves.
func build(columns [3][3]float64, trc []byte) []byte {
	var tags []tag
	for c, name := range []string{"r", "g", "b"} {
		tags = append(tags, tag{name + "XYZ", number([]byte("XYZ \x00\x00\x00\x00"), columns[c][:]...)},
			tag{name + "TRC", trc})
	}
	out := make([]byte, headerBytes)
	copy(out[16:], "RGB XYZ ")
	copy(out[36:], "acsp")
	out = binary.BigEndian.AppendUint32(out, uint32(len(tags)))
	at := len(out) + entryBytes*len(tags)
	var data []byte
	for _, t := range tags {
		out = append(out, t.name...)
		out = binary.BigEndian.AppendUint32(out, uint32(at+len(data)))
		out = binary.BigEndian.AppendUint32(out, uint32(len(t.content)))
		data = append(data, t.content...)
	}
	return append(out, data...)
}

// Columns of the profiles of Apple, Adobe and the ICC, adapted to D50.
var (
	columnsP3    = [3][3]float64{{0.51512, 0.24120, -0.00105}, {0.29198, 0.69225, 0.04189}, {0.15710, 0.06657, 0.78407}}
	columnsAdobe = [3][3]float64{{0.60974, 0.31111, 0.01947}, {0.20528, 0.62567, 0.06087}, {0.14919, 0.06322, 0.74457}}
	columnsSRGB  = [3][3]float64{{0.43607, 0.22249, 0.01392}, {0.38515, 0.71687, 0.09708}, {0.14307, 0.06061, 0.71410}}
)

var (
	paraSRGB  = number([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), 2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045)
	curvGamma = []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33")
	curvLine  = []byte("curv\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\xff\xff")
)

func TestWideColoursBecomeSRGB(t *testing.T) {
	for name, c := range map[string]struct {
		profile  []byte
		in, want [3]byte // want by LittleCMS 2.17
	}{
		"P3 grey":        {build(columnsP3, paraSRGB), [3]byte{128, 128, 128}, [3]byte{128, 128, 128}},
		"P3 green":       {build(columnsP3, paraSRGB), [3]byte{100, 200, 100}, [3]byte{45, 203, 86}},
		"P3 skin":        {build(columnsP3, paraSRGB), [3]byte{200, 150, 120}, [3]byte{209, 147, 115}},
		"P3 beyond sRGB": {build(columnsP3, paraSRGB), [3]byte{255, 0, 0}, [3]byte{255, 0, 0}},
		"Adobe white":    {build(columnsAdobe, curvGamma), [3]byte{255, 255, 255}, [3]byte{255, 255, 255}},
		"Adobe colour":   {build(columnsAdobe, curvGamma), [3]byte{180, 120, 60}, [3]byte{199, 121, 53}},
		"Adobe beyond":   {build(columnsAdobe, curvGamma), [3]byte{0, 255, 0}, [3]byte{0, 255, 0}},
		"table of two":   {build(columnsSRGB, curvLine), [3]byte{64, 64, 64}, [3]byte{137, 137, 137}},
	} {
		transform := New(c.profile)
		if transform == nil {
			t.Errorf("%s: not converted", name)
			continue
		}
		got := c.in
		transform.Convert(got[:])
		for i := range got {
			if d := int(got[i]) - int(c.want[i]); d < -1 || d > 1 {
				t.Errorf("%s: %v becomes %v, want %v", name, c.in, got, c.want)
				break
			}
		}
	}
}

func TestSRGBAndUnreadableProfilesConvertNothing(t *testing.T) {
	cmyk := build(columnsP3, paraSRGB)
	copy(cmyk[16:], "CMYK")
	nan := build([3][3]float64{{30000, 0, 0}, {0, 30000, 0}, {0, 0, 30000}}, paraSRGB)
	for name, profile := range map[string][]byte{
		"sRGB": build(columnsSRGB, paraSRGB), "CMYK": cmyk, "huge": nan, "none": nil,
		"unknown curve": build(columnsP3, []byte("mpet\x00\x00\x00\x00\x00\x00\x00\x00")),
	} {
		if New(profile) != nil {
			t.Errorf("%s is converted", name)
		}
	}
}

func FuzzNew(f *testing.F) {
	for _, p := range [][]byte{build(columnsP3, paraSRGB), build(columnsAdobe, curvGamma)} {
		for i := 0; i < len(p); i += 7 {
			f.Add(p[:i])
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, profile []byte) {
		if transform := New(profile); transform != nil {
			transform.Convert([]byte{0, 1, 2, 253, 254, 255})
		}
	})
}
