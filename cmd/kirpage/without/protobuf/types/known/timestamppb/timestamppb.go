// Package timestamppb has no messages: see package protoreflect.
package timestamppb

import (
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Timestamp is never made.
type Timestamp struct{}

// ProtoReflect returns nil.
func (*Timestamp) ProtoReflect() protoreflect.Message { return nil }

// AsTime returns no time.
func (*Timestamp) AsTime() time.Time { return time.Time{} }
