package ensemble

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// A model is bound to as many sources as it has inputs, or not at all.
func TestBindCounts(t *testing.T) {
	m := &Model{Inputs: []string{"a", "b"}}
	for n := range 4 {
		_, err := Bind(m, 1, 10, make([]Source, n))
		if wrong := err != nil && strings.Contains(err.Error(), "2 inputs"); wrong != (n != 2) {
			t.Errorf("%d sources: %v", n, err)
		}
	}
}

// TestBuilderRefuses: what is no tree is told, and what is one is built.
func TestBuilderRefuses(t *testing.T) {
	type tree struct {
		root     int
		children [][2]int // {-1, v}: a leaf of value v
		says     string
	}
	for name, c := range map[string]tree{
		"a leaf":           {0, [][2]int{{-1, 3}}, ""},
		"a test":           {1, [][2]int{{-1, 3}, {0, 2}, {-1, 4}}, ""},
		"root above":       {1, [][2]int{{-1, 3}}, "the tree begins at node 1, and it has 1"},
		"root below":       {-1, [][2]int{{-1, 3}}, "the tree begins at node -1, and it has 1"},
		"child above":      {0, [][2]int{{1, 2}, {-1, 1}}, "node 0 has the child 2, and there are 2 nodes"},
		"child below":      {0, [][2]int{{1, -2}, {-1, 1}}, "node 0 has the child -2, and there are 2 nodes"},
		"itself":           {0, [][2]int{{1, 0}, {-1, 1}}, "node 0 is reached twice"},
		"a circle":         {0, [][2]int{{1, 2}, {-1, 1}, {3, 0}, {-1, 2}}, "node 0 is reached twice"},
		"twice":            {0, [][2]int{{1, 1}, {-1, 1}}, "node 1 is reached twice"},
		"shared by two":    {0, [][2]int{{1, 2}, {3, 4}, {3, 4}, {-1, 1}, {-1, 2}}, "is reached twice"},
		"one of all nodes": {2, [][2]int{{-1, 1}, {-1, 2}, {0, 1}, {-1, 7}}, ""},
	} {
		m := &Model{Inputs: []string{"a"}, Features: []Feature{{Input: 0}}, Terms: make([][]Term, 1), Start: []float64{0}}
		b := NewBuilder(m)
		err := b.AddTree(TreeShape{Nodes: len(c.children), Root: c.root,
			Children: func(node int) (left, right int, leaf bool) {
				return c.children[node][0], c.children[node][1], c.children[node][0] == -1
			},
			Leaf: func(node int) (int32, error) { return b.AddLeaf(float64(c.children[node][1])) },
			Test: func(node int, left, right int32) (int32, error) {
				return b.AddThresholdTests(0, []float64{0.5}, []int32{left, right}, 0)
			},
		})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
			continue
		}
		if err != nil {
			continue
		}
		for target, says := range map[int]string{-1: "a tree is of target -1, and there are 1", 1: "a tree is of target 1, and there are 1", 0: ""} {
			if err := b.AddToTargets(target); (err == nil) != (says == "") || err != nil && err.Error() != says {
				t.Errorf("%s: %v, want %q", name, err, says)
			}
		}
		low, high := m.Sums([]float64{0.5})[0], m.Sums([]float64{0.75})[0]
		at := c.children[c.root]
		if at[0] == -1 {
			at = [2]int{c.root, c.root}
		}
		if low != float64(c.children[at[0]][1]) || high != float64(c.children[at[1]][1]) {
			t.Errorf("%s: the sums are %v and %v", name, low, high)
		}
	}
	b := NewBuilder(&Model{Features: []Feature{{Input: 0}}})
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := b.AddLeaf(1, v); err == nil {
			t.Errorf("a leaf of %v is taken", v)
		}
	}
	for feature, fine := range map[int]bool{-1: false, 0: true, 1: false} {
		if _, err := b.AddThresholdTests(feature, []float64{1}, []int32{^0, ^1}, 0); (err == nil) != fine {
			t.Errorf("feature %d: %v", feature, err)
		}
	}
	for _, bounds := range [][]float64{{math.NaN()}, {1, math.NaN(), 3}, {math.NaN(), 2}, {1, 2, math.NaN()}} {
		if _, err := b.AddThresholdTests(0, bounds, []int32{^0, ^1, ^0, ^1}[:len(bounds)+1], 0); err == nil {
			t.Errorf("bounds %v are taken", bounds)
		}
	}
}

// TestAmong: a value is among categories if it is in one without its digits, and NaN
// goes where it is said to.
func TestAmong(t *testing.T) {
	for _, single := range []bool{false, true} {
		for _, categories := range [][]int{{0}, {3}, {0, 1}, {1, 2, 4}, {0, 2, 3, 9}, nil} {
			for _, missingIn := range []bool{false, true} {
				m := &Model{IsFloat32: single, Inputs: []string{"a"}, Features: []Feature{{Input: 0}}, Terms: make([][]Term, 1), Start: []float64{0}}
				b := NewBuilder(m)
				in, err := b.AddLeaf(1)
				if err != nil {
					t.Fatal(err)
				}
				out, err := b.AddLeaf(0)
				if err != nil {
					t.Fatal(err)
				}
				missing := out
				if missingIn {
					missing = in
				}
				root, err := b.AddCategoryTests(0, categories, -0.5, in, out, missing)
				if err != nil {
					t.Fatal(err)
				}
				m.roots = []int32{root}
				if err := b.AddToTargets(0); err != nil {
					t.Fatal(err)
				}
				for v := -2.0; v < 11; v += 0.25 {
					want := 0.0
					if slices.Contains(categories, int(math.Floor(v))) || v > -0.5 && v < 0 && slices.Contains(categories, 0) {
						want = 1
					}
					if got := m.Sums([]float64{v})[0]; got != want {
						t.Errorf("single %t: %v among %v: %v", single, v, categories, got)
					}
				}
				if want := missingIn && len(categories) > 0; (m.Sums([]float64{math.NaN()})[0] == 1) != want {
					t.Errorf("NaN among %v, in %t", categories, missingIn)
				}
			}
		}
	}
}

// TestBindRefuses: what cannot be an input is told, and the least and most that can is
// taken.
func TestBindRefuses(t *testing.T) {
	for _, c := range []struct {
		source Source
		says   string // of 3 ingredients and 4 units
	}{
		{Source{Ingredients: []int32{0, 2}}, ""}, {Source{Ingredients: []int32{3}}, "input a: ingredient 3 is none of 3"}, {Source{Ingredients: []int32{-1}}, "input a: ingredient -1 is none of 3"},
		{Source{Ingredients: []int32{2, 0, 2}}, "input a: ingredient 2 counts twice"}, {Source{Ingredients: []int32{1}, Weights: []int64{maxWeightedSum / 4}}, ""}, {Source{Ingredients: []int32{1}, Weights: []int64{-maxWeightedSum / 4}}, ""},
		{Source{Ingredients: []int32{1}, Weights: []int64{maxWeightedSum/4 + 1}}, "is too large"}, {Source{Ingredients: []int32{1}, Weights: []int64{-maxWeightedSum/4 - 1}}, "is too large"},
		{Source{Ingredients: []int32{1}, Multiplier: math.MaxInt64 / 4}, ""}, {Source{Ingredients: []int32{1}, Multiplier: math.MaxInt64/4 + 1}, "a factor of"}, {Source{Ingredients: []int32{1, 2}, CountsUsed: true, Multiplier: math.MaxInt64 / 2}, ""},
		{Source{Ingredients: []int32{1, 2}, CountsUsed: true, Multiplier: math.MaxInt64/2 + 1}, "a factor of"}, {Source{Constant: true, Value: math.NaN()}, ""}, {Source{}, ""},
	} {
		_, err := Bind(&Model{Inputs: []string{"a"}}, 3, 4, []Source{c.source})
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.source, err, c.says)
		}
	}
}
