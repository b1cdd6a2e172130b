// Package onnx reads what the pipeline needs to know about a .onnx file, and
// writes small graphs (Graph) or puts them behind an existing one (Extend),
// without any runtime library: inputs and outputs, metadata, the names of the
// operators, and whether the file points at weights outside itself.
//
// It walks the protobuf wire format directly (messages ModelProto, GraphProto,
// NodeProto, ValueInfoProto, TensorProto of onnx.proto3) and never copies
// weights. Bytes are treated as hostile: whatever they are, Parse returns an
// error or a Model, and its memory stays proportional to the file and below a
// fixed number of nodes.
//
// Files whose tensors are stored outside the file ("external data") are
// refused: such a tensor names any path on the machine that opens it.
package onnx
