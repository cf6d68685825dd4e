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

// A PartFile is a file of draws.
type PartFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// newPartFile describes a file of draws.
func newPartFile(name string, data []byte) PartFile {
	sum := sha256.Sum256(data)
	return PartFile{name, int64(len(data)), hex.EncodeToString(sum[:])}
}

// A partReader reads the draws of a part.
type partReader struct {
	file    *parquet.File
	bounds  partBounds
	resolve func(name string) (int32, error)

	conditions []Condition // of the run
}

// openPart opens a part that should hold draws of the given run and chain. Its errors wrap
// [ErrDamaged].
func openPart(data io.ReaderAt, size int64, m *Manifest, chain int) (r *partReader, err error) {
	r = &partReader{bounds: boundsOf(m), conditions: m.Conditions}
	err = recoverDamaged(func() error {
		if size > r.bounds.bytes {
			return fmt.Errorf("it has %d bytes, more than any part of the run", size)
		}
		if err := checkEnd(data, size); err != nil {
			return err
		}
		if r.file, err = parquet.OpenFile(data, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true)); err != nil {
			return err
		}
		if is, _ := r.file.Lookup(runKey); is != m.Run {
			return errors.New("it is of another run")
		}
		if is, _ := r.file.Lookup(chainKey); is != strconv.Itoa(chain) {
			return fmt.Errorf("it is of chain %q", is)
		}
		if n := r.file.NumRows(); n < 0 || n > r.bounds.rows {
			return fmt.Errorf("it has %d draws", n)
		}
		return nil
	})
	return r, err
}

// recoverDamaged turns errors into [ErrDamaged], and so the panics of the library on some damaged files.
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

// A Draw is one draw of a run.
type Draw struct {
	Chain, Draw int
	LogDensity  float64
	Scores      []float64   // by property, in the manifest's order
	Conditions  []int32     // by condition, the index of its value; the manifest has both
	Parts       []mcmc.Part // by ingredient, which the manifest names
}

// block holds all pages of a row group, as columns.
type block struct {
	numbers     []int64
	density     []float64
	used        []int32
	scores      [][]float64
	conditions  [][]int32
	ingredients []int32
	amounts     []int32
}

// reset empties the block and keeps its memory.
func (b *block) reset(scores, conditions int) {
	b.numbers, b.density, b.used = b.numbers[:0], b.density[:0], b.used[:0]
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

// read visits the draws of the part in data. The first draw must have the given number. Of a draw
// that is not due it reads the lengths only. The memory that a Draw refers to is valid until the
// next one. It returns the number of draws.
func (r *partReader) read(data []byte, b *block, d *Draw, properties []string, first int, due func(draw int) bool, visit func(d *Draw) bool) (draws int, more bool, err error) {
	for k, g := range r.file.RowGroups() {
		if err := recoverDamaged(func() error {
			if err := r.checkColumns(data, g, k, r.bounds); err != nil {
				return err
			}
			return r.load(b, g, properties)
		}); err != nil {
			return draws, false, err
		}
		at := 0
		for k, number := range b.numbers {
			if number != int64(first+draws) {
				return draws, false, fmt.Errorf("%w: draw %d stands where draw %d should", ErrDamaged, number, first+draws)
			}
			n := int(b.used[k])
			if n < 1 || n > len(b.ingredients)-at {
				return draws, false, fmt.Errorf("%w: the lists of draw %d are too short", ErrDamaged, number)
			}
			from := at
			at += n
			draws++
			if !due(int(number)) {
				continue
			}
			d.Draw, d.LogDensity, d.Parts = int(number), b.density[k], d.Parts[:0]
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

// load reads a row group into the block.
func (r *partReader) load(b *block, g parquet.RowGroup, properties []string) error {
	chunks := g.ColumnChunks()
	want := drawSchema(properties, r.conditions).Columns()
	if !slices.EqualFunc(r.file.Schema().Columns(), want, slices.Equal[[]string]) {
		return errors.New("its columns are not those of the run")
	}
	b.reset(len(properties), len(r.conditions))
	var err error
	read := func(k int, page func(parquet.Page)) {
		if err == nil {
			err = eachPage(chunks[k], page)
		}
	}
	read(0, func(p parquet.Page) { v := p.Data(); b.numbers = append(b.numbers, v.Int64()...) })
	read(1, func(p parquet.Page) { v := p.Data(); b.density = append(b.density, v.Double()...) })
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
	indexed(2, &b.used, intOf)
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
				i, err := c.index(0, string(v.ByteArray()))
				missing = cmp.Or(missing, err)
				return i
			})
			continue
		}
		read(at, func(p parquet.Page) {
			v := p.Data()
			for _, number := range v.Double() {
				i, err := c.index(number, "")
				missing = cmp.Or(missing, err)
				b.conditions[k] = append(b.conditions[k], i)
			}
		})
	}
	indexed(last, &b.ingredients, func(v parquet.Value) int32 {
		i, err := r.resolve(string(v.ByteArray()))
		missing = cmp.Or(missing, err)
		return i
	})
	indexed(last+1, &b.amounts, intOf)
	err = cmp.Or(err, missing)
	if err != nil {
		return err
	}
	rows := len(b.numbers)
	equal := len(b.density) == rows && len(b.used) == rows && len(b.ingredients) == len(b.amounts)
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

// eachPage visits the pages of a column.
func eachPage(c parquet.ColumnChunk, visit func(parquet.Page)) (err error) {
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
