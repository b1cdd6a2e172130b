// Package textencoder turns texts into embeddings with the text side of a network of
// photos and texts, such as CLIP's: an ONNX file that takes the numbers of tokens.
//
//	n texts ─ tokenizer ─ ids (1×L, int64 or int32) ─ network ─▶ n×d embeddings of length 1
//
// Open inspects the file and runs it, so that every problem is found before the first
// text:
//
//   - the inputs: one of integers, [batch, length], perhaps with a mask of the tokens that
//     count. In an export of both sides, the part that needs no photo is used;
//   - the output: named, the only one of shape [batch, d], or the one with a usual name such
//     as text_embeds or pooler_output;
//   - the length: the one that the network fixes, or the caller says, or the tokenizer's
//     file, or CLIP's 77.
//
// A short text is filled up to the length with the padding token, unless the network gives
// the same embedding without: then it is run at its own length, which takes a fraction of
// the time. Texts are run one at a time, on all cores, so that an embedding does not depend
// on its neighbours or on the number of cores.
//
// It runs in the ONNX Runtime that embed opens, for this module's own packages: programs use
// package embedding/wording.
package textencoder
