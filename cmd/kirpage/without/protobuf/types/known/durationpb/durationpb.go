// Package durationpb has no messages: see package protoreflect.
package durationpb

import (
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Duration is never made.
type Duration struct{}

// ProtoReflect returns nil.
func (*Duration) ProtoReflect() protoreflect.Message { return nil }

// AsDuration returns 0.
func (*Duration) AsDuration() time.Duration { return 0 }
