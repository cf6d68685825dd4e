package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// Expression is a formula's value:
//
//	y(x) = the formula at x, which must be at least 0
//
// The formula is read by [NewExpression]. It is pure arithmetic on floating-point
// numbers: it has no strings but the names of ingredients and attributes, which
// are looked up when it is read, no loops, no lists, and calls nothing but the
// functions listed there. So it cannot reach anything outside, and takes time
// in proportion to its length.
//
// What it asks about a composition is kept as exact sums of whole numbers, as in
// [Blend]. Along a line the formula is worked out split by split, but only once
// where the line changes nothing that it asks, and three times where it changes
// no more than which ingredients are used.
type Expression struct {
	value     number
	slots     int // numbers that the formula works on: what it asks, then its variables
	questions []question
	total     int
	d         *Desirability // of the value; nil: the value is the score

	enclosed   *enclosure // the formula as it is bounded
	enclosures int
}

var _ mcmc.LineProperty = (*Expression)(nil)

// A Lexicon knows what a formula may name. Its errors say what there is.
type Lexicon interface {
	// Ingredient returns the index of an ingredient.
	Ingredient(name string) (int, error)
	// Group returns the ingredients of which an attribute has a value, at least
	// one.
	Group(attribute, value string) ([]int, error)
	// Numbers returns a finite attribute for each ingredient.
	Numbers(attribute string) ([]float64, error)
}

// An ExpressionError says what is wrong with a formula.
type ExpressionError struct {
	At      int // where, in characters from 0
	Message string
	Hint    string // what would be right; may be empty
	Err     error  // that of the lexicon, if it is one
}

func (e *ExpressionError) Unwrap() error { return e.Err }

func (e *ExpressionError) Error() string {
	text := fmt.Sprintf("character %d: %s", e.At+1, e.Message)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// number and truth are what formulas are compiled to: they read what the formula
// asked, and its variables.
type (
	number func(v []float64) float64
	truth  func(v []float64) bool
)

// question is something that a formula asks of a composition: a sum over the
// ingredients, of a form, of the units of some, or of how many of some are used;
// or how many are used at all.
type question struct {
	kind    askKind
	form    form    // of askMean
	mean    float64 // of askMean, what the form makes of a mean of 1
	single  int     // the one ingredient of askUnits and askCount, or −1
	members []bool  // else whether an ingredient is one of them, as far as it goes
}

type askKind int

const (
	askUnits askKind = iota
	askMean
	askCount
	askUsed
)

// perUnit returns what a unit of an ingredient adds.
func (q *question) perUnit(i int) int64 {
	switch {
	case q.kind == askMean:
		return q.form.a[i]
	case q.kind == askUnits && q.includes(i):
		return 1
	}
	return 0
}

// perUse returns what an ingredient adds by being used.
func (q *question) perUse(i int) int64 {
	if q.kind == askUsed || q.kind == askCount && q.includes(i) {
		return 1
	}
	return 0
}

func (q *question) includes(i int) bool {
	if q.members == nil {
		return i == q.single
	}
	return i < len(q.members) && q.members[i]
}

// sum returns the answer at x as a whole number.
func (q *question) sum(x *mcmc.Composition) (sum int64) {
	switch {
	case q.kind == askUsed:
		return int64(x.Used())
	case q.members == nil && q.kind == askUnits:
		return int64(x.Amount(q.single))
	}
	for _, i := range x.Ingredients() {
		sum += q.perUnit(int(i))*int64(x.Amount(int(i))) + q.perUse(int(i))
	}
	return sum
}

// number turns a whole number into the answer.
func (q *question) number(sum int64) float64 {
	if q.kind == askMean {
		return float64(sum) / q.mean
	}
	return float64(sum)
}

// LogScore returns log y(x): NaN where the formula is negative or not a number,
// +Inf where it is infinite.
func (e *Expression) LogScore(x *mcmc.Composition) float64 { return e.log(e.Value(x)) }

// log returns log y of the formula's value.
func (e *Expression) log(value float64) float64 {
	switch {
	case e.d == nil:
		return portable.Log(value)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.NaN()
	}
	return e.d.log(value)
}

// IsScore says whether the value is the score, which then is at least 0.
func (e *Expression) IsScore() bool { return e.d == nil }

// Value returns the formula at x, which may be no score.
func (e *Expression) Value(x *mcmc.Composition) float64 {
	v := make([]float64, e.slots)
	for k := range e.questions {
		v[k] = e.questions[k].number(e.questions[k].sum(x))
	}
	return e.value(v)
}

// Scorer returns a scorer of x.
func (e *Expression) Scorer(x *mcmc.Composition) mcmc.Scorer {
	n := len(e.questions)
	return &expressionScorer{property: e, previousAmounts: previousAmounts{x: x}, sums: make([]int64, n), at: make([]int64, n), step: make([]int64, n), v: make([]float64, e.slots)}
}

type expressionScorer struct {
	property *Expression
	previousAmounts
	sums     []int64 // the answers at x
	at, step []int64 // scratch: at a split, and what the next one adds
	v        []float64
	bad      float64 // the last value that was no score
}

// Err says what the formula's last value was that is no score.
func (s *expressionScorer) Err() error {
	if s.property.d != nil {
		return fmt.Errorf("the expression is %.6g, and it must be finite", s.bad)
	}
	return fmt.Errorf("the expression is %.6g, and a score is at least 0 and finite", s.bad)
}

// log returns log y from the answers.
func (s *expressionScorer) log(sums []int64) float64 {
	for k := range s.property.questions {
		s.v[k] = s.property.questions[k].number(sums[k])
	}
	y := s.property.value(s.v)
	if !(y >= 0 || s.property.d != nil) || math.IsInf(y, 0) || math.IsNaN(y) {
		s.bad = y
	}
	return s.property.log(y)
}

func (s *expressionScorer) Reset() {
	s.previousAmounts.reset()
	for k := range s.property.questions {
		s.sums[k] = s.property.questions[k].sum(s.x)
	}
}

func (s *expressionScorer) LogScore() float64 { return s.log(s.sums) }

// prepareSplit sets at to the answers at split k of (i, j), and step to what the next
// split adds as long as the used ingredients stay the same. It returns whether
// any answer depends on the units.
func (s *expressionScorer) prepareSplit(i, j, k int) (units bool) {
	a, sum := s.x.Amount(i), s.x.Amount(i)+s.x.Amount(j)
	uses := func(amount, was int) int64 { return usedIndicator(amount) - usedIndicator(was) }
	byI, byJ := uses(k, a), uses(sum-k, sum-a)
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.step[q] = ask.perUnit(i) - ask.perUnit(j)
		s.at[q] = s.sums[q] + int64(k-a)*s.step[q] + byI*ask.perUse(i) + byJ*ask.perUse(j)
		units = units || s.step[q] != 0
	}
	return units
}

// usedIndicator returns 1 for an amount of an ingredient that is used.
func usedIndicator(amount int) int64 {
	if amount > 0 {
		return 1
	}
	return 0
}

func (s *expressionScorer) Line(i, j int, p *mcmc.Pieces) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	q := joiner{pieces: p}
	s.prepareSplit(i, j, 0)
	q.add(0, s.log(s.at))
	if sum > 1 {
		units := s.prepareSplit(i, j, 1)
		q.add(1, s.log(s.at))
		for k := 2; units && k < sum; k++ {
			for a, step := range s.step {
				s.at[a] += step
			}
			q.add(k, s.log(s.at))
		}
	}
	if sum > 0 {
		s.prepareSplit(i, j, sum)
		q.add(sum, s.log(s.at))
	}
}

func (s *expressionScorer) Moved(i, j int) {
	wasI, wasJ := s.amounts[i], s.amounts[j]
	byI, byJ := s.previousAmounts.changes(i, j)
	usedI, usedJ := usedIndicator(s.x.Amount(i))-usedIndicator(int(wasI)), usedIndicator(s.x.Amount(j))-usedIndicator(int(wasJ))
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.sums[q] += int64(byI)*ask.perUnit(i) + int64(byJ)*ask.perUnit(j) + usedI*ask.perUse(i) + usedJ*ask.perUse(j)
	}
}
