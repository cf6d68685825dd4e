package onnx

import (
	"bytes"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func protoTensor(t *testing.T, path string) []float64 {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made, err := readTensor(data)
	if err != nil {
		t.Fatal(err)
	}
	return made.numbers
}

// TestNodes holds TreeEnsemble of version 5 to ONNX's own tests of it.
func TestNodes(t *testing.T) {
	for _, name := range []string{"tree_ensemble_single_tree", "tree_ensemble_set_membership"} {
		data, err := os.ReadFile("testdata/" + name + ".onnx")
		if err != nil {
			t.Fatal(err)
		}
		m, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x, y := protoTensor(t, "testdata/"+name+".input_0.pb"), protoTensor(t, "testdata/"+name+".output_0.pb")
		for len(x) > 0 {
			sums := m.Sums(x[:len(m.Inputs)])
			for k, o := range m.Outputs {
				if got := o.Compute(sums, 0); got != y[k] {
					t.Errorf("%s: at %v output %d is %v, and should be %v", name, x[:len(m.Inputs)], k, got, y[k])
				}
			}
			x, y = x[len(m.Inputs):], y[len(m.Outputs):]
		}
		if len(y) != 0 {
			t.Errorf("%s: %d numbers are left", name, len(y))
		}
	}
}

// message writes a message of fields that are text.
func message(fields ...any) (b []byte) {
	for k := 0; k < len(fields); k += 2 {
		b = protowire.AppendTag(b, protowire.Number(fields[k].(int)), protowire.BytesType)
		switch v := fields[k+1].(type) {
		case string:
			b = protowire.AppendString(b, v)
		case []byte:
			b = protowire.AppendBytes(b, v)
		}
	}
	return b
}

// TestUnsupported checks that what is not supported is named.
func TestUnsupported(t *testing.T) {
	in := message(1, "X")
	for _, c := range []struct {
		model []byte
		says  string
	}{
		{nil, "no graph"},
		{message(7, message(11, in)), "no tree ensemble"},
		{message(7, message(11, in, 1, message(1, "X", 2, "Y", 4, "Gemm"))), "Gemm"},
		{message(7, message(11, in, 1, message(1, "X", 2, "Y", 4, "Normalizer", 7, "ai.onnx.ml"))), "before a tree ensemble"},
		{message(7, message(11, in, 1, message(1, "Z", 2, "Y", 4, "Cast"))), `"Z"`},
		{message(7, message(11, in, 1, message(1, "X", 2, "Y", 4, "TreeEnsemble", 7, "com.other"))), "com.other"},
		{message(7, message(11, in, 1, message(2, "Y", 4, "Constant"))), "not of a tensor"},
		{message(7, message(11, in, 1, message(2, "Y", 4, "Constant", 5, message(1, "value")))), "not of a tensor"},
		{message(7, message(11, in, 1, message(1, "X", 4, "Cast"))), "no input or no output"},
		{message(7, message(11, in, 1, message(2, "Y", 4, "Cast"))), "no input or no output"},
	} {
		_, err := Read(bytes.NewReader(c.model))
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.says)) {
			t.Errorf("the error is %v, and should say %q", err, c.says)
		}
	}
}
