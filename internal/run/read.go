package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"kir/mcmc"
)

// ErrDamaged is returned if a file of a run was changed since it was written.
var ErrDamaged = errors.New("the file is damaged")

// A PartFile describes a file of draws.
type PartFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // SHA-256 of the file in hexadecimal
}

// newPartFile returns the description of a file of draws. The parameter name is its name in the
// store, and data its content.
func newPartFile(name string, data []byte) PartFile {
	sum := sha256.Sum256(data)
	return PartFile{name, int64(len(data)), hex.EncodeToString(sum[:])}
}

// A partReader reads the draws of a part, that is, of a file of draws.
type partReader struct {
	file            *parquet.File
	sizeLimits      partBounds                       // limits on the size of the file
	ingredientIndex func(name string) (int32, error) // returns the index of an ingredient by its name

	conditions []Condition // conditions of the run
}

// openPart opens a file of draws of the given run and chain. It checks that the file belongs to
// them, and that it is not larger than such a file can be. All errors wrap [ErrDamaged].
func openPart(data io.ReaderAt, size int64, m *Manifest, chain int) (r *partReader, err error) {
	r = &partReader{sizeLimits: newPartBounds(m), conditions: m.Conditions}
	err = recoverDamaged(func() error {
		if size > r.sizeLimits.maxFileBytes {
			return fmt.Errorf("it has %d bytes, more than any part of the run", size)
		}
		if err := checkFooter(data, size); err != nil {
			return err
		}
		if r.file, err = parquet.OpenFile(data, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
			return err
		}
		if is, _ := r.file.Lookup(runMetadataKey); is != m.Run {
			return errors.New("it is of another run")
		}
		if is, _ := r.file.Lookup(chainMetadataKey); is != strconv.Itoa(chain) {
			return fmt.Errorf("it is of chain %q", is)
		}
		if n := r.file.NumRows(); n < 0 || n > r.sizeLimits.maxDraws {
			return fmt.Errorf("it has %d draws", n)
		}
		return nil
	})
	return r, err
}

// recoverDamaged calls do and wraps an error of do in [ErrDamaged]. It also turns a panic of do
// into such an error, since the Parquet library panics on some damaged files.
func recoverDamaged(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	if err = do(); err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// A Draw is one draw of a run: a composition that a chain sampled.
type Draw struct {
	Chain      int         // number of the chain, from 0
	Draw       int         // number of the draw in its chain, from 0
	LogDensity float64     // log of the unnormalised target density
	Scores     []float64   // score of each property, in the order of the manifest
	Conditions []int32     // item k is the index of the value of condition k, in the order of the manifest
	Parts      []mcmc.Part // ingredients with their amounts, ascending by ingredient; the manifest names the ingredients
}

// rowGroupData holds the columns of one row group of a file of draws. Row k is the k-th draw of the
// group.
type rowGroupData struct {
	drawNumbers      []int64 // item k is the number of draw k in its chain
	logDensities     []float64
	ingredientCounts []int32     // item k is the number of ingredients of draw k
	scores           [][]float64 // scores[p][k] is the score of property p at draw k
	conditions       [][]int32   // conditions[c][k] is the index of the value of condition c at draw k
	ingredients      []int32     // indices of the ingredients, one draw after the other
	amounts          []int32     // amounts of the ingredients, one draw after the other
}

// reset empties all columns and keeps their memory for reuse. The parameters are the numbers of
// properties and of conditions.
func (b *rowGroupData) reset(scores, conditions int) {
	b.drawNumbers, b.logDensities, b.ingredientCounts = b.drawNumbers[:0], b.logDensities[:0], b.ingredientCounts[:0]
	b.ingredients, b.amounts = b.ingredients[:0], b.amounts[:0]
	if b.scores == nil {
		b.scores = make([][]float64, scores)
		b.conditions = make([][]int32, conditions)
	}
	for k := range b.conditions {
		b.conditions[k] = b.conditions[k][:0]
	}
	for k := range b.scores {
		b.scores[k] = b.scores[k][:0]
	}
}

// visitDraws calls visit for the draws of a file of draws, in order, until visit returns false.
//
// The parameter data is the content of the file. The memory of b and d is reused; the Draw passed
// to visit is d, and is valid until visit returns. The first draw of the file must have the number
// first. Draws for which due returns false are skipped; only their numbers and lengths are checked.
// The result draws is the number of draws read or skipped. The result more is false if visit
// returned false.
func (r *partReader) visitDraws(data []byte, b *rowGroupData, d *Draw, properties []string, first int, due func(draw int) bool, visit func(d *Draw) bool) (draws int, more bool, err error) {
	for k, g := range r.file.RowGroups() {
		if err := recoverDamaged(func() error {
			if err := r.checkColumns(data, g, k, r.sizeLimits); err != nil {
				return err
			}
			return r.loadRowGroup(b, g, properties)
		}); err != nil {
			return draws, false, err
		}
		at := 0
		for k, number := range b.drawNumbers {
			if number != int64(first+draws) {
				return draws, false, fmt.Errorf("%w: draw %d stands where draw %d should", ErrDamaged, number, first+draws)
			}
			n := int(b.ingredientCounts[k])
			if n < 1 || n > len(b.ingredients)-at {
				return draws, false, fmt.Errorf("%w: the lists of draw %d are too short", ErrDamaged, number)
			}
			from := at
			at += n
			draws++
			if !due(int(number)) {
				continue
			}
			d.Draw, d.LogDensity, d.Parts = int(number), b.logDensities[k], d.Parts[:0]
			for s := range b.scores {
				d.Scores[s] = b.scores[s][k]
			}
			d.Conditions = d.Conditions[:0]
			for c := range b.conditions {
				d.Conditions = append(d.Conditions, b.conditions[c][k])
			}
			last := -1
			for at, i := range b.ingredients[from:at] {
				if int(i) <= last {
					return draws, false, fmt.Errorf("%w: the ingredients of draw %d are not in order", ErrDamaged, number)
				}
				last = int(i)
				d.Parts = append(d.Parts, mcmc.Part{Ingredient: last, Amount: int(b.amounts[from+at])})
			}
			if !visit(d) {
				return draws, false, nil
			}
		}
		if at != len(b.ingredients) {
			return draws, false, fmt.Errorf("%w: the lists up to draw %d are too long", ErrDamaged, first+draws-1)
		}
	}
	return draws, true, nil
}

// loadRowGroup reads the columns of a row group into b.
func (r *partReader) loadRowGroup(b *rowGroupData, g parquet.RowGroup, properties []string) error {
	chunks := g.ColumnChunks()
	want := drawSchema(properties, r.conditions).Columns()
	if !slices.EqualFunc(r.file.Schema().Columns(), want, slices.Equal[[]string]) {
		return errors.New("its columns are not those of the run")
	}
	b.reset(len(properties), len(r.conditions))
	var err error
	read := func(k int, page func(parquet.Page)) {
		if err == nil {
			err = visitPages(chunks[k], page)
		}
	}
	read(0, func(p parquet.Page) { v := p.Data(); b.drawNumbers = append(b.drawNumbers, v.Int64()...) })
	read(1, func(p parquet.Page) { v := p.Data(); b.logDensities = append(b.logDensities, v.Double()...) })
	indexed := func(k int, dst *[]int32, of func(parquet.Value) int32) {
		var dictionary []int32
		read(k, func(p parquet.Page) {
			v := p.Data()
			d := p.Dictionary()
			if d == nil {
				*dst = append(*dst, v.Int32()...)
				return
			}
			if dictionary == nil {
				for k := range d.Len() {
					dictionary = append(dictionary, of(d.Index(int32(k))))
				}
			}
			for _, at := range v.Int32() {
				*dst = append(*dst, dictionary[at])
			}
		})
	}
	intOf := func(v parquet.Value) int32 { return v.Int32() }
	indexed(2, &b.ingredientCounts, intOf)
	for k := range properties {
		read(3+k, func(p parquet.Page) { v := p.Data(); b.scores[k] = append(b.scores[k], v.Double()...) })
	}
	last := len(chunks) - 2
	var missing error
	for k := range r.conditions {
		c := &r.conditions[k]
		at := 3 + len(properties) + k
		if c.Numbers == nil {
			indexed(at, &b.conditions[k], func(v parquet.Value) int32 {
				i, err := c.valueIndex(0, string(v.ByteArray()))
				missing = cmp.Or(missing, err)
				return i
			})
			continue
		}
		read(at, func(p parquet.Page) {
			v := p.Data()
			for _, number := range v.Double() {
				i, err := c.valueIndex(number, "")
				missing = cmp.Or(missing, err)
				b.conditions[k] = append(b.conditions[k], i)
			}
		})
	}
	indexed(last, &b.ingredients, func(v parquet.Value) int32 {
		i, err := r.ingredientIndex(string(v.ByteArray()))
		missing = cmp.Or(missing, err)
		return i
	})
	indexed(last+1, &b.amounts, intOf)
	err = cmp.Or(err, missing)
	if err != nil {
		return err
	}
	rows := len(b.drawNumbers)
	equal := len(b.logDensities) == rows && len(b.ingredientCounts) == rows && len(b.ingredients) == len(b.amounts)
	for _, s := range b.scores {
		equal = equal && len(s) == rows
	}
	for _, c := range b.conditions {
		equal = equal && len(c) == rows
	}
	if !equal {
		return errors.New("its columns differ in length")
	}
	return nil
}

// visitPages calls visit for each page of a column.
func visitPages(c parquet.ColumnChunk, visit func(parquet.Page)) (err error) {
	pages := c.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		p, err := pages.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		visit(p)
		parquet.Release(p)
	}
}
