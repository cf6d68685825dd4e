package onnx

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestMessage reads messages of all kinds of fields, whole, cut short and damaged, and has
// the fields that the library of Protocol Buffers finds, and an error where that has one.
func TestMessage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var fields func(depth int) []byte
	fields = func(depth int) (b []byte) {
		for range r.IntN(5) {
			field := protowire.Number(1 + r.IntN(1<<r.IntN(29)))
			switch kind := r.IntN(5 + min(depth, 1)); kind {
			case 0:
				b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), r.Uint64()>>r.IntN(64))
			case 1:
				b = protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), r.Uint64())
			case 2:
				b = protowire.AppendFixed32(protowire.AppendTag(b, field, protowire.Fixed32Type), r.Uint32())
			case 3, 4:
				b = protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), make([]byte, r.IntN(200)))
			default:
				b = protowire.AppendGroup(protowire.AppendTag(b, field, protowire.StartGroupType), field, fields(depth-1))
			}
		}
		return b
	}
	good, bad := 0, 0
	for range 20_000 {
		message := fields(3)
		switch r.IntN(3) {
		case 0:
			message = message[:r.IntN(len(message)+1)]
		case 1:
			if len(message) > 0 {
				message[r.IntN(len(message))] = byte(r.Uint32())
			}
		}
		var want, got bytes.Buffer
		failed := false
		for left := message; len(left) > 0 && !failed; {
			field, kind, n := protowire.ConsumeTag(left)
			m := -1
			if n >= 0 {
				m = protowire.ConsumeFieldValue(field, kind, left[n:])
			}
			if failed = m < 0; failed {
				break
			}
			value, text := uint64(0), []byte(nil)
			switch kind {
			case protowire.VarintType:
				value, _ = protowire.ConsumeVarint(left[n:])
			case protowire.BytesType:
				text, _ = protowire.ConsumeBytes(left[n:])
			case protowire.Fixed32Type, protowire.Fixed64Type:
				text = left[n : n+m]
			}
			fmt.Fprintln(&want, field, value, text, text == nil)
			left = left[n+m:]
		}
		err := forEachField(message, func(field int, value uint64, text []byte) error {
			fmt.Fprintln(&got, field, value, text, text == nil)
			return nil
		})
		if got.String() != want.String() || (err != nil) != failed {
			t.Fatalf("%x is read as\n%s%v, and by the library as\n%sfailed: %v", message, got.String(), err, want.String(), failed)
		}
		if failed {
			bad++
		} else {
			good++
		}
	}
	if min(good, bad) < 2000 {
		t.Errorf("%d messages are good and %d are not", good, bad)
	}
}
