// Package safetensors reads and writes the safetensors container of Hugging
// Face: eight bytes of little-endian header length, a JSON header that names
// dtype, shape and byte range of every tensor, then the raw little-endian data.
//
// The format: https://github.com/huggingface/safetensors#format. Files written
// here open in any other reader; of foreign files, those with the dtypes F32,
// F64, I64 and U8 open here.
//
// Writing is deterministic: tensors are laid out by element size (largest
// first, so that all of them are aligned) and then by name, as the reference
// implementation does. A file may end in a tensor called sha256 that holds the
// SHA-256 of every byte before it; see [Write] and [File.VerifyDigest].
//
// Reading trusts nothing: lengths are checked against the size of the file
// before anything is allocated, and the tensors must cover the data exactly,
// without gap or overlap.
package safetensors
