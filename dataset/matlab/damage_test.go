package matlab

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// contents reads every variable of a file in all ways. It fails the test when
// two ways differ.
func contents(t *testing.T, data []byte) (map[string]Array, error) {
	f, err := parse(data)
	if err != nil {
		return nil, err
	}
	all := map[string]Array{}
	for _, v := range f.Variables() {
		a, err := f.Read(v.Name)
		var columns []float64
		columnsErr := f.Columns(v.Name, func(column []float64) error {
			columns = append(columns, column...)
			return nil
		})
		if err == nil && columnsErr == nil && !sameArray(Array{Numbers: a.Numbers}, Array{Numbers: columns}) {
			t.Fatalf("%s: Read and Columns differ: %v, %v", v.Name, a.Numbers, columns)
		}
		if n, _ := product(a.Dims); err == nil && a.Class.numeric() && int64(len(a.Numbers)) != n {
			t.Fatalf("%s: %d numbers of size %v", v.Name, len(a.Numbers), a.Dims)
		}
		if err == nil {
			_, _ = a.Strings()
			all[v.Name] = a
		}
	}
	return all, nil
}

func testData(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTruncation: a file cut at any byte gives an error, or of what is still
// there the same values.
func TestTruncation(t *testing.T) {
	for _, name := range scipyFiles() {
		data := testData(t, name)
		whole, err := contents(t, data)
		if err != nil {
			t.Fatal(err)
		}
		opened := 0
		for n := range data {
			got, err := contents(t, data[:n:n])
			if err != nil {
				continue
			}
			opened++
			for variable, a := range got {
				if !sameArray(a, whole[variable]) {
					t.Errorf("%s cut at byte %d: %s is %+v", name, n, variable, a)
				}
			}
		}
		if opened > 26+7 { // once for every variable, and where the last one's padding is cut
			t.Errorf("%s: %d of %d cuts went unseen", name, opened, len(data))
		}
	}
}

// TestFlippedBytes: one wrong byte anywhere in a variable never panics; in a
// compressed one it never goes unseen.
func TestFlippedBytes(t *testing.T) {
	for _, name := range scipyFiles() {
		data := testData(t, name)
		f, err := parse(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.Variables() {
			alone := append(bytes.Clone(data[:headerBytes]), data[v.at-tagBytes:v.at+v.size]...)
			whole, err := contents(t, alone)
			if err != nil {
				t.Fatal(err)
			}
			for i := headerBytes; i < len(alone); i++ {
				flipped := byte(1 + i%255)
				alone[i] ^= flipped
				got, err := contents(t, alone)
				alone[i] ^= flipped
				if err != nil || !v.compressed {
					continue
				}
				for variable, a := range got {
					if !sameArray(a, whole[variable]) {
						t.Errorf("%s, byte %d ^ %#x: %+v", v.Name, i-headerBytes, flipped, a)
					}
				}
			}
		}
	}
}

func FuzzFile(f *testing.F) {
	for _, name := range append(scipyFiles(), "level4.mat") {
		f.Add(testData(f, name))
	}
	x := big.array(mxCell, []int32{1, 2}, "x", big.array(mxChar, []int32{1, 2}, "", big.small(miUint16, []byte{0, 'a', 0, 'b'})), big.claim(miMatrix, 0, nil))
	f.Add(big.file(x, big.compressed(x)))
	f.Add(little.file(little.array(mxDouble, []int32{2, 2}, "y", little.values(miInt16, []int16{1, 2, 3, 4}))))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := contents(t, data)
		if err != nil {
			return
		}
		kept := 0
		for _, a := range all {
			kept += a.size()
		}
		if limit := (keepBytes + keepRatio*len(data)) * len(all); kept > limit {
			t.Fatalf("%d bytes of memory from %d", kept, len(data))
		}
	})
}

// size is about what an array takes in memory.
func (a Array) size() int {
	n := 8 * (len(a.Numbers) + len(a.Dims))
	for _, text := range a.Text {
		n += 16 + len(text)
	}
	for _, c := range a.Cells {
		n += arrayBytes + c.size()
	}
	return n
}
