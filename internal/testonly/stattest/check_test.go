package stattest

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// handMade returns a matrix of one ingredient's worth of states.
func handMade(pi []float64, p [][]float64) *Matrix {
	m := &Matrix{Enumeration: &Enumeration{Pi: pi, power: 1}}
	for s := range pi {
		m.Enumeration.States = append(m.Enumeration.States, []int{s})
		m.Enumeration.base = append(m.Enumeration.base, math.Log(pi[s]))
		m.Enumeration.score = append(m.Enumeration.score, 0)
		var row []entry
		for to, p := range p[s] {
			if p != 0 {
				row = append(row, entry{to, p})
			}
		}
		m.rows = append(m.rows, row)
	}
	return m
}

// Each check passes what is right and finds what it is there for, and nothing
// that another check is there for.
func TestChecks(t *testing.T) {
	third := []float64{1. / 3, 1. / 3, 1. / 3}
	checks := []struct {
		err error
		run func(*Matrix) error
	}{
		{ErrRows, (*Matrix).CheckRows},
		{ErrSupport, (*Matrix).CheckSupport},
		{ErrInvariant, (*Matrix).CheckInvariant},
		{ErrReversible, (*Matrix).CheckReversible},
		{ErrIrreducible, (*Matrix).CheckIrreducible},
		{ErrPeriodic, (*Matrix).CheckAperiodic},
	}
	for _, c := range []struct {
		name   string
		pi     []float64
		p      [][]float64
		finds  []error
		naming string
	}{
		{"right", []float64{0.2, 0.8}, [][]float64{{0.2, 0.8}, {0.2, 0.8}}, nil, ""},
		{"standing still on one state", []float64{0, 1}, [][]float64{{}, {0, 1}}, nil, ""},
		{"by rounding", []float64{0.2, 0.8}, [][]float64{{0.2, 0.8}, {0.2 + 1e-14, 0.8}}, nil, ""},
		{"a row of 0.9", third, [][]float64{{0.4, 0.3, 0.3}, {0.3, 0.4, 0.3}, {0.3, 0.3, 0.3}}, []error{ErrRows, ErrInvariant}, "[2]"},
		{"into nothing", []float64{0.5, 0.5, 0}, [][]float64{{0.5, 0.5, 0}, {0.5, 0.4, 0.1}, {}},
			[]error{ErrSupport, ErrInvariant, ErrReversible}, "from [1] to [2]"},
		{"another law", []float64{0.2, 0.8}, [][]float64{{0.3, 0.7}, {0.3, 0.7}}, []error{ErrInvariant, ErrReversible}, "[0]"},
		{"round and round", third, [][]float64{{0.5, 0.5, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}}, []error{ErrReversible}, "[0] and [1]"},
		{"in two", third, [][]float64{{1, 0, 0}, {0, 0.5, 0.5}, {0, 0.5, 0.5}}, []error{ErrIrreducible}, "[1] is never reached from [0]"},
		{"one way", []float64{0.5, 0.5}, [][]float64{{0.5, 0.5}, {0, 1}}, []error{ErrInvariant, ErrReversible, ErrIrreducible}, ""},
		{"to and fro", []float64{0.5, 0.5}, [][]float64{{0, 1}, {1, 0}}, []error{ErrPeriodic}, "2 steps"},
		{"two rounds of three", []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}, [][]float64{
			{0, .5, 0, 0, .5, 0}, {0, 0, .5, 0, 0, .5}, {.5, 0, 0, .5, 0, 0},
			{0, .5, 0, 0, .5, 0}, {0, 0, .5, 0, 0, .5}, {.5, 0, 0, .5, 0, 0}}, []error{ErrReversible, ErrPeriodic}, ""},
		{"a rare error in a rare state", []float64{1 - 1e-9, 1e-9}, [][]float64{{1 - 1e-9, 1e-9}, {1 - 1e-9 - 1e-6, 1e-9 + 1e-6}},
			[]error{ErrInvariant, ErrReversible}, "[1]"},
	} {
		m := handMade(c.pi, c.p)
		for _, check := range checks {
			wanted := false
			for _, e := range c.finds {
				wanted = wanted || e == check.err
			}
			err := check.run(m)
			switch {
			case wanted && !errors.Is(err, check.err):
				t.Errorf("%s: got %v, want %v", c.name, err, check.err)
			case !wanted && err != nil:
				t.Errorf("%s: got %v, want no error", c.name, err)
			case wanted && check.err == c.finds[0] && !strings.Contains(err.Error(), c.naming):
				t.Errorf("%s: %q does not name %s", c.name, err, c.naming)
			}
		}
		if err := m.Check(true); len(c.finds) == 0 && err != nil || len(c.finds) > 0 && !errors.Is(err, c.finds[0]) {
			t.Errorf("%s: all checks give %v", c.name, err)
		}
		irreversible := len(c.finds) > 0 && c.finds[0] == ErrReversible && len(c.finds) == 1
		if err := m.Check(false); irreversible && err != nil {
			t.Errorf("%s: claims no detailed balance, and gets %v", c.name, err)
		}
	}
}

func TestCompareAndSquare(t *testing.T) {
	pi := []float64{0.5, 0.5}
	m := handMade(pi, [][]float64{{0.5, 0.5}, {0.25, 0.75}})
	square := handMade(pi, [][]float64{{0.375, 0.625}, {0.3125, 0.6875}})
	if err := m.Square().Compare(square); err != nil {
		t.Error(err)
	}
	if err := m.Compare(m); err != nil {
		t.Error(err)
	}
	err := m.Compare(square)
	if err == nil || !strings.Contains(err.Error(), "from [0] to [0]") {
		t.Errorf("got %v", err)
	}
	if m.Compare(handMade(pi, [][]float64{{0.5, 0.5}, {0, 1}})) == nil {
		t.Error("an entry that is missing in one is not seen")
	}
	if m.At(1, 0) != 0.25 || square.At(0, 1) != 0.625 {
		t.Error("entries are not where they are")
	}
}
