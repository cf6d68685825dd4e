package onnx

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestForEachField reads a field of every kind.
func TestForEachField(t *testing.T) {
	tag := func(field protowire.Number, kind protowire.Type) []byte { return protowire.AppendTag(nil, field, kind) }
	group := protowire.AppendGroup(tag(6, protowire.StartGroupType), 6, protowire.AppendVarint(tag(1, protowire.VarintType), 5))
	message := slices.Concat(
		protowire.AppendVarint(tag(1, protowire.VarintType), 1<<63),
		protowire.AppendFixed64(tag(2, protowire.Fixed64Type), 3),
		protowire.AppendFixed32(tag(3, protowire.Fixed32Type), 4),
		protowire.AppendBytes(tag(1<<29-1, protowire.BytesType), []byte("text")),
		protowire.AppendBytes(tag(5, protowire.BytesType), nil),
		group,
	)
	var got bytes.Buffer
	if err := forEachField(message, func(field int, value uint64, text []byte) error {
		_, err := fmt.Fprintf(&got, "%d %d %q %v\n", field, value, text, text == nil)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := `1 9223372036854775808 "" true
2 0 "\x03\x00\x00\x00\x00\x00\x00\x00" false
3 0 "\x04\x00\x00\x00" false
536870911 0 "text" false
5 0 "" false
6 0 "" true
`
	if got.String() != want {
		t.Errorf("the fields are\n%s, want\n%s", got.String(), want)
	}
}

// TestForEachFieldRejects reads messages that are cut short or malformed, and has errors whose
// texts do not depend on the build.
func TestForEachFieldRejects(t *testing.T) {
	const cutShort, invalid = "unexpected EOF", "a field is not valid in Protocol Buffers"
	long := bytes.Repeat([]byte{0xff}, 10)
	for name, c := range map[string]struct {
		message []byte
		want    string
	}{
		"a tag without a value":          {[]byte{0x08}, cutShort},
		"half a tag":                     {[]byte{0x88}, cutShort},
		"bytes that go on after the end": {[]byte{0x0a, 2, 'a'}, cutShort},
		"a fixed number cut short":       {[]byte{0x0d, 1, 2, 3}, cutShort},
		"a group without an end":         {[]byte{0x0b, 0x08, 1}, cutShort},
		"the field 0":                    {[]byte{0x00, 1}, invalid},
		"a kind that does not exist":     {[]byte{0x0e, 1}, invalid},
		"a tag of more than 64 bits":     {long, invalid},
		"a value of more than 64 bits":   {append([]byte{0x08}, long...), invalid},
		"an end without a group":         {[]byte{0x0c}, invalid},
		"a group that ends another":      {[]byte{0x0b, 0x14}, invalid},
		"groups in groups":               {bytes.Repeat([]byte{0x0b}, 1<<20), invalid},
	} {
		err := forEachField(c.message, func(int, uint64, []byte) error { return nil })
		if fmt.Sprint(err) != c.want {
			t.Errorf("%s: the error is %v, want %s", name, err, c.want)
		}
	}
}
