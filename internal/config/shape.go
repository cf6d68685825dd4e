package config

import (
	"kir/internal/config/schema"
	"kir/internal/config/yaml"
)

// shapeReader returns a function that decodes an exponent that bends the rise of a score. The exponent must be
// above 0.
func shapeReader(field *Written[float64]) valueReader { return decodingReader(field, decodeShape) }

func decodeShape(n *yaml.Node) (float64, error) {
	shape, err := n.Float("the shape")
	if err == nil && shape <= 0 {
		err = yaml.Hint(n.Errorf("the shape is %s", n.Describe()), "it must be above 0: 1 is a straight line")
	}
	return shape, err
}

// floorReader returns a function that decodes the minimum of a score, from 0 to 1.
func floorReader(field *Written[float64]) valueReader {
	return decodingReader(field, func(n *yaml.Node) (float64, error) {
		least, err := n.Weight("the floor")
		if err == nil && least > 1 {
			err = yaml.Hint(n.Errorf("the floor is %v", least), "it is the least score, from 0 to 1")
		}
		return least, err
	})
}

// newFloorKey returns the description of the key "floor", the minimum of a score.
func newFloorKey(field *Written[float64], example string) schema.Key {
	return newKey("floor", schema.Between(0, 1), "0", "the least score", example, floorReader(field))
}
