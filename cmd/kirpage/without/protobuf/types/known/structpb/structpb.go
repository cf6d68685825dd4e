// Package structpb has no messages: see package protoreflect.
package structpb

import "google.golang.org/protobuf/reflect/protoreflect"

type kind interface{ isKind() }

// Value is never made.
type Value struct{ Kind kind }

// ProtoReflect returns nil.
func (*Value) ProtoReflect() protoreflect.Message { return nil }

// GetKind returns the kind.
func (v *Value) GetKind() kind { return v.Kind }

// Struct is never made.
type Struct struct{ Fields map[string]*Value }

// ProtoReflect returns nil.
func (*Struct) ProtoReflect() protoreflect.Message { return nil }

// GetFields returns the fields.
func (s *Struct) GetFields() map[string]*Value { return s.Fields }

// ListValue is never made.
type ListValue struct{ Values []*Value }

// ProtoReflect returns nil.
func (*ListValue) ProtoReflect() protoreflect.Message { return nil }

// GetValues returns the values.
func (l *ListValue) GetValues() []*Value { return l.Values }

// The kinds of a value.
type (
	Value_NullValue   struct{}
	Value_NumberValue struct{ NumberValue float64 }
	Value_StringValue struct{ StringValue string }
	Value_BoolValue   struct{ BoolValue bool }
	Value_StructValue struct{ StructValue *Struct }
	Value_ListValue   struct{ ListValue *ListValue }
)

func (*Value_NullValue) isKind()   {}
func (*Value_NumberValue) isKind() {}
func (*Value_StringValue) isKind() {}
func (*Value_BoolValue) isKind()   {}
func (*Value_StructValue) isKind() {}
func (*Value_ListValue) isKind()   {}
