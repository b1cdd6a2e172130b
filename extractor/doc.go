// Package extractor turns normalised pixels into embeddings with any ONNX
// image backbone.
//
// It is for this module's own packages; programs use package embedding.
//
//	pixels n×3×side×side (CHW float32) ─ Extract ─▶ n×d embeddings
//
// Open inspects the model, decides how to feed it and what to read, and runs it
// once, so that every problem with a file is found before the first photo:
//
//   - the input: named, or the only input of rank 4; NCHW or NHWC (the axis of
//     size 3); float32, float16 or uint8; batch and sides fixed or free;
//   - the output: named (any tensor of the graph, including inner ones),
//     "penultimate" for the input of a classification network's last linear
//     layer, the only float output, or the one with a common name such as
//     features or image_embeds;
//   - its shape: [n,d] as it is, [n,T,d] one token or a pool over tokens,
//     [n,C,H,W] or [n,H,W,C] pooled over the map.
//
// An ambiguous model is an error that names the key to set.
//
// # Determinism
//
// The batch size changes the last bits of results, so every run of the model
// uses the same one, with short batches padded; with the default of one photo
// per run an embedding cannot depend on its neighbours at all. It is also no
// slower: with one goroutine per core, batches of 2 cost 0.99–1.00 times as
// much processor time per photo, batches of 8 1.04–1.13 times (ViT-Tiny,
// MobileNetV2; AMD EPYC, ONNX Runtime 1.30). Results also differ in their last
// bits between minor releases of ONNX Runtime (part of the Fingerprint) and
// between processor families (not part of it: a cache is not meant to move
// between machines).
package extractor
