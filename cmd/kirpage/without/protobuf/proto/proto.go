// Package proto has no messages: see package protoreflect.
package proto

import (
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Message is a message.
type Message = protoreflect.ProtoMessage

// Size returns 0.
func Size(Message) int { return 0 }

// Marshal fails.
func Marshal(Message) ([]byte, error) { return nil, errors.ErrUnsupported }
