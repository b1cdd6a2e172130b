package tokenizer_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-90d10d51/pipeline/internal/testing/must"
	"github.com/seed-90d10d51/pipeline/words/tokenizer"
)

// small is a file whose tokens are a to c, their pairs, and the ends.
const small = `{
	"added_tokens": [{"id": 0, "content": "<s>"}, {"id": 1, "content": "</s>", "normalized": true}],
	"normalizer": {"type": "Lowercase"},
	"pre_tokenizer": {"type": "WhitespaceSplit"},
	"post_processor": {"type": "TemplateProcessing",
		"single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
			{"SpecialToken": {"id": "</s>", "type_id": 0}}],
		"special_tokens": {"<s>": {"ids": [0]}, "</s>": {"ids": [1]}}},
	"model": {"vocab": {"<s>": 0, "</s>": 1, "a": 2, "b": 3, "c": 4, "ab": 5, "bc": 6, "abc": 7},
		"merges": ["a b", ["b", "c"], ["ab", "c"]]}
}`

func parsed(t testing.TB, text string) *tokenizer.Tokenizer {
	t.Helper()
	return must.Get(tokenizer.Parse([]byte(text)))(t)
}

func TestEncode(t *testing.T) {
	tok := parsed(t, small)
	for _, c := range []struct {
		text   string
		length int
		want   []int32
	}{
		{"", 0, []int32{0, 1}},
		{"ABC bc", 0, []int32{0, 7, 6, 1}},
		{"abc bc ab c", 5, []int32{0, 7, 6, 5, 1}},
		{"abc bc ab c", 2, []int32{0, 1}},
		{"abc", 1, []int32{0}},
		{"a</s>b", 0, []int32{0, 2, 1, 3, 1}},
		{"xyz\xffa", 0, []int32{0, 2, 1}}, // what is no token, where there is none for the unknown, is left out
	} {
		if got := tok.Encode(c.text, c.length); !slices.Equal(got, c.want) {
			t.Errorf("%q, at most %d: %v, want %v", c.text, c.length, got, c.want)
		}
	}
	if tok.Pad() != 1 || tok.Length() != 0 || tok.Fixed() || len(tok.SHA256()) != 64 {
		t.Errorf("pad %d, length %d, fixed %v", tok.Pad(), tok.Length(), tok.Fixed())
	}
	padded := parsed(t, strings.Replace(small, "{", `{"padding": {"strategy": {"Fixed": 7}, "direction": "Right",
		"pad_id": 4}, "truncation": {"max_length": 5, "strategy": "LongestFirst", "stride": 0},`, 1))
	if padded.Pad() != 4 || padded.Length() != 5 || !padded.Fixed() {
		t.Errorf("pad %d, length %d, fixed %v", padded.Pad(), padded.Length(), padded.Fixed())
	}
}

// TestWith: tokenizer_config.json says what tokenizer.json does not.
func TestWith(t *testing.T) {
	tok := parsed(t, small)
	padded := parsed(t, strings.Replace(small, "{", `{"padding": {"strategy": "BatchLongest", "pad_id": 4},
		"truncation": {"max_length": 5},`, 1))
	for _, c := range []struct {
		settings    string
		pad, length int32
		tok         *tokenizer.Tokenizer
	}{
		{`{"pad_token": "b", "model_max_length": 64}`, 3, 64, tok},
		{`{"pad_token": {"content": "<s>"}, "model_max_length": 1000000000000000019884624838656}`, 0, 0, tok},
		{`{"pad_token": null}`, 1, 0, tok},
		{`{"pad_token": "b", "model_max_length": 64}`, 4, 5, padded},
	} {
		with, err := c.tok.With([]byte(c.settings))
		if err != nil || with.Pad() != c.pad || with.Length() != int(c.length) {
			t.Errorf("%s: pad %d, length %d, error %v", c.settings, with.Pad(), with.Length(), err)
		}
	}
	for _, bad := range []string{"", "[]", `{"pad_token": "none"}`} {
		if _, err := tok.With([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), "tokenizer_config.json: ") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

// TestUnsupported: what a file asks for and the package does not know is named.
func TestUnsupported(t *testing.T) {
	with := func(old, other string) string {
		if !strings.Contains(small, old) {
			t.Fatalf("%q is not in the file", old)
		}
		return strings.Replace(small, old, other, 1)
	}
	charsmap := func(data string) string {
		return with(`"Lowercase"`, `"Precompiled", "precompiled_charsmap": "`+
			base64.StdEncoding.EncodeToString([]byte(data))+`"`)
	}
	deep := `{"type": "Lowercase"}`
	for range 20 {
		deep = `{"type": "Sequence", "normalizers": [` + deep + `]}`
	}
	regex := func(expression string) string {
		return with(`"Lowercase"`, fmt.Sprintf(`"Replace", "pattern": {"Regex": %q}, "content": ""`, expression))
	}
	for _, c := range []struct{ file, says string }{
		{"", "unexpected end"},
		{"[]", "cannot unmarshal"},
		{"{}", "model: there is none"},
		{with("Lowercase", "BertNormalizer"), `normalizer: the type "BertNormalizer"`},
		{with("WhitespaceSplit", "Punctuation"), `pre_tokenizer: the type "Punctuation"`},
		{with("TemplateProcessing", "Other"), `post_processor: the type "Other"`},
		{with(`{"vocab"`, `{"type": "WordPiece", "vocab"`), `model: the type "WordPiece"`},
		{with(`{"vocab"`, `{"dropout": 0.1, "vocab"`), "dropout"},
		{with(`{"vocab"`, `{"unk_token": "x", "vocab"`), `"x" is not in the vocabulary`},
		{with(`"a b"`, `"a x"`), `merge 1, of "a" and "x"`},
		{with(`"a b"`, `"b a"`), "the result is not in the vocabulary"},
		{with(`"a b"`, `"a b c"`), "not of two tokens"},
		{with(`["b", "c"]`, `["b"]`), "not of two tokens"},
		{with(`"c": 4`, `"c": -4`), `token "c" has the number -4`},
		{with(`"id": 0`, `"id": 3`), `token "<s>" has the number 3, but 0 in the model`},
		{with(`"<s>": {"ids": [0]}, `, ""), `"<s>" of the template has no number`},
		{with(`{"Sequence": {"id": "A", "type_id": 0}},`, ""), "does not have it once"},
		{with("{", `{"truncation": {"direction": "Left", "max_length": 5},`), "truncation"},
		{with("{", `{"truncation": {"max_length": 500000},`), "truncation"},
		{with("{", `{"padding": {"direction": "Left"},`), "padding on the left"},
		{with(`{"type": "Lowercase"}`, deep), "too many sequences"},
		{with(`"WhitespaceSplit"`, `"Metaspace", "replacement": "ab"`), "not one character"},
		{with(`"WhitespaceSplit"`, `"Metaspace", "replacement": "a", "prepend_scheme": "first"`), `"first"`},
		{with(`"WhitespaceSplit"`, `"Split", "pattern": {"String": "a"}, "behavior": "Other"`), `"Other"`},
		{with(`"WhitespaceSplit"`, `"Split", "pattern": {}, "behavior": "Removed"`), "neither"},
		{regex(`a(?=b)`), "(?"}, {regex(`\bx`), `\b`}, {regex(`x\`), "backslash"}, {regex(`a*`), "nothing at all"},
		{regex(`[a[b]]`), "classes inside"}, {regex(`[]a]`), "begins with ]"}, {regex(`^a`), "^a"},
		{regex(`a++`), "nested repetition"}, {regex(`[^\S]`), `\S`},
		{charsmap("\x08\x00"), "damaged"}, {charsmap("\xff\xff\xff\xff1234"), "damaged"},
		{`{"model": {"type": "Unigram", "vocab": []}}`, "0 tokens"},
		{`{"model": {"type": "Unigram", "vocab": [["a", -1]]}}`, "unk_id is missing"},
		{`{"model": {"type": "Unigram", "unk_id": 1, "vocab": [["a", -1]]}}`, "unk_id is 1"},
		{`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["a"]]}}`, "token with its score"},
		{`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["` + strings.Repeat("a", 2000) + `", 1]]}}`,
			"2000 bytes"},
	} {
		if _, err := tokenizer.Parse([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.says) ||
			!strings.HasPrefix(err.Error(), "tokenizer.json: ") {
			t.Errorf("%.300s\nerror %v, want one with %q", c.file, err, c.says)
		}
	}
}

// TestHostile: texts and files that are made to take long, or much memory, do not.
func TestHostile(t *testing.T) {
	doubling := `{"type": "Sequence", "normalizers": [` + strings.TrimSuffix(strings.Repeat(
		`{"type": "Replace", "pattern": {"String": "a"}, "content": "aaaaaaaaaaaaaaaa"},`, 9), ",") + `]}`
	tok := parsed(t, strings.Replace(small, `{"type": "Lowercase"}`, doubling, 1))
	if n := len(tok.Encode("aaaa", 0)); n < 1000 || n > 16*tokenizer.MaxText+2 {
		t.Errorf("%d tokens", n)
	}
	var vocab []string // every token begins as all longer ones
	for n := 1; n <= 250; n++ {
		vocab = append(vocab, fmt.Sprintf(`["%s", %d]`, strings.Repeat("a", n), -n))
	}
	long := parsed(t, `{"model": {"type": "Unigram", "unk_id": 0, "vocab": [`+strings.Join(vocab, ",")+`]}}`)
	start := time.Now()
	if n := len(long.Encode(strings.Repeat("a", 1<<20), 0)); n < tokenizer.MaxText/250 {
		t.Errorf("%d tokens", n)
	}
	t.Logf("%v for %d bytes", time.Since(start), tokenizer.MaxText)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "abc")
	f.Add([]byte(`{"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁a", -1.5], ["<0x41>", -2]],
		"byte_fallback": true}, "pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}, "normalizer": {"type":
		"Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}]}}`),
		"A a\u0301")
	f.Add([]byte(`{"model": {"vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "Precompiled",
		"precompiled_charsmap": "CAAAAAAEAAAAAAAAYQBi"}, "pre_tokenizer": {"type": "ByteLevel"}}`), "a b")
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		tok, err := tokenizer.Parse(data)
		if err != nil {
			return
		}
		for _, length := range []int{0, 1, 5} {
			ids := tok.Encode(text, length)
			if length > 0 && len(ids) > length {
				t.Fatalf("%d ids, at most %d are allowed", len(ids), length)
			}
			for _, id := range ids {
				if id < 0 {
					t.Fatalf("id %d", id)
				}
			}
		}
		tok.Pad()
		_, _ = tok.With(data) // must not panic
	})
}

// FuzzEncode: a prefix of the ids is that of a shorter length, and encoding is repeatable.
func FuzzEncode(f *testing.F) {
	files := []*tokenizer.Tokenizer{parsed(f, small), parsed(f, strings.Replace(small, "Lowercase", "NFC", 1)),
		parsed(f, strings.Replace(small, `"WhitespaceSplit"`, `"ByteLevel", "add_prefix_space": true`, 1))}
	f.Add("abc </s> 'll")
	f.Add("a\u0301\u0327\n\n  x")
	f.Fuzz(func(t *testing.T, text string) {
		for _, tok := range files {
			all := tok.Encode(text, 0)
			cut := tok.Encode(text, 6)
			if !slices.Equal(all, tok.Encode(text, 0)) || len(cut) > 6 || len(all) <= 6 && !slices.Equal(all, cut) {
				t.Fatalf("%q: %v, at most 6: %v", text, all, cut)
			}
			if n := len(cut); cut[0] != 0 || cut[n-1] != 1 || !slices.Equal(cut[:n-1], all[:n-1]) {
				t.Fatalf("%q: %v begins with %v", text, all, cut)
			}
		}
	})
}
