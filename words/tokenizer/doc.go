// Package tokenizer turns a text into the numbers of its tokens, as a tokenizer.json (the
// file of Hugging Face's tokenizers) says.
//
//	text ─ added tokens ─ normalizers ─ pre-tokenizers ─ model ─ start and end tokens ─▶ ids
//
// It knows what the text sides of CLIP, SigLIP and SigLIP 2 use:
//
//	normalizer      NFC, NFD, NFKC, NFKD, Lowercase, Strip, Replace, Prepend, Precompiled, Sequence
//	pre_tokenizer   Split, ByteLevel, Metaspace, WhitespaceSplit, Sequence
//	model           BPE (with byte fallback), Unigram
//	post_processor  TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel, Sequence
//
// Anything else that a file asks for is an error that names it. The ids are those of the
// Python package of the same name; the tests compare ten thousand texts with it.
//
// Regular expressions of a file are those of Oniguruma; only what means the same in Go is
// accepted. Unicode is that of Go and of golang.org/x/text, so characters that are newer
// may be split differently.
//
// Parsing a file takes about as long as decoding its JSON: 0.1 s for CLIP, 2 s for the
// 256 000 tokens of SigLIP 2. Encoding a text of n bytes takes O(n log n) for BPE and
// O(n m log V) for Unigram, with m the length of the longest token and V the number of
// tokens.
package tokenizer
