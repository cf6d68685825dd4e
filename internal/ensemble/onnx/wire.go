package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits on a model file.
const (
	maxColumns    = 1 << 20 // greatest number of columns of an input or a node
	maxTargets    = 1 << 12 // greatest number of targets
	maxGraphNodes = 1 << 8  // greatest number of nodes of a graph
)

// A graph holds the parts of an ONNX graph that this package uses. Each node comes after its
// inputs.
type graph struct {
	nodes     []graphNode
	constants map[string]*tensor // maps the name of a constant to its numbers
	inputs    []graphInput
	outputs   []string // names of the outputs
	maker     string   // the program that wrote the file
	version   string   // version of the program that wrote the file
}

// A graphInput is an input of a graph.
type graphInput struct {
	name    string
	kind    int // kind of the numbers, such as kindFloat
	columns int // number of columns; 0 if the file does not state the number
}

// A graphNode is a node of a graph: an operator with the names of its inputs and outputs.
type graphNode struct {
	op         string                // name of the operator
	domain     string                // name of the set of operators to which the operator belongs
	inputs     []string              // names of the input values
	outputs    []string              // names of the output values
	attributes map[string]*attribute // maps the name of an attribute to its value
}

// An attribute is the value of a named parameter of a node. The field that is set depends on the
// type of the value.
type attribute struct {
	float   float64
	integer int64
	text    string
	tensor  *tensor
	floats  []float64
	ints    []int64
	strings []string
}

// A tensor is a list of numbers. The dimensions of the ONNX tensor are not kept.
type tensor struct {
	name    string
	kind    int // kind of its elements, such as kindFloat
	numbers []float64
}

// The kinds of tensor elements, with the numbers that ONNX defines in TensorProto.
const (
	kindFloat  = 1
	kindUint8  = 2
	kindInt32  = 6
	kindInt64  = 7
	kindString = 8
	kindDouble = 11
)

// appendInts appends to dst the integers in a field of a Protocol Buffers message. The field holds
// the single integer value, or the bytes of packed integers if packed is not nil.
func appendInts(dst []int64, value uint64, packed []byte) ([]int64, error) {
	if packed == nil {
		return append(dst, int64(value)), nil
	}
	for len(packed) > 0 {
		v, length := protowire.ConsumeVarint(packed)
		if length < 0 {
			return nil, messageError(length)
		}
		dst, packed = append(dst, int64(v)), packed[length:]
	}
	return dst, nil
}

// appendNumbers appends to dst the little-endian numbers in data. The parameter kind is the kind of
// the numbers, such as kindFloat.
func appendNumbers(dst []float64, kind int, data []byte) ([]float64, error) {
	size := map[int]int{kindFloat: 4, kindDouble: 8, kindInt64: 8, kindInt32: 4, kindUint8: 1}[kind]
	if size == 0 {
		return nil, fmt.Errorf("a tensor of kind %d is not supported", kind)
	}
	if len(data)%size != 0 {
		return nil, errors.New("a tensor ends within a number")
	}
	for ; len(data) > 0; data = data[size:] {
		var v float64
		switch kind {
		case kindFloat:
			v = float64(math.Float32frombits(binary.LittleEndian.Uint32(data)))
		case kindDouble:
			v = math.Float64frombits(binary.LittleEndian.Uint64(data))
		case kindInt64:
			v = float64(int64(binary.LittleEndian.Uint64(data)))
		case kindInt32:
			v = float64(int32(binary.LittleEndian.Uint32(data)))
		default:
			v = float64(data[0])
		}
		dst = append(dst, v)
	}
	return dst, nil
}

// readModel reads the graph from the bytes of an ONNX model.
func readModel(message []byte) (*graph, error) {
	g := &graph{constants: make(map[string]*tensor)}
	found := false
	err := forEachField(message, func(field int, _ uint64, text []byte) error {
		switch field {
		case 2:
			g.maker = string(text)
		case 3:
			g.version = string(text)
		case 7:
			found = true
			return g.readFields(text)
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("it has no graph")
	}
	return g, err
}

// readFields reads the bytes of a GraphProto message into g.
func (g *graph) readFields(message []byte) error {
	return forEachField(message, func(field int, _ uint64, text []byte) error {
		switch field {
		case 1:
			n, err := readNode(text)
			g.nodes = append(g.nodes, n)
			return err
		case 5:
			t, err := readTensor(text)
			if err == nil {
				g.constants[t.name] = t
			}
			return err
		case 11:
			in, err := readInput(text)
			g.inputs = append(g.inputs, in)
			return err
		case 12:
			out, err := readInput(text)
			g.outputs = append(g.outputs, out.name)
			return err
		}
		return nil
	})
}

func readNode(message []byte) (n graphNode, err error) {
	n.attributes = make(map[string]*attribute)
	err = forEachField(message, func(field int, _ uint64, text []byte) error {
		switch field {
		case 1:
			n.inputs = append(n.inputs, string(text))
		case 2:
			n.outputs = append(n.outputs, string(text))
		case 4:
			n.op = string(text)
		case 5:
			name, a, err := readAttribute(text)
			if n.attributes[name] != nil {
				return fmt.Errorf("the attribute %.40q is there twice", name)
			}
			n.attributes[name] = a
			return err
		case 7:
			n.domain = string(text)
		}
		return nil
	})
	return n, err
}

func readAttribute(message []byte) (name string, a *attribute, err error) {
	a = &attribute{}
	err = forEachField(message, func(field int, value uint64, text []byte) (err error) {
		switch field {
		case 1:
			name = string(text)
		case 2:
			var f []float64
			if f, err = appendNumbers(nil, kindFloat, text); len(f) > 0 {
				a.float = f[0]
			}
		case 3:
			a.integer = int64(value)
		case 4:
			a.text = string(text)
		case 5:
			a.tensor, err = readTensor(text)
		case 7:
			a.floats, err = appendNumbers(a.floats, kindFloat, text)
		case 8:
			a.ints, err = appendInts(a.ints, value, text)
		case 9:
			a.strings = append(a.strings, string(text))
		}
		return err
	})
	return name, a, err
}

func readTensor(message []byte) (*tensor, error) {
	t := &tensor{}
	var raw []byte
	var ints []int64
	var floats, doubles []float64
	err := forEachField(message, func(field int, value uint64, text []byte) (err error) {
		switch field {
		case 2:
			t.kind = int(int32(value))
		case 4:
			floats, err = appendNumbers(floats, kindFloat, text)
		case 5, 7:
			ints, err = appendInts(ints, value, text)
		case 8:
			t.name = string(text)
		case 9:
			raw = text
		case 10:
			doubles, err = appendNumbers(doubles, kindDouble, text)
		case 14:
			if value != 0 {
				err = errors.New("a tensor is in another file, which is not supported")
			}
		}
		return err
	})
	switch {
	case err != nil || t.kind == kindString:
	case raw != nil:
		t.numbers, err = appendNumbers(nil, t.kind, raw)
	case floats != nil:
		t.numbers = floats
	case doubles != nil:
		t.numbers = doubles
	default:
		for _, v := range ints {
			t.numbers = append(t.numbers, float64(v))
		}
	}
	return t, err
}

// readInput reads an input of a graph: its name, the kind of its elements, and its number of
// columns.
func readInput(message []byte) (in graphInput, err error) {
	var shape []int64
	dimension := func(_ int, _ uint64, text []byte) error {
		size := int64(0)
		err := forEachField(text, func(field int, value uint64, _ []byte) error {
			if field == 1 {
				size = int64(value)
			}
			return nil
		})
		shape = append(shape, size)
		return err
	}
	err = forEachField(message, func(field int, _ uint64, text []byte) error {
		if field == 1 {
			in.name = string(text)
		}
		if field != 2 {
			return nil
		}
		return forEachField(text, func(field int, _ uint64, text []byte) error {
			if field != 1 {
				return nil
			}
			return forEachField(text, func(field int, value uint64, text []byte) error {
				switch field {
				case 1:
					in.kind = int(int32(value))
				case 2:
					return forEachField(text, dimension)
				}
				return nil
			})
		})
	})
	if len(shape) > 0 && shape[len(shape)-1] > 0 && shape[len(shape)-1] <= maxColumns {
		in.columns = int(shape[len(shape)-1])
	}
	return in, err
}

// floats returns the list of floating-point numbers in the attribute with the given name.
func (n *graphNode) floats(name string) []float64 {
	if a := n.attributes[name]; a != nil {
		return a.floats
	}
	return nil
}

// ints returns the list of integers in the attribute with the given name.
func (n *graphNode) ints(name string) []int64 {
	if a := n.attributes[name]; a != nil {
		return a.ints
	}
	return nil
}

// numbers returns the elements of the tensor in the attribute with the given name. If the attribute
// has no tensor, it returns the attribute's list of floating-point numbers.
func (n *graphNode) numbers(name string) []float64 {
	if a := n.attributes[name+"_as_tensor"]; a != nil && a.tensor != nil {
		return a.tensor.numbers
	}
	if a := n.attributes[name]; a != nil && a.tensor != nil {
		return a.tensor.numbers
	}
	return n.floats(name)
}

// text returns the text of the attribute with the given name, or defaultText if the node does not
// have the attribute.
func (n *graphNode) text(name, defaultText string) string {
	if a := n.attributes[name]; a != nil {
		return a.text
	}
	return defaultText
}

// labels returns the class labels in the attributes whose names begin with prefix. The labels are
// strings, or integers converted to strings.
func (n *graphNode) labels(prefix string) []string {
	if a := n.attributes[prefix+"_strings"]; a != nil && len(a.strings) > 0 {
		return a.strings
	}
	var labels []string
	if a := n.attributes[prefix+"_int64s"]; a != nil {
		for _, v := range a.ints {
			labels = append(labels, strconv.FormatInt(v, 10))
		}
	}
	return labels
}
