package onnx

import (
	"math"
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

// One constant is for all columns, or there is one for each.
func TestSpread(t *testing.T) {
	for _, c := range []struct {
		numbers []float64
		width   int
		want    []float64 // nil: an error
	}{
		{[]float64{3}, 4, []float64{3, 3, 3, 3}},
		{[]float64{3}, 1, []float64{3}},
		{[]float64{3, 4}, 2, []float64{3, 4}},
		{[]float64{3, 4}, 3, nil},
		{[]float64{3, 4}, 1, nil},
		{nil, 2, nil},
		{[]float64{3, math.NaN()}, 2, nil},
		{[]float64{math.Inf(1)}, 2, nil},
	} {
		of, err := broadcastConstants(c.numbers, c.width)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%v for %d columns: %v", c.numbers, c.width, err)
			continue
		}
		for k, want := range c.want {
			if got := of(k); got != want {
				t.Errorf("%v for %d columns: column %d has %v", c.numbers, c.width, k, got)
			}
		}
	}
}

// A softmax with zeros leaves out of the sum what is about 0, and scales it down.
func TestSoftmax(t *testing.T) {
	e := math.Exp
	for _, c := range []struct {
		all   []float32
		zeros bool
		want  []float64
	}{
		{[]float32{0, 2}, false, []float64{1 / (1 + e(2)), e(2) / (1 + e(2))}},
		{[]float32{0, 5e-8, 2, 1}, true, []float64{0, 5e-8 * e(-2) / (1 + e(-1)), 1 / (1 + e(-1)), e(-1) / (1 + e(-1))}},
		{[]float32{1e-5, 2}, true, []float64{1 / (1 + e(2)), e(2) / (1 + e(2))}},
	} {
		for k, got := range softmax(c.all, c.zeros) {
			if want := c.want[k]; math.Abs(got-want) > 3e-5*want {
				t.Errorf("softmax, zeros %t: number %d is %v, want %v", c.zeros, k, got, want)
			}
		}
	}
}
