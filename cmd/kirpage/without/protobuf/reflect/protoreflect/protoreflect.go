// Package protoreflect is what the program of a browser has of Protocol Buffers, which kir's
// draws never hold: the names that package parquet is compiled with. The packages beside it
// are the same. See scripts/site-modules.
package protoreflect

// ProtoMessage is a message.
type ProtoMessage interface{ ProtoReflect() Message }

// Message is a message that is looked into.
type Message interface {
	Descriptor() MessageDescriptor
	Has(FieldDescriptor) bool
	Get(FieldDescriptor) Value
	Interface() ProtoMessage
}

// Descriptors of messages and their fields.
type (
	MessageDescriptor interface{ Fields() FieldDescriptors }
	FieldDescriptors  interface{ ByName(Name) FieldDescriptor }
	FieldDescriptor   interface{ Kind() Kind }
	Name              string
	Kind              int
)

// MessageKind is the kind of a field that is a message.
const MessageKind Kind = 11

// A Value is none.
type Value struct{}

// IsValid says that there is no value.
func (Value) IsValid() bool { return false }

// Interface returns nil.
func (Value) Interface() any { return nil }

// Message returns nil.
func (Value) Message() Message { return nil }

// A MapKey is none.
type MapKey struct{}

// Interface returns nil.
func (MapKey) Interface() any { return nil }

// List is a field of several values. No type implements it.
type List interface {
	Len() int
	Get(int) Value
	isList()
}

// Map is a field of values with keys. No type implements it.
type Map interface {
	Len() int
	Range(func(MapKey, Value) bool)
	isMap()
}
