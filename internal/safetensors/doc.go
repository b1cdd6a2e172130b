// Package safetensors reads and writes the safetensors container of Hugging
// Face: eight bytes of little-endian header length, a JSON header with the
// dtype, shape and byte range of every tensor, then the raw little-endian data.
//
// The format: https://github.com/huggingface/safetensors#format. Files written
// here open in any other reader. Files from elsewhere open here if their dtypes
// are F32, F64, I64 and U8.
//
// Writing is deterministic: tensors are ordered by element size (largest first,
// so that all of them are aligned) and then by name, as in the reference
// implementation. A file may end in a tensor called sha256 that holds the
// SHA-256 of every byte before it; see [Write] and [File.VerifyDigest].
//
// Reading trusts nothing: lengths are checked against the size of the file
// before anything is allocated, and the tensors must cover the data exactly,
// without gap or overlap.
package safetensors
