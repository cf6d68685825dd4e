package diagnose

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// The states of Series, Presence and Histogram are written as a letter, a
// version, and their fields: integers as unsigned varints, floats as the eight
// bytes of their bits, lowest first. Equal states have equal bytes. Reading
// checks everything that could make a later call go wrong, but has no checksum:
// that is for the file the state is kept in.
const (
	seriesTag    = 'S'
	presenceTag  = 'P'
	histogramTag = 'H'
	stateVersion = 2
)

// MarshalBinary returns the state, for [Series.UnmarshalBinary].
func (s *Series) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

// AppendBinary appends the state to b. The error is always nil.
func (s *Series) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, seriesTag, stateVersion)
	for _, v := range []int{s.limit, s.n, s.stride, s.done.n, s.inBlock, s.bad + 1, s.batch, s.inBatch, s.run} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	for _, v := range []float64{s.done.mean, s.done.squares, s.shift, s.sum, s.squares, s.least, s.most, s.badValue, s.batchSum, s.value} {
		b = appendFloat(b, v)
	}
	for _, list := range [][]float64{s.kept, s.batches} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, v := range list {
			b = appendFloat(b, v)
		}
	}
	return b, nil
}

// UnmarshalBinary sets the state. It fails with ErrState, and then leaves s as
// it was.
func (s *Series) UnmarshalBinary(data []byte) error {
	r := reader{data: data}
	r.header(seriesTag)
	var t Series
	for _, v := range []*int{&t.limit, &t.n, &t.stride, &t.done.n, &t.inBlock, &t.bad, &t.batch, &t.inBatch, &t.run} {
		*v = r.int()
	}
	t.bad--
	for _, v := range []*float64{&t.done.mean, &t.done.squares, &t.shift, &t.sum, &t.squares, &t.least, &t.most, &t.badValue, &t.batchSum, &t.value} {
		*v = r.float()
	}
	t.kept = r.floats()
	t.batches = r.floats()
	if r.close(t.limit >= leastLimit && t.limit == streamLimit(t.limit) &&
		powerOfTwo(t.stride) && powerOfTwo(t.batch) &&
		len(t.kept) == (t.n+t.stride-1)/t.stride && len(t.kept) <= t.limit &&
		(t.stride == 1 || len(t.kept) >= t.limit/2) &&
		len(t.batches) == t.n/t.batch && len(t.batches) <= maxBatches && t.inBatch == t.n%t.batch &&
		t.done.n == t.n-t.inBlock && t.inBlock == t.n%blockLength && t.run <= min(t.inBlock, t.inBatch) &&
		t.bad < t.n) {
		*s = t
	}
	return r.err
}

// MarshalBinary returns the state, for [Presence.UnmarshalBinary].
func (p *Presence) MarshalBinary() ([]byte, error) { return p.AppendBinary(nil) }

// AppendBinary appends the state to b. The error is always nil.
func (p *Presence) AppendBinary(b []byte) ([]byte, error) {
	// Most numbers take few bytes.
	b = slices.Grow(b, 64+4*len(p.sums)+6*p.count+len(p.present)*3/2)
	b = append(b, presenceTag, stateVersion)
	for _, v := range []int{p.limit, p.draws, len(p.sums), p.batches, p.batch, p.count} {
		b = binary.AppendUvarint(b, uint64(v))
	}
	for i := range p.sums {
		b = binary.AppendUvarint(b, p.sum(i))
	}
	for _, chunk := range p.runs {
		for _, r := range chunk {
			b = binary.AppendUvarint(b, uint64(r.from))
			b = binary.AppendUvarint(b, uint64(r.to-r.from))
			b = binary.AppendUvarint(b, uint64(r.ingredient))
		}
	}
	for _, v := range p.present {
		b = binary.AppendUvarint(b, uint64(v))
	}
	return b, nil
}

// UnmarshalBinary sets the state. It fails with ErrState, and then leaves p as
// it was.
func (p *Presence) UnmarshalBinary(data []byte) error {
	r := reader{data: data}
	r.header(presenceTag)
	q := Presence{}
	q.limit, q.draws = r.int(), r.int()
	items := r.count(1)
	q.batches, q.batch = r.int(), r.int()
	runs := r.int()
	q.exact = q.batch == 0
	r.check(q.draws <= MaxDraws && q.limit >= leastLimit && q.limit == streamLimit(q.limit) &&
		q.batches == batchesFor(items))
	q.sums, q.upper = make([]uint32, items), make(map[int32]uint32)
	for i := range q.sums {
		q.addUnits(int32(i), r.uvarint())
	}
	if q.exact {
		r.check(runs <= maxRuns && 3*runs <= len(r.data) && q.draws <= q.limit)
		last := make([]int, items)
		for range runs {
			if r.err != nil {
				break
			}
			from, length, i := r.int(), r.int(), r.int()
			if !r.check(i < items && from >= last[i] && length > 0 && from+length <= q.draws) {
				break
			}
			last[i] = from + length
			q.keep(run{uint32(from), uint32(last[i]), uint32(i)})
		}
		r.check(q.count == runs)
	} else {
		r.check(runs == 0 && powerOfTwo(q.batch) && q.batch <= longestBatch &&
			q.draws <= q.batches*q.batch && len(r.data) >= items*q.batches)
		if r.err == nil {
			q.present = make([]uint32, items*q.batches)
		}
		for at := range q.present {
			begin := at / items * q.batch
			q.present[at] = uint32(r.upTo(max(0, min(q.batch, q.draws-begin))))
		}
		if r.err == nil {
			q.openBatch()
		}
	}
	if r.close(true) {
		*p = q
	}
	return r.err
}

// MarshalBinary returns the state, for [Histogram.UnmarshalBinary].
func (h *Histogram) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// AppendBinary appends the state to b. The error is always nil.
func (h *Histogram) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, histogramTag, stateVersion)
	b = binary.AppendUvarint(b, uint64(h.value+1))
	b = binary.AppendUvarint(b, uint64(h.since))
	return h.presence.AppendBinary(b)
}

// UnmarshalBinary sets the state. It fails with ErrState, and then leaves h as
// it was.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	r := reader{data: data}
	r.header(histogramTag)
	value, since := r.int()-1, r.int()
	if r.err != nil {
		return r.err
	}
	p := new(Presence)
	if err := p.UnmarshalBinary(r.data); err != nil {
		return err
	}
	if value >= len(p.sums) || value >= 0 != (p.draws > 0) || since > p.draws {
		return fmt.Errorf("%w: the value does not fit the counts", ErrState)
	}
	*h = Histogram{p, value, since}
	return nil
}

func appendFloat(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

func powerOfTwo(n int) bool { return n > 0 && n&(n-1) == 0 }

// reader reads a state. After the first error it returns zeros.
type reader struct {
	data []byte
	err  error
}

// check notes that the state is damaged unless ok, and reports whether it is
// still good.
func (r *reader) check(ok bool) bool {
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%w: %d bytes before its end", ErrState, len(r.data))
	}
	return r.err == nil
}

// close checks that nothing is left over.
func (r *reader) close(ok bool) bool { return r.check(ok && len(r.data) == 0) }

func (r *reader) header(tag byte) {
	if r.check(len(r.data) >= 2 && r.data[0] == tag && r.data[1] == stateVersion) {
		r.data = r.data[2:]
	}
}

func (r *reader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data)
	if !r.check(n > 0) {
		return 0
	}
	r.data = r.data[n:]
	return v
}

// int reads an integer that is not negative and far from overflow.
func (r *reader) int() int { return r.upTo(math.MaxInt >> 7) }

// upTo reads an integer that is not negative and at most limit.
func (r *reader) upTo(limit int) int {
	v := r.uvarint()
	if !r.check(v <= uint64(limit)) {
		return 0
	}
	return int(v)
}

// count reads a number of things that take at least size bytes each.
func (r *reader) count(size int) int {
	n := r.int()
	if !r.check(n <= len(r.data)/size) {
		return 0
	}
	return n
}

func (r *reader) float() float64 {
	if !r.check(len(r.data) >= 8) {
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.data))
	r.data = r.data[8:]
	return v
}

func (r *reader) floats() []float64 {
	x := make([]float64, r.count(8))
	for i := range x {
		x[i] = r.float()
	}
	return x
}
