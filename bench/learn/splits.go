package main

import (
	"math/rand/v2"

	"kir/model"
)

const (
	mostHalved = 320 // rows of a book that is halved; of a larger one 50 are learnt from
	halvings   = 3
	fewLearnt  = 50
	fewRepeats = 4
	mostTested = 500
)

// A split is the rows that are learnt from and those that are predicted.
type split struct {
	Train []int `json:"train"`
	Test  []int `json:"test"`
}

// splitsOf halves a small book three times and learns from either half; of a large one
// it learns from 50 rows, four times.
func splitsOf(rows int, seed uint64) (splits []split) {
	random := rand.New(rand.NewPCG(seed, 0x73706c6974))
	if rows <= mostHalved {
		for range halvings {
			p := random.Perm(rows)
			splits = append(splits, split{p[:rows/2], p[rows/2:]}, split{p[rows/2:], p[:rows/2]})
		}
		return splits
	}
	for range fewRepeats {
		p := random.Perm(rows)
		splits = append(splits, split{p[:fewLearnt], p[fewLearnt:min(rows, fewLearnt+mostTested)]})
	}
	return splits
}

// foldsOf deals the rows to folds, anew in each round, and learns from all folds but one.
func foldsOf(rows, folds, rounds int, seed uint64) (splits []split) {
	random := rand.New(rand.NewPCG(seed, 0x666f6c6473))
	for range rounds {
		order := random.Perm(rows)
		for f := range folds {
			var s split
			for k, r := range order {
				if k%folds == f {
					s.Test = append(s.Test, r)
				} else {
					s.Train = append(s.Train, r)
				}
			}
			splits = append(splits, s)
		}
	}
	return splits
}

// some returns n rows of a book, drawn at random, or all if it has no more.
func (k *known) some(n int, seed uint64) *known {
	few := *k
	if n >= len(k.data.Rows) {
		return &few
	}
	random := rand.New(rand.NewPCG(seed, 0x726f7773))
	few.data = part(k.data, random.Perm(len(k.data.Rows))[:n])
	return &few
}

// part returns some of the rows of the data.
func part(d *model.Data, rows []int) *model.Data {
	some := *d
	some.Rows, some.Numbers, some.Classes = nil, nil, nil
	for _, r := range rows {
		some.Rows = append(some.Rows, d.Rows[r])
		if d.Numbers != nil {
			some.Numbers = append(some.Numbers, d.Numbers[r])
		} else {
			some.Classes = append(some.Classes, d.Classes[r])
		}
	}
	return &some
}

// dense returns a row as the amounts of all ingredients.
func dense(row []model.Part, ingredients int) []int32 {
	x := make([]int32, ingredients)
	for _, p := range row {
		x[p.Ingredient] = p.Amount
	}
	return x
}
