// Package onnx reads what the pipeline needs to know about a .onnx file, and
// writes small graphs (Graph) or appends them to an existing one (Extend),
// without any runtime library. It reads inputs and outputs, metadata, the names
// of the operators, and whether the file refers to weights outside itself.
//
// It walks the protobuf wire format directly (messages ModelProto, GraphProto,
// NodeProto, ValueInfoProto, TensorProto of onnx.proto3) and never copies
// weights. Input is untrusted: for any bytes, Parse returns an error or a
// Model; its memory is proportional to the file, and the number of nodes is
// bounded.
//
// Files whose tensors are stored outside the file ("external data") are
// refused: such a tensor can name any path on the machine that opens it.
package onnx
