package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"os"

	"kir/diagnose"
)

// A sealed file is a line that says what it is, a value in the encoding of
// encoding/gob, and the SHA-256 of both.
const (
	checkpointKind = "kir checkpoint 1\n"
	resultKind     = "kir result 1\n"
)

// errDamaged says that a sealed file is not as it was written.
var errDamaged = errors.New("the file is damaged")

// seal returns a sealed file of a value.
func seal(kind string, v any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(kind)
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b.Bytes())
	b.Write(sum[:])
	return b.Bytes(), nil
}

// unseal reads a sealed file into v.
func unseal(path, kind string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	end := len(data) - sha256.Size
	if end < len(kind) || string(data[:len(kind)]) != kind || sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return fmt.Errorf("%s: %w", path, errDamaged)
	}
	if err := gob.NewDecoder(bytes.NewReader(data[len(kind):end])).Decode(v); err != nil {
		return fmt.Errorf("%s: %w: %v", path, errDamaged, err)
	}
	return nil
}

// checkpoint is where a chain can go on: the start of a segment.
type checkpoint struct {
	Run     string // the identity of the run
	Chain   int
	Warm    int // iterations of warm-up done
	Seconds float64
	State   []byte // of the chain, see [kir.Chain.MarshalBinary]
	File    []byte // of the Writer
	Offset  int64  // of the Writer

	Draws                int
	Ingredients, Amounts []int32 // of the current draw, by place
	Series               [][]byte
	Sizes, Presence      []byte
	Best, Fresh          []Best
}

// allSeries returns the recorder's series in the order of a checkpoint.
func (r *recorder) allSeries() []*diagnose.Series {
	all := []*diagnose.Series{r.used, r.density}
	if r.score != nil {
		all = append(all, r.score)
	}
	return append(all, r.scores...)
}

// save puts the recorder, which is at the end of a segment, into a checkpoint.
func (r *recorder) save(c *checkpoint) (err error) {
	c.Draws = r.draws
	c.Ingredients, c.Amounts = r.current.Ingredients, r.current.Amounts
	c.Best, c.Fresh = r.best.best, r.fresh.best
	c.Offset = r.writer.Offset()
	for _, s := range r.allSeries() {
		data, err := s.MarshalBinary()
		if err != nil {
			return err
		}
		c.Series = append(c.Series, data)
	}
	if c.Sizes, err = r.sizes.MarshalBinary(); err != nil {
		return err
	}
	if c.Presence, err = r.presence.MarshalBinary(); err != nil {
		return err
	}
	c.File, err = r.writer.MarshalBinary()
	return err
}

// load takes the recorder, which is new, to where it was saved. Its writer is
// restored by the caller.
func (r *recorder) load(c *checkpoint) error {
	every := r.allSeries()
	if len(c.Series) != len(every) || len(c.Ingredients) != len(c.Amounts) {
		return errDamaged
	}
	for k, s := range every {
		if err := s.UnmarshalBinary(c.Series[k]); err != nil {
			return err
		}
		if s.Len() != c.Draws {
			return errDamaged
		}
	}
	if err := r.sizes.UnmarshalBinary(c.Sizes); err != nil {
		return err
	}
	all := r.presence.Ingredients()
	if err := r.presence.UnmarshalBinary(c.Presence); err != nil {
		return err
	}
	if r.sizes.Draws() != c.Draws || r.presence.Draws() != c.Draws || r.presence.Ingredients() != all {
		return errDamaged
	}
	r.draws = c.Draws
	r.setCurrent(c.Ingredients, c.Amounts)
	seen := make(map[int32]bool)
	for p, i := range c.Ingredients {
		if i < 0 || int(i) >= all || seen[i] || c.Amounts[p] < 1 {
			return errDamaged
		}
		seen[i] = true
	}
	r.since = c.Draws
	r.best.best, r.fresh.best = c.Best, c.Fresh
	return nil
}
