package onnx

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"kir/internal/portable"
)

// binaryOperations maps the name of an operator of two numbers to the function that the operator
// computes.
var binaryOperations = map[string]func(a, b float64) float64{
	"Add": func(a, b float64) float64 { return a + b },
	"Sub": func(a, b float64) float64 { return a - b },
	"Mul": func(a, b float64) float64 { return float64(a * b) },
	"Div": func(a, b float64) float64 { return a / b },
}

// constantOperand returns the constant operand of a node that has two operands, one of them
// constant. The function constantOf returns the constant for the column with a given index of the
// other operand, which has width columns. The result isFirst reports whether the constant is the
// first operand.
func (w *graphReader) constantOperand(n *graphNode, width int) (constantOf func(k int) float64, isFirst bool, err error) {
	if len(n.inputs) != 2 {
		return nil, false, fmt.Errorf("it has %d operands", len(n.inputs))
	}
	t := w.graph.constants[n.inputs[1]]
	if t == nil {
		t, isFirst = w.graph.constants[n.inputs[0]], true
	}
	if t == nil {
		return nil, false, errors.New("neither operand is a constant")
	}
	constantOf, err = broadcastConstants(t.numbers, width)
	return constantOf, isFirst, err
}

// broadcastConstants returns a function that returns the constant for the column with a given
// index. The parameter numbers holds one constant for each of width columns, or a single constant
// for all columns.
func broadcastConstants(numbers []float64, width int) (func(k int) float64, error) {
	for _, v := range numbers {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("a constant is not finite")
		}
	}
	switch len(numbers) {
	case 1:
		return func(int) float64 { return numbers[0] }, nil
	case width:
		return func(k int) float64 { return numbers[k] }, nil
	}
	return nil, fmt.Errorf("it has %d constants for %d columns", len(numbers), width)
}

// convertBeforeTrees returns the columns that node n computes. The node must be one whose output
// leads to the trees.
func (w *graphReader) convertBeforeTrees(n *graphNode) ([]inputColumn, error) {
	columns := w.columns[n.inputs[0]]
	if columns == nil {
		columns = w.columns[n.inputs[len(n.inputs)-1]]
	}
	switch n.op {
	case "Identity", "Flatten", "Dropout":
		return columns, nil
	case "Cast":
		return castColumns(n, columns)
	case "Scaler":
		return scaleColumns(n, columns)
	case "Imputer":
		return imputeColumns(n, columns)
	case "ArrayFeatureExtractor", "Gather":
		at, err := w.selectedColumns(n, len(columns))
		if err != nil {
			return nil, err
		}
		made := make([]inputColumn, len(at))
		for k, from := range at {
			made[k] = columns[from]
		}
		return made, nil
	case "Add", "Sub", "Mul", "Div":
		return w.computeColumns(n, columns)
	}
	return nil, errors.New("it is not supported before a tree ensemble")
}

// castColumns returns the columns that a Cast node computes from the given columns.
func castColumns(n *graphNode, columns []inputColumn) ([]inputColumn, error) {
	kind := 0
	if a := n.attributes["to"]; a != nil {
		kind = int(a.integer)
	}
	step, err := roundingFunction(kind)
	if err != nil {
		return nil, err
	}
	made := make([]inputColumn, len(columns))
	for k, c := range columns {
		made[k] = c.withFunction(kind, step)
	}
	return made, nil
}

// scaleColumns returns the columns that a Scaler node computes from the given columns.
func scaleColumns(n *graphNode, columns []inputColumn) ([]inputColumn, error) {
	offset, err := broadcastConstants(n.floats("offset"), len(columns))
	if err != nil {
		return nil, err
	}
	scale, err := broadcastConstants(n.floats("scale"), len(columns))
	if err != nil {
		return nil, err
	}
	made := make([]inputColumn, len(columns))
	for k, c := range columns {
		offset, scale := offset(k), scale(k)
		if c.elementKind == kindDouble {
			made[k] = c.withFunction(kindFloat, func(v float64) float64 { return roundToFloat32(float64((v - offset) * scale)) })
		} else {
			made[k] = c.withFunction(kindFloat, func(v float64) float64 { return roundToFloat32(float64(roundToFloat32(v-offset) * scale)) })
		}
	}
	return made, nil
}

// imputeColumns returns the columns that an Imputer node computes from the given columns. The node
// replaces missing values by constants.
func imputeColumns(n *graphNode, columns []inputColumn) ([]inputColumn, error) {
	a := n.attributes["replaced_value_float"]
	if a == nil || !math.IsNaN(a.float) {
		return nil, errors.New("it replaces another value than NaN, which is not supported")
	}
	value, err := broadcastConstants(n.floats("imputed_value_floats"), len(columns))
	if err != nil {
		return nil, err
	}
	made := make([]inputColumn, len(columns))
	for k, c := range columns {
		value := value(k)
		made[k] = c.withFunction(kindFloat, func(v float64) float64 {
			if math.IsNaN(v) {
				return value
			}
			return roundToFloat32(v)
		})
	}
	return made, nil
}

// computeColumns returns the columns that an arithmetic node computes from the given columns. The
// node adds, subtracts, multiplies or divides by constants.
func (w *graphReader) computeColumns(n *graphNode, columns []inputColumn) ([]inputColumn, error) {
	constant, first, err := w.constantOperand(n, len(columns))
	if err != nil {
		return nil, err
	}
	if first && n.op == "Div" {
		return nil, errors.New("a constant divided by a column is not supported")
	}
	do := binaryOperations[n.op]
	made := make([]inputColumn, len(columns))
	for k, c := range columns {
		step, err := roundingFunction(c.elementKind)
		if err != nil {
			return nil, err
		}
		by := constant(k)
		if n.op == "Div" && by == 0 {
			return nil, errors.New("it divides by 0")
		}
		made[k] = c.withFunction(c.elementKind, func(v float64) float64 {
			if first {
				return step(do(by, v))
			}
			return step(do(v, by))
		})
	}
	return made, nil
}

// selectedColumns returns the indices of the columns that a Gather or ArrayFeatureExtractor node
// selects. There are width columns to select from.
func (w *graphReader) selectedColumns(n *graphNode, width int) ([]int, error) {
	if len(n.inputs) != 2 || w.graph.constants[n.inputs[1]] == nil {
		return nil, errors.New("what it selects is no constant")
	}
	if a := n.attributes["axis"]; n.op == "Gather" && (a == nil || a.integer != 1 && a.integer != -1) {
		return nil, errors.New("it selects rows")
	}
	var at []int
	for _, v := range w.graph.constants[n.inputs[1]].numbers {
		if v != math.Trunc(v) || v < 0 || v >= float64(width) {
			return nil, fmt.Errorf("it selects column %v of %d", v, width)
		}
		at = append(at, int(v))
	}
	return at, nil
}

// convertAfterTrees returns the table of numbers that node n computes from the output of the trees.
// The result is nil if the output of the node is not numeric.
func (w *graphReader) convertAfterTrees(n *graphNode) (*outputTable, error) {
	k := slices.IndexFunc(n.inputs, func(name string) bool { return w.tables[name] != nil })
	t := w.tables[n.inputs[k]]
	made := &outputTable{width: t.width, isFloat32: t.isFloat32, classes: t.classes}
	round := func(v float64) float64 {
		if made.isFloat32 {
			return roundToFloat32(v)
		}
		return v
	}
	each := func(f func(float64) float64) (*outputTable, error) {
		made.value = func(sums []float64, k int) float64 { return round(f(t.value(sums, k))) }
		return made, nil
	}
	switch n.op {
	case "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze":
		return t, nil
	case "ArgMax", "LabelEncoder":
		return nil, nil
	case "Cast":
		if a := n.attributes["to"]; a == nil || a.integer != kindFloat && a.integer != kindDouble {
			return nil, nil // for example a cast to a class label
		} else if made.isFloat32 = a.integer == kindFloat; made.isFloat32 {
			return each(roundToFloat32)
		}
		return each(func(v float64) float64 { return v })
	case "ZipMap":
		made.value, made.classes = t.value, n.labels("classlabels")
		if len(made.classes) != t.width {
			return nil, fmt.Errorf("it names %d classes of %d", len(made.classes), t.width)
		}
		return made, nil
	case "Exp":
		return each(portable.Exp)
	case "Log":
		return each(portable.Log)
	case "Sqrt":
		return each(math.Sqrt)
	case "Neg":
		return each(func(v float64) float64 { return -v })
	case "Sigmoid":
		return each(func(v float64) float64 { return 1 / (1 + portable.Exp(-v)) })
	case "Softmax":
		made.value = func(sums []float64, k int) float64 { return softmax(tableValues(t, sums), false)[k] }
		return made, nil
	case "Normalizer":
		return w.normalizeTable(n, t)
	case "ArrayFeatureExtractor", "Gather":
		at, err := w.selectedColumns(n, t.width)
		if err != nil {
			return nil, err
		}
		made.width, made.classes = len(at), nil
		made.value = func(sums []float64, k int) float64 { return t.value(sums, at[k]) }
		return made, nil
	case "Add", "Sub", "Mul", "Div":
		constant, first, err := w.constantOperand(n, t.width)
		if err != nil {
			return nil, err
		}
		do := binaryOperations[n.op]
		made.value = func(sums []float64, k int) float64 {
			if first {
				return round(do(constant(k), t.value(sums, k)))
			}
			return round(do(t.value(sums, k), constant(k)))
		}
		return made, nil
	}
	return nil, errors.New("it is not supported behind a tree ensemble")
}

// normalizeTable returns the table that a Normalizer node computes. The node divides all numbers by
// their norm.
func (w *graphReader) normalizeTable(n *graphNode, t *outputTable) (*outputTable, error) {
	norm := "MAX"
	if a := n.attributes["norm"]; a != nil {
		norm = a.text
	}
	if norm != "MAX" && norm != "L1" && norm != "L2" {
		return nil, fmt.Errorf("the norm %.20q is not supported", norm)
	}
	made := *t
	made.isFloat32 = true
	made.value = func(sums []float64, k int) float64 {
		size := float32(0)
		if norm == "MAX" {
			size = float32(math.Inf(-1))
		}
		for q := range t.width {
			v := float32(t.value(sums, q))
			switch norm {
			case "MAX":
				size = max(size, v)
			case "L1":
				size += max(v, -v)
			default:
				size += float32(v * v)
			}
		}
		v := float32(t.value(sums, k))
		if norm == "L2" {
			size = float32(math.Sqrt(float64(size)))
		}
		if size == 0 {
			return float64(v)
		}
		return float64(v / size)
	}
	return &made, nil
}
