package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// An Extremum says that a value is to be as large or as small as possible, and how it is scored. The zero
// value says nothing.
type Extremum struct {
	Maximize, Minimize Written[bool]
	Shape              Written[float64] // exponent of the score, above 0
	Floor              Written[float64] // least score, 0 to 1
}

// IsSet reports whether the value is to be maximised or minimised.
func (e *Extremum) IsSet() bool { return e.Maximize.At != nil || e.Minimize.At != nil }

// Sign returns 1 to maximise and −1 to minimise.
func (e *Extremum) Sign() float64 {
	if e.Minimize.At != nil {
		return -1
	}
	return 1
}

// check returns an error if the value at n is both to be maximised and to be minimised.
func (e *Extremum) check(n *yaml.Node) error {
	if e.Maximize.At != nil && e.Minimize.At != nil {
		return yaml.Hint(n.Errorf("maximize and minimize exclude each other"), "remove one of them")
	}
	return nil
}

// asTrue decodes a key whose only value is true.
func asTrue(field *Written[bool], key string) read {
	return decodeWith(field, func(n *yaml.Node) (bool, error) {
		if n.Kind != yaml.Boolean || n.Plain() != true {
			return false, yaml.Hint(n.Errorf("%s is %s", key, n.Describe()), "write %s: true; or at_least, at_most or between for what is good enough", key)
		}
		return true, nil
	})
}

// asShape decodes the exponent of a score.
func asShape(field *Written[float64]) read { return decodeWith(field, decodeShape) }

func decodeShape(n *yaml.Node) (float64, error) {
	shape, err := n.Float("the shape")
	if err == nil && shape <= 0 {
		err = yaml.Hint(n.Errorf("the shape is %s", n.Describe()), "it must be above 0: 1 is a straight line")
	}
	return shape, err
}

// asFloor decodes the least score.
func asFloor(field *Written[float64]) read {
	return decodeWith(field, func(n *yaml.Node) (float64, error) {
		least, err := n.Weight("the floor")
		if err == nil && least > 1 {
			err = yaml.Hint(n.Errorf("the floor is %v", least), "it is the least score, from 0 to 1")
		}
		return least, err
	})
}

// floorKey returns the key of the least score.
func floorKey(field *Written[float64], example string) schema.Key {
	return key("floor", schema.Between(0, 1), "0", "the least score", example, asFloor(field))
}
