package property

import (
	"fmt"
	"math"

	"kir/internal/portable"
	"kir/mcmc"
)

// Expression scores a composition by the value of a formula:
//
//	y(x) = the formula at x, which must be at least 0
//
// [NewExpression] compiles the formula. The formula is pure arithmetic on floating-point numbers,
// without loops or lists. Its only strings are names of ingredients and attributes, which are
// looked up at compilation. It calls only the functions listed there. So it cannot reach anything
// outside, and its time is proportional to its length.
//
// The formula's questions about a composition are kept as exact sums of whole numbers, as in
// [Blend]. Along a line the formula is evaluated split by split. It is evaluated only once if the
// line changes no answer, and three times if it changes only which ingredients are used.
type Expression struct {
	value     number
	slots     int // numbers that the formula reads: its questions, then its variables
	questions []question
	total     int
	d         *Desirability // desirability of the value; nil: the value is the score

	enclosed   *enclosure // the formula's enclosure, for bounds
	enclosures int
}

var _ mcmc.LineProperty = (*Expression)(nil)

// A Lexicon resolves the names in a formula. Its errors list the known names.
type Lexicon interface {
	// Ingredient returns the index of an ingredient.
	Ingredient(name string) (int, error)
	// Group returns the ingredients that have a value of an attribute, at least one.
	Group(attribute, value string) ([]int, error)
	// Numbers returns a finite value of an attribute for each ingredient.
	Numbers(attribute string) ([]float64, error)
}

// A ConditionLexicon is a [Lexicon] that also resolves the names of conditions.
type ConditionLexicon interface {
	Lexicon
	// Condition returns the index of a condition, and its values by index: numbers, or else categories.
	Condition(name string) (c int, numbers []float64, categories []string, err error)
}

// An ExpressionError describes a fault in a formula.
type ExpressionError struct {
	At      int // position, in characters from 0
	Message string
	Hint    string // what to write instead; may be empty
	Err     error  // the lexicon's error, if it caused this one
}

func (e *ExpressionError) Unwrap() error { return e.Err }

func (e *ExpressionError) Error() string {
	text := fmt.Sprintf("character %d: %s", e.At+1, e.Message)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// A number and a truth are compiled parts of a formula. They read the formula's answers and
// variables.
type (
	number func(v []float64) float64
	truth  func(v []float64) bool
)

// A question is a quantity of the composition that a formula reads: the value of a form, the units
// of some ingredients, how many of some are used, how many are used at all, or the value of a condition.
type question struct {
	kind    askKind
	form    form    // for askMean
	mean    float64 // for askMean, the form's value where the mean is 1
	single  int     // for askUnits and askCount, the only ingredient, or −1
	members []bool  // otherwise whether an ingredient counts, for those below len(members)

	condition int       // for askCondition
	values    []float64 // for askCondition, the answer by the index of the condition's value
}

type askKind int

const (
	askUnits askKind = iota
	askMean
	askCount
	askUsed
	askCondition
)

// perUnit returns the increment of a unit of an ingredient.
func (q *question) perUnit(i int) int64 {
	switch {
	case q.kind == askMean:
		return q.form.a[i]
	case q.kind == askUnits && q.includes(i):
		return 1
	}
	return 0
}

// perUse returns the increment of using an ingredient.
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
	case q.kind == askCondition:
		return int64(x.Condition(q.condition))
	case q.members == nil && q.kind == askUnits:
		return int64(x.Amount(q.single))
	}
	for _, i := range x.Ingredients() {
		sum += q.perUnit(int(i))*int64(x.Amount(int(i))) + q.perUse(int(i))
	}
	return sum
}

// number converts a whole number to the answer.
func (q *question) number(sum int64) float64 {
	switch q.kind {
	case askMean:
		return float64(sum) / q.mean
	case askCondition:
		return q.values[sum]
	}
	return float64(sum)
}

// LogScore returns log y(x). It is NaN if the formula is negative or not a number, and +Inf if it
// is infinite.
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

// IsScore reports whether the value itself is the score, which must be at least 0.
func (e *Expression) IsScore() bool { return e.d == nil }

// Value returns the formula at x, which may not be a valid score.
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
	return &expressionScorer{property: e, previousAmounts: previousAmounts{x: x}, sums: make([]int64, n), splitSums: make([]int64, n), stepSums: make([]int64, n), answers: make([]float64, e.slots)}
}

type expressionScorer struct {
	property *Expression
	previousAmounts
	sums                []int64 // the answers at x
	splitSums, stepSums []int64 // scratch: the answers at a split, and the increment to the next split
	answers             []float64
	lastInvalid         float64 // the last value that was not a valid score
}

// Err returns an error that states the formula's last invalid value, if there was one.
func (s *expressionScorer) Err() error {
	if s.property.d != nil {
		return fmt.Errorf("the expression is %.6g, and it must be finite", s.lastInvalid)
	}
	return fmt.Errorf("the expression is %.6g, and a score is at least 0 and finite", s.lastInvalid)
}

// log returns log y from the answers.
func (s *expressionScorer) log(sums []int64) float64 {
	for k := range s.property.questions {
		s.answers[k] = s.property.questions[k].number(sums[k])
	}
	y := s.property.value(s.answers)
	if !(y >= 0 || s.property.d != nil) || math.IsInf(y, 0) || math.IsNaN(y) {
		s.lastInvalid = y
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

// prepareSplit sets at to the answers at split k of (i, j). It sets step to the increment to the
// next split, which is valid as long as the used ingredients stay the same. It reports whether any
// answer depends on the units.
func (s *expressionScorer) prepareSplit(i, j, k int) (units bool) {
	a, sum := s.x.Amount(i), s.x.Amount(i)+s.x.Amount(j)
	uses := func(amount, was int) int64 { return usedIndicator(amount) - usedIndicator(was) }
	byI, byJ := uses(k, a), uses(sum-k, sum-a)
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.stepSums[q] = ask.perUnit(i) - ask.perUnit(j)
		s.splitSums[q] = s.sums[q] + int64(k-a)*s.stepSums[q] + byI*ask.perUse(i) + byJ*ask.perUse(j)
		units = units || s.stepSums[q] != 0
	}
	return units
}

// usedIndicator returns 1 for an amount above 0, and 0 otherwise.
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
	q.add(0, s.log(s.splitSums))
	if sum > 1 {
		units := s.prepareSplit(i, j, 1)
		q.add(1, s.log(s.splitSums))
		for k := 2; units && k < sum; k++ {
			for a, step := range s.stepSums {
				s.splitSums[a] += step
			}
			q.add(k, s.log(s.splitSums))
		}
	}
	if sum > 0 {
		s.prepareSplit(i, j, sum)
		q.add(sum, s.log(s.splitSums))
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

// Values adds the scores of the values of condition c.
func (s *expressionScorer) Values(c int, p *mcmc.Pieces) {
	copy(s.splitSums, s.sums)
	q, values := joiner{pieces: p}, 1
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.condition == c {
			values = len(ask.values)
		}
	}
	for v := range values {
		for k := range s.property.questions {
			if ask := &s.property.questions[k]; ask.kind == askCondition && ask.condition == c {
				s.splitSums[k] = int64(v)
			}
		}
		q.add(v, s.log(s.splitSums))
	}
}

// ConditionSet takes over a new value of condition c.
func (s *expressionScorer) ConditionSet(c int) {
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.condition == c {
			s.sums[k] = ask.sum(s.x)
		}
	}
}
