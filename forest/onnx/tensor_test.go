package onnx

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Numbers of every kind are read, and texts are not taken for numbers.
func TestTensors(t *testing.T) {
	tensor := func(kind uint64, fields ...byte) []byte {
		return append(protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), kind), fields...)
	}
	one := []byte{0, 0, 0x80, 0x3f} // 1, and 2
	two := []byte{0, 0, 0, 0x40}
	for name, c := range map[string]struct {
		data []byte
		want []float64
	}{
		"floats":       {append(tensor(kindFloat), message(4, slices.Concat(one, two))...), []float64{1, 2}},
		"raw floats":   {append(tensor(kindFloat), message(9, slices.Concat(one, two))...), []float64{1, 2}},
		"raw integers": {append(tensor(kindInt32), message(9, []byte{7, 0, 0, 0, 255, 255, 255, 255})...), []float64{7, -1}},
		"raw longer":   {append(tensor(kindInt64), message(9, []byte{7, 0, 0, 0, 0, 0, 0, 0})...), []float64{7}},
		"integers":     {append(tensor(kindInt64), message(7, []byte{5, 9})...), []float64{5, 9}},
		"truth values": {append(tensor(9), message(5, []byte{1, 0})...), []float64{1, 0}},
		"texts":        {append(tensor(kindString), message(6, "a", 9, []byte{1, 2, 3})...), nil},
		"raw doubles":  {append(tensor(kindDouble), message(9, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})...), []float64{1}},
		"doubles":      {append(tensor(kindDouble), message(10, []byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f})...), []float64{1}},
	} {
		got, err := readTensor(c.data)
		if err != nil || !slices.Equal(got.numbers, c.want) {
			t.Errorf("%s: %+v: %v", name, got, err)
		}
	}
}
