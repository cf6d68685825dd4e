package onnx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// These limits apply to a file.
const (
	maxColumns = 1 << 20
	maxTargets = 1 << 12
	maxSteps   = 1 << 8 // greatest number of nodes of a graph
)

// A graph holds the parts of an ONNX graph that this package uses. Each node comes after its inputs.
type graph struct {
	nodes          []node
	constants      map[string]*tensor
	inputs         []input
	outputs        []string
	maker, version string
}

type input struct {
	name    string
	kind    int
	columns int // number of columns; 0 if the file does not state it
}

type node struct {
	op, domain      string
	inputs, outputs []string
	attributes      map[string]*attribute
}

type attribute struct {
	f       float64
	i       int64
	s       string
	tensor  *tensor
	floats  []float64
	ints    []int64
	strings []string
}

// A tensor is a list of numbers. Of its shape only the number of elements is kept.
type tensor struct {
	name    string
	kind    int
	numbers []float64
}

// These are the kinds of elements, with the numbers of TensorProto.
const (
	kindFloat  = 1
	kindUint8  = 2
	kindInt32  = 6
	kindInt64  = 7
	kindString = 8
	kindDouble = 11
)

// appendInts appends the value of a field, or all values of a packed field.
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

// appendNumbers appends the little-endian numbers of the given kind of elements in data.
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
			return g.read(text)
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("it has no graph")
	}
	return g, err
}

func (g *graph) read(message []byte) error {
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

func readNode(message []byte) (n node, err error) {
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
				a.f = f[0]
			}
		case 3:
			a.i = int64(value)
		case 4:
			a.s = string(text)
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

// readInput reads the name, the kind of elements and the number of columns of a graph's input.
func readInput(message []byte) (in input, err error) {
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

// floats returns the floating-point list of the named attribute.
func (n *node) floats(name string) []float64 {
	if a := n.attributes[name]; a != nil {
		return a.floats
	}
	return nil
}

// ints returns the integer list of the named attribute.
func (n *node) ints(name string) []int64 {
	if a := n.attributes[name]; a != nil {
		return a.ints
	}
	return nil
}

// numbers returns the list of the named attribute as float64, or the elements of its tensor.
func (n *node) numbers(name string) []float64 {
	if a := n.attributes[name+"_as_tensor"]; a != nil && a.tensor != nil {
		return a.tensor.numbers
	}
	if a := n.attributes[name]; a != nil && a.tensor != nil {
		return a.tensor.numbers
	}
	return n.floats(name)
}

// text returns the text of the named attribute, or otherwise if it is missing.
func (n *node) text(name, otherwise string) string {
	if a := n.attributes[name]; a != nil {
		return a.s
	}
	return otherwise
}

// labels returns the class labels of an attribute, which are strings or integers.
func (n *node) labels(prefix string) []string {
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
