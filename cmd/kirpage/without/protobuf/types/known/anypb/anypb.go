// Package anypb has no messages: see package protoreflect.
package anypb

import (
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Any is never made.
type Any struct{}

// ProtoReflect returns nil.
func (*Any) ProtoReflect() protoreflect.Message { return nil }

// GetTypeUrl returns no address.
func (*Any) GetTypeUrl() string { return "" }

// UnmarshalNew fails.
func (*Any) UnmarshalNew() (protoreflect.ProtoMessage, error) { return nil, errors.ErrUnsupported }
