package onnx

import (
	"errors"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// forEachField calls f with each field of a Protocol Buffers message. The arguments of f are the
// number of the field and its value: an integer for a varint, and bytes otherwise. The bytes of a
// group are empty.
func forEachField(message []byte, f func(field int, value uint64, text []byte) error) error {
	for len(message) > 0 {
		field, kind, head := protowire.ConsumeTag(message)
		if head < 0 {
			return messageError(head)
		}
		length := protowire.ConsumeFieldValue(field, kind, message[head:])
		if length < 0 {
			return messageError(length)
		}
		content := message[head : head+length]
		message = message[head+length:]
		var value uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			value, _ = protowire.ConsumeVarint(content)
		case protowire.BytesType:
			text, _ = protowire.ConsumeBytes(content)
		case protowire.Fixed32Type, protowire.Fixed64Type:
			text = content
		}
		if err := f(int(field), value, text); err != nil {
			return err
		}
	}
	return nil
}

// messageError returns the error for a negative length that package protowire returned. It does not
// use the error text of protowire, which differs between builds.
func messageError(length int) error {
	if err := protowire.ParseError(length); errors.Is(err, io.ErrUnexpectedEOF) {
		return io.ErrUnexpectedEOF
	}
	return errors.New("a field is not valid in Protocol Buffers")
}
