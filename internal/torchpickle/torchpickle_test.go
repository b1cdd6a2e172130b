package torchpickle

import (
	"encoding/binary"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/state.pth")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRead: shapes and values are those that PyTorch printed.
func TestRead(t *testing.T) {
	f, err := Read(golden(t))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/state.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]struct {
		Shape  []int
		Values []float32
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(f.tensors) != len(want) {
		t.Errorf("%d tensors, want %d", len(f.tensors), len(want))
	}
	for name, w := range want {
		tensor, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		values, err := tensor.Float32s()
		if name == "steps" {
			if err == nil || !strings.Contains(err.Error(), "LongStorage") {
				t.Errorf("steps as floats: %v", err)
			}
			continue
		}
		if err != nil || !slices.Equal(tensor.Shape(), w.Shape) || !slices.Equal(values, w.Values) {
			t.Errorf("%s: %v, shape %d, want %d; values %v, want %v", name, err, tensor.Shape(), w.Shape, values,
				w.Values)
		}
	}
	if _, err := f.Tensor("none"); err == nil {
		t.Error("a tensor that is not there")
	}
}

// A draft is a file of the format under construction.
type draft struct{ tensors, keys, data string }

func (d draft) bytes() []byte {
	const system = "\x80\x02}X\x0d\x00\x00\x00little_endian\x88s."
	return []byte(magic + version + system + d.tensors + d.keys + d.data)
}

func text(s string) string {
	return "X" + string(binary.LittleEndian.AppendUint32(nil, uint32(len(s)))) + s
}

func number(n int) string { return "J" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }

func numbers(n ...int) string {
	s := "("
	for _, v := range n {
		s += number(v)
	}
	return s + "t"
}

func storageID(class, key string, elements int) string {
	return "(" + text("storage") + "c" + class + "\n" + text(key) + text("cpu") + number(elements) + "NtQ"
}

const rebuild = "ctorch._utils\n_rebuild_tensor_v2\n"

// one returns a file with one tensor w over a storage of six floats.
func one(offset int, shape, strides string) draft {
	view := rebuild + "(" + storageID("torch\nFloatStorage", "1", 6) + number(offset) + shape + strides + "\x89NtR"
	return draft{
		tensors: "\x80\x02}" + text("w") + view + "s.",
		keys:    "\x80\x02](" + text("1") + "e.",
		data:    "\x06\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00\x00\x80\x3f", 6),
	}
}

// TestHostile: what could run, or lie about lengths, is refused with what is wrong.
func TestHostile(t *testing.T) {
	good := one(0, numbers(2, 3), numbers(3, 1))
	if _, err := Read(good.bytes()); err != nil {
		t.Fatal(err)
	}
	tensors := func(body string) []byte { return draft{"\x80\x02" + body, good.keys, good.data}.bytes() }
	const most = 1<<31 - 1
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a call":            {tensors("cposix\nsystem\n(" + text("id") + "tR."), `"posix.system", which is not called`},
		"a call of builtin": {tensors("c__builtin__\neval\n(" + text("1") + "tR."), "not called"},
		"a made object":     {tensors("c__builtin__\nset\n)\x81."), "operation"},
		"a state":           {tensors("cposix\nsystem\n}b."), "only a dict has a state"},
		"an extension":      {tensors("\x82\x01."), "operation"},
		"another storage":   {tensors(storageID("os\nFloatStorage", "1", 6) + "."), "only floats"},
		"doubles":           {tensors(storageID("torch\nDoubleStorage", "1", 6) + "."), "only floats"},
		"a huge storage":    {tensors(storageID("torch\nFloatStorage", "1", most) + "."), "does not fit"},
		"two sizes": {
			tensors("(" + storageID("torch\nFloatStorage", "1", 6) + storageID("torch\nFloatStorage", "1", 5) + "t."),
			"in two ways",
		},
		"a negative storage": {tensors(storageID("torch\nFloatStorage", "1", -1) + "."), "does not fit"},
		"beyond the end":     {one(1, numbers(2, 3), numbers(3, 1)).bytes(), "leaves its storage"},
		"repeated":           {one(0, numbers(most, most), numbers(0, 0)).bytes(), "leaves its storage"},
		"overlapping":        {one(0, numbers(3, 3), numbers(1, 1)).bytes(), "leaves its storage"},
		"long steps":         {one(0, numbers(6, 1), numbers(most, 1)).bytes(), "leaves its storage"},
		"backwards":          {one(5, numbers(2), numbers(-1)).bytes(), "leaves its storage"},
		"before the start":   {one(-1, numbers(2), numbers(1)).bytes(), "leaves its storage"},
		"uneven":             {one(0, numbers(2, 3), numbers(1)).bytes(), "2 sizes and 1 strides"},
		"many axes":          {one(0, numbers(1, 1, 1, 1, 1, 1, 1, 1, 1), numbers(1)).bytes(), "up to 8 axes"},
		"no dict":            {tensors("]."), "no dict"},
		"no tensor":          {tensors("}" + text("w") + "Ns."), `"w" is no tensor`},
		"nothing":            {tensors("."), "a value is missing"},
		"no mark":            {tensors("t."), "a mark is missing"},
		"below a mark":       {tensors("}(" + "s."), "a value is missing"},
		"too much":           {tensors("}}."), "left over"},
		"never kept":         {tensors("h\x07."), "never kept"},
		"a long number":      {tensors("\x8a\x09123456789."), "a number of 9 bytes"},
		"a long text":        {tensors("X\xff\xff\xff\x7f."), "a text of 2147483647 bytes"},
		"many steps":         {tensors(strings.Repeat("N", 1<<20)), "more than 1048576 steps"},
		"unlisted":           {draft{good.tensors, "\x80\x02].", ""}.bytes(), "does not list its 1 storages"},
		"listed twice":       {draft{"\x80\x02}.", "\x80\x02](" + text("1") + "e.", ""}.bytes(), "does not list its 0"},
		"unknown": {draft{good.tensors, "\x80\x02](" + text("2") + "e.", good.data}.bytes(),
			`"2" is unknown`},
		"other length":   {draft{good.tensors, good.keys, "\x05" + good.data[1:]}.bytes(), "has 5 elements, not 6"},
		"more":           {draft{good.tensors, good.keys, good.data + "x"}.bytes(), "1 bytes after the end"},
		"newer":          {[]byte("PK\x03\x04"), "zip archive"},
		"something else": {[]byte("<html>no such page</html>"), "not a file of PyTorch's"},
		"empty":          {nil, "ends too early"},
	} {
		if _, err := Read(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestCut: no file that ends early is read.
func TestCut(t *testing.T) {
	whole := golden(t)
	for n := range whole {
		if _, err := Read(whole[:n:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were read", n, len(whole))
		}
	}
}

// FuzzRead: whatever the bytes, Read returns an error or tensors that can be read and
// that are no larger than the file.
func FuzzRead(f *testing.F) {
	f.Add(golden(f))
	f.Add(one(0, numbers(2, 3), numbers(1, 2)).bytes())
	f.Add(one(2, numbers(1), numbers(5)).bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(data)
		if err != nil {
			return
		}
		for name := range file.tensors {
			tensor, err := file.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			if values, err := tensor.Float32s(); err == nil && 4*len(values) > len(data) {
				t.Errorf("%q has %d floats, the file %d bytes", name, len(values), len(data))
			}
		}
	})
}
