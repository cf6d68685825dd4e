// Package wrapperspb has no messages: see package protoreflect.
package wrapperspb

import "google.golang.org/protobuf/reflect/protoreflect"

// BoolValue is never made.
type BoolValue struct{ Value bool }

// ProtoReflect returns nil.
func (*BoolValue) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *BoolValue) GetValue() bool { return m.Value }

// Int32Value is never made.
type Int32Value struct{ Value int32 }

// ProtoReflect returns nil.
func (*Int32Value) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *Int32Value) GetValue() int32 { return m.Value }

// Int64Value is never made.
type Int64Value struct{ Value int64 }

// ProtoReflect returns nil.
func (*Int64Value) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *Int64Value) GetValue() int64 { return m.Value }

// UInt32Value is never made.
type UInt32Value struct{ Value uint32 }

// ProtoReflect returns nil.
func (*UInt32Value) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *UInt32Value) GetValue() uint32 { return m.Value }

// UInt64Value is never made.
type UInt64Value struct{ Value uint64 }

// ProtoReflect returns nil.
func (*UInt64Value) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *UInt64Value) GetValue() uint64 { return m.Value }

// FloatValue is never made.
type FloatValue struct{ Value float32 }

// ProtoReflect returns nil.
func (*FloatValue) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *FloatValue) GetValue() float32 { return m.Value }

// DoubleValue is never made.
type DoubleValue struct{ Value float64 }

// ProtoReflect returns nil.
func (*DoubleValue) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *DoubleValue) GetValue() float64 { return m.Value }

// StringValue is never made.
type StringValue struct{ Value string }

// ProtoReflect returns nil.
func (*StringValue) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *StringValue) GetValue() string { return m.Value }

// BytesValue is never made.
type BytesValue struct{ Value []byte }

// ProtoReflect returns nil.
func (*BytesValue) ProtoReflect() protoreflect.Message { return nil }

// GetValue returns the value.
func (m *BytesValue) GetValue() []byte { return m.Value }
