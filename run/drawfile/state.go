package drawfile

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
)

// ErrState is returned when the saved state of a Writer cannot be used.
var ErrState = errors.New("the saved state of the file of draws is damaged")

// MarshalBinary returns all that the Writer needs to go on later, from the end
// of what it has written so far. It may be called between draws.
func (w *Writer) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&w.state); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Offset returns how many bytes the Writer has written. A Writer restored from
// its present state goes on behind them.
func (w *Writer) Offset() int64 { return w.Size }

// RestoreWriter returns the Writer that [Writer.MarshalBinary] saved. It writes
// to out, which must stand where the first one's output ended, the bytes that
// the first one would have written. The schema must be the same.
func RestoreWriter(out io.Writer, s Schema, data []byte) (*Writer, error) {
	w, err := newWriter(out, s)
	if err != nil {
		return nil, err
	}
	var saved state
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&saved); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrState, err)
	}
	if !saved.fits(&w.state) {
		return nil, ErrState
	}
	saved.Ingredient.numbers, saved.Amount.numbers = w.Ingredient.numbers, w.Amount.numbers
	saved.Ingredient.most, saved.Amount.most = w.Ingredient.most, w.Amount.most
	w.state = saved
	if !w.Ingredient.remember() || !w.Amount.remember() {
		return nil, ErrState
	}
	return w, nil
}

// fits says whether the state is one that a Writer which began as fresh can be
// in, as far as the rest of this package relies on it.
func (s *state) fits(fresh *state) bool {
	scalar := func(c, f *scalarColumn) bool {
		return c.Width == f.Width && 0 <= c.Rows && c.Rows <= s.Rows && c.Recent.within(&c.Stream)
	}
	list := func(c, f *listColumn) bool {
		form := 0 <= c.Pending && c.Pending <= len(c.Image) && (s.Rows == 0 || len(c.Image) == c.Width*len(c.Entries))
		if c.Whole {
			entries := s.Levels.Entries + (c.Rows-s.Levels.Rows)*s.Levels.Length
			form = c.Packed.holds(entries-len(c.Waiting), c.Bits)
		}
		return form && (c.Bits > 0 || !c.Whole) && c.Width == f.Width && c.Bits == f.Bits && c.Plain == f.Plain && c.All == f.All &&
			0 <= c.Rows && c.Rows <= s.Rows && len(c.Entries) == s.Levels.Length
	}
	ok := s.Size >= int64(len(magic)) && s.Written >= int64(s.Rows)+int64(s.GroupRows) &&
		s.GroupRows >= 0 && 0 <= s.Rows && s.Rows <= s.Room && s.Room <= pageRows &&
		s.Levels.Length >= 0 && (s.Rows == 0) == (len(s.Levels.Stream.Out) == 0) &&
		0 <= s.Levels.Rows && s.Levels.Rows <= s.Rows && s.Levels.Entries >= 0 && s.Levels.Recent.within(&s.Levels.Stream) &&
		len(s.Scores) == len(fresh.Scores) &&
		scalar(&s.Density, &fresh.Density) && scalar(&s.Used, &fresh.Used) &&
		list(&s.Ingredient, &fresh.Ingredient) && list(&s.Amount, &fresh.Amount)
	for k := range s.Scores {
		ok = ok && scalar(&s.Scores[k], &fresh.Scores[k])
	}
	for _, g := range s.Groups {
		ok = ok && len(g.Chunks) == 6+len(s.Scores)
	}
	return ok
}

// remember numbers the entries of a restored dictionary, and says whether all
// entries are possible.
func (c *listColumn) remember() bool {
	if (c.Plain || c.All) && len(c.Dictionary) > 0 {
		return false
	}
	for n, entry := range c.Dictionary {
		if entry < 0 || entry > c.most || c.numbers[entry] != 0 {
			return false
		}
		c.numbers[entry] = int32(n + 1)
	}
	for _, entry := range c.Entries {
		if !c.Plain && (entry < 0 || entry > c.most) {
			return false
		}
	}
	return true
}
