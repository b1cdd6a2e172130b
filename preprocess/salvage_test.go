package preprocess

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image/jpeg"
	"image/png"
	"slices"
	"testing"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/internal/testing/shared"
)

// TestCutFiles: of a file that lacks little the rest is read, with a remark; otherwise
// the error says how much is missing.
func TestCutFiles(t *testing.T) {
	m := photo(96, 128)
	baseline, lossless := new(bytes.Buffer), new(bytes.Buffer)
	must.Do(t, errors.Join(jpeg.Encode(baseline, m.nrgba(), nil), png.Encode(lossless, m.nrgba())))
	junk := bytes.Clone(baseline.Bytes())
	copy(junk[len(junk)*9/10:], eoi)
	for name, c := range map[string]struct {
		file     []byte
		want     error
		remarked bool
	}{
		"whole JPEG":            {baseline.Bytes(), nil, false},
		"JPEG without end":      {cut(baseline.Bytes(), 2), nil, true},
		"JPEG, 40 bytes less":   {append(cut(baseline.Bytes(), 42), eoi...), nil, true},
		"JPEG, a tenth less":    {share(baseline.Bytes(), 90), nil, true},
		"JPEG, half":            {share(baseline.Bytes(), 50), ErrTruncated, false},
		"JPEG, all but header":  {share(baseline.Bytes(), 40)[:700], ErrTruncated, false},
		"JPEG, end at 90 %":     {junk, nil, true},
		"JPEG, followed by ZIP": {append(slices.Clone(baseline.Bytes()), "PK\x03\x04"...), nil, false},
		"whole PNG":             {lossless.Bytes(), nil, false},
		"PNG without end":       {cut(lossless.Bytes(), 12), nil, true},
		"PNG, 20 bytes less":    {cut(lossless.Bytes(), 20), nil, true},
		"PNG, a tenth less":     {share(lossless.Bytes(), 90), nil, true},
		"PNG, half":             {share(lossless.Bytes(), 50), ErrTruncated, false},
		"WebP, 9/10":            {share(readFile(t, "images", "32x160.webp"), 90), nil, true},
		"WebP, half":            {share(readFile(t, "images", "32x160.webp"), 50), ErrTruncated, false},
		"WebP, all but header":  {readFile(t, "images", "32x160.webp")[:40], ErrTruncated, false},
		"lossless WebP, 98 %":   {share(readFile(t, "images", "lossless.webp"), 98), nil, true},
		"lossless WebP, half":   {share(readFile(t, "images", "lossless.webp"), 50), ErrTruncated, false},
		"TIFF, 9/10":            {share(readFile(t, "images", "RGB_raw.tif"), 90), nil, true},
		"TIFF, half":            {share(readFile(t, "images", "RGB_raw.tif"), 50), ErrTruncated, false},
		"HEIC, its last tile":   {cut(phoneGrid(t), 20), nil, true},
		"HEIC, half":            {share(phoneGrid(t), 50), ErrTruncated, false},
		"HEIC of one picture":   {cut(readFile(t, "heif", "64x48_420.heic"), 9), ErrTruncated, false},
		"progressive, end":      {cut(readFile(t, "images", "progressive.jpg"), 2), nil, true},
		"progressive, half":     {share(readFile(t, "images", "progressive.jpg"), 50), ErrTruncated, false},
	} {
		remarked := false
		ctx := WithRemarks(t.Context(), func(r Remark) { remarked = remarked || r == RemarkEnd })
		_, err := Decode(ctx, c.file, DefaultBudget(), true)
		if !errors.Is(err, c.want) || remarked != c.remarked {
			t.Errorf("%s: error %v, want %v; remarked %t", name, err, c.want, remarked)
		}
	}
}

func cut(file []byte, bytes int) []byte { return slices.Clone(file[:len(file)-bytes]) }

func share(file []byte, percent int) []byte { return slices.Clone(file[:len(file)*percent/100]) }

// phoneGrid returns a HEIC file of six tiles whose grid is described in its header, as
// telephones write it: in the golden that is at the end, from where it moves to the name of
// the handler.
func phoneGrid(t *testing.T) []byte {
	const described, name = 8, 56
	file := readFile(t, "heif", "grid_420.heic")
	from := len(file) - described
	copy(file[name:], file[from:])
	at := bytes.LastIndex(file[:1000], binary.BigEndian.AppendUint32(nil, uint32(from)))
	if at < 0 {
		t.Fatal("the grid has no place")
	}
	binary.BigEndian.PutUint32(file[at:], name)
	return file
}

// TestCutGoldensKeepTheirRows: as TestCutFilesKeepTheirRows, of files that Go cannot write.
func TestCutGoldensKeepTheirRows(t *testing.T) {
	for name, c := range map[string]struct {
		file []byte
		rows int
	}{
		"WebP": {readFile(t, "images", "32x160.webp"), 120}, "TIFF": {readFile(t, "images", "RGB_raw.tif"), 16},
		"HEIC": {phoneGrid(t), 64},
	} {
		file, rows := c.file, c.rows
		whole, err := Decode(t.Context(), file, DefaultBudget(), true)
		part, errCut := Decode(t.Context(), share(file, 90), DefaultBudget(), true)
		must.Do(t, errors.Join(err, errCut))
		if n := 3 * whole.Width * rows; part.Height != whole.Height || !bytes.Equal(part.Pix[:n], whole.Pix[:n]) {
			t.Errorf("%s: other rows", name)
		}
	}
}

// TestCutFilesKeepTheirRows: what is there is that of the whole picture.
func TestCutFilesKeepTheirRows(t *testing.T) {
	m := photo(96, 128)
	for name, encode := range map[string]func(*bytes.Buffer) error{
		"JPEG": func(b *bytes.Buffer) error { return jpeg.Encode(b, m.nrgba(), nil) },
		"PNG":  func(b *bytes.Buffer) error { return png.Encode(b, m.nrgba()) },
	} {
		var file bytes.Buffer
		must.Do(t, encode(&file))
		whole, err := Decode(t.Context(), file.Bytes(), DefaultBudget(), true)
		part, errCut := Decode(t.Context(), share(file.Bytes(), 90), DefaultBudget(), true)
		must.Do(t, errors.Join(err, errCut))
		const rows = 3 * 96 * 90
		if part.Height != whole.Height || !bytes.Equal(part.Pix[:rows], whole.Pix[:rows]) {
			t.Errorf("%s: other rows", name)
		}
	}
}

func TestCaseOfDamagedTail(t *testing.T) {
	dir := shared.Path(t, "cases", "02-damaged-tail")
	for name, remarked := range map[string]bool{
		"no_eoi.jpg": true, "eoi_but_40_bytes_short.jpg": true, "cut_20.png": true, "no_iend.png": true,
		"trailing_junk.jpg": false,
	} {
		said := false
		ctx := WithRemarks(t.Context(), func(Remark) { said = true })
		_, err := Decode(ctx, sharedFile(t, dir, "in", name), DefaultBudget(), true)
		if err != nil || said != remarked {
			t.Errorf("%s: error %v, remarked %t", name, err, said)
		}
	}
	_, err := Decode(t.Context(), sharedFile(t, dir, "in", "cut_half.jpg"), DefaultBudget(), true)
	if !errors.Is(err, ErrTruncated) || !bytes.Contains([]byte(err.Error()), []byte("52 % of the picture is missing")) {
		t.Errorf("cut_half.jpg: %v", err)
	}
}
