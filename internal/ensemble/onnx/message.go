package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Kinds of fields in the wire format of Protocol Buffers.
const (
	wireVarint = iota
	wireFixed64
	wireBytes
	wireBeginGroup
	wireEndGroup
	wireFixed32
)

// forEachField calls f with every field of a Protocol Buffers message: its number, and its value or
// its bytes. Fixed-size numbers come as bytes; a group comes as nothing.
//
// ONNX needs only these few lines of the format. A library would add its whole size to the browser
// version.
func forEachField(message []byte, f func(field int, value uint64, text []byte) error) error {
	for len(message) > 0 {
		field, kind, value, text, rest, err := nextField(message)
		if err == nil && kind == wireBeginGroup {
			rest, err = afterGroup(field, rest)
		}
		if err == nil && kind == wireEndGroup {
			err = errors.New("a group ends that has not begun")
		}
		if err != nil {
			return err
		}
		if err := f(field, value, text); err != nil {
			return err
		}
		message = rest
	}
	return nil
}

// nextField reads the first field of a message. For a group it reads only one delimiter.
func nextField(message []byte) (field, kind int, value uint64, text, rest []byte, err error) {
	tag, rest, err := nextVarint(message)
	if err != nil {
		return 0, 0, 0, nil, nil, err
	}
	if tag>>3 == 0 || tag>>3 > math.MaxInt32 {
		return 0, 0, 0, nil, nil, fmt.Errorf("a field has the number %d", tag>>3)
	}
	field, kind = int(tag>>3), int(tag&7)
	size := uint64(0)
	switch kind {
	case wireVarint:
		value, rest, err = nextVarint(rest)
	case wireFixed64:
		size = 8
	case wireBytes:
		size, rest, err = nextVarint(rest)
	case wireFixed32:
		size = 4
	case wireBeginGroup, wireEndGroup:
	default:
		err = fmt.Errorf("a field is of kind %d, which there is none of", kind)
	}
	if err == nil && size > uint64(len(rest)) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return 0, 0, 0, nil, nil, err
	}
	if kind == wireFixed64 || kind == wireBytes || kind == wireFixed32 {
		text, rest = rest[:size:size], rest[size:]
	}
	return field, kind, value, text, rest, nil
}

// afterGroup returns the bytes after the end of a group that has begun.
func afterGroup(group int, message []byte) (rest []byte, err error) {
	for groups := []int{group}; len(groups) > 0; {
		field, kind, _, _, rest, err := nextField(message)
		switch {
		case err != nil:
			return nil, err
		case kind == wireBeginGroup:
			groups = append(groups, field)
		case kind == wireEndGroup && field != groups[len(groups)-1]:
			return nil, errors.New("a group ends within another")
		case kind == wireEndGroup:
			groups = groups[:len(groups)-1]
		}
		message = rest
	}
	return message, nil
}

// nextVarint reads the variable-size number at the beginning of a message.
func nextVarint(message []byte) (value uint64, rest []byte, err error) {
	value, n := binary.Uvarint(message)
	switch {
	case n == 0:
		return 0, nil, io.ErrUnexpectedEOF
	case n < 0:
		return 0, nil, errors.New("a number has more than 64 bits")
	}
	return value, message[n:], nil
}
