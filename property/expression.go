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
	slots     int // length of the vector that the compiled formula reads: the answers, then the let variables
	questions []question
	total     int
	d         *Desirability // desirability of the value; nil if the value itself is the score

	enclosed   *enclosure // enclosure of the whole formula, from which bounds are computed
	enclosures int
}

var _ mcmc.LineProperty = (*Expression)(nil)

// A Lexicon looks up the names in a formula. Its errors list the known names.
type Lexicon interface {
	// Ingredient returns the index of an ingredient.
	Ingredient(name string) (int, error)
	// Group returns the ingredients whose attribute has the given value, at least one.
	Group(attribute, value string) ([]int, error)
	// Numbers returns the finite value of an attribute for each ingredient.
	Numbers(attribute string) ([]float64, error)
}

// A ConditionLexicon is a [Lexicon] that also looks up the names of conditions.
type ConditionLexicon interface {
	Lexicon
	// Condition returns the index of a condition and its values: numbers for a numeric condition, otherwise
	// categories. known lists all categories that a formula may name, also those that no composition can have.
	Condition(name string) (c int, numbers []float64, categories, known []string, err error)
}

// An ExpressionError describes a fault in a formula.
type ExpressionError struct {
	At      int // where the fault is: offset in the formula, in characters from 0
	Message string
	Hint    string // suggestion what to write instead; may be empty
	Err     error  // the error of the [Lexicon] that caused the fault, or nil
}

func (e *ExpressionError) Unwrap() error { return e.Err }

func (e *ExpressionError) Error() string {
	text := fmt.Sprintf("character %d: %s", e.At+1, e.Message)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// A number and a truth are compiled subexpressions. Their argument is the vector of answers to the formula's
// questions, followed by the values of its variables.
type (
	number func(v []float64) float64
	truth  func(v []float64) bool
)

// A question is a quantity of the composition on which a formula depends: a mean of an attribute, the units of some
// ingredients, how many of some ingredients are used, how many of all are used, or the value of a condition.
type question struct {
	kind    askKind
	form    form    // for askMean
	mean    float64 // for askMean, the value of form at which the mean is 1
	single  int     // for askUnits and askCount: the only ingredient asked about, or −1
	members []bool  // for several ingredients: members[i] tells whether ingredient i counts; shorter than all ingredients

	condition int       // for askCondition: index of the condition
	values    []float64 // for askCondition: the answer, by the index of the condition's value
}

type askKind int

const (
	askUnits askKind = iota
	askMean
	askCount
	askUsed
	askCondition
)

// perUnit returns how much sum grows with each unit of ingredient i.
func (q *question) perUnit(i int) int64 {
	switch {
	case q.kind == askMean:
		return q.form.a[i]
	case q.kind == askUnits && q.includes(i):
		return 1
	}
	return 0
}

// perUse returns how much sum grows when ingredient i becomes used, apart from its units.
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

// sum returns the answer at x as a whole number, which number converts.
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

// number converts the whole number that sum returns to the answer.
func (q *question) number(sum int64) float64 {
	switch q.kind {
	case askMean:
		return float64(sum) / q.mean
	case askCondition:
		return q.values[sum]
	}
	return float64(sum)
}

// LogScore returns log y(x). Without a desirability it is NaN for a negative value or NaN, and +Inf for an infinite
// value. With one it is NaN for both NaN and infinite values.
func (e *Expression) LogScore(x *mcmc.Composition) float64 { return e.log(e.Value(x)) }

// log returns log y, given the value of the formula.
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

// Value returns the formula's value at x. The value may be no valid score, such as a negative number.
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
	sums                []int64 // answers at the composition, as the whole numbers that question.sum returns
	splitSums, stepSums []int64 // scratch of Line: the answers at a split, and their increments to the next split
	answers             []float64
	lastInvalid         float64 // the latest value of the formula that was no valid score
}

// Err returns the error for the formula's latest invalid value. Callers ask only after a score was NaN or infinite.
func (s *expressionScorer) Err() error {
	if s.property.d != nil {
		return fmt.Errorf("the expression is %.6g, and it must be finite", s.lastInvalid)
	}
	return fmt.Errorf("the expression is %.6g, and a score is at least 0 and finite", s.lastInvalid)
}

// log returns log y, given the whole numbers from which the answers are computed. It records an invalid value for
// Err.
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

// prepareSplit sets splitSums to the answers at split k of the line of i and j. It sets stepSums to the increments to
// the next split, valid while the set of used ingredients stays the same. It reports whether any answer changes with
// the split apart from that set.
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

// Values adds the score of each value of condition c to p.
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

// ConditionSet updates the answers after condition c has got a new value.
func (s *expressionScorer) ConditionSet(c int) {
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.condition == c {
			s.sums[k] = ask.sum(s.x)
		}
	}
}
