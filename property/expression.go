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
// [NewExpression] compiles the formula. A formula is pure arithmetic on floating-point numbers, without loops or
// lists. Its only strings are names of ingredients, attributes, conditions and their values, which are looked up at
// compilation. It calls only the functions that [NewExpression] lists. Hence a formula has no access to anything
// outside, and its time is proportional to its length.
//
// The quantities of the composition that a formula asks for are kept as exact sums of whole numbers, as in [Blend].
// On a line (see [mcmc.Scorer]) the formula is evaluated at every split. If no such quantity depends on the split,
// one evaluation suffices. If the quantities depend only on which ingredients are used, three evaluations suffice.
type Expression struct {
	evaluate     numberFunc
	slotCount    int // length of the vector that the compiled formula reads: the answers to the questions, then the let variables
	questions    []question
	total        int
	desirability *Desirability // desirability of the value; nil if the value itself is the score

	rootEnclosure  *enclosure // enclosure of the whole formula, from which bounds are computed
	enclosureCount int
}

var _ mcmc.LineProperty = (*Expression)(nil)

// A NameResolver looks up the names in a formula. Its errors list the known names.
type NameResolver interface {
	// Ingredient returns the index of the ingredient with the given name.
	Ingredient(name string) (int, error)
	// Group returns the indices of the ingredients whose attribute has the given value, at least one.
	Group(attribute, value string) ([]int, error)
	// Numbers returns the value of an attribute for each ingredient. All values are finite.
	Numbers(attribute string) ([]float64, error)
}

// A ConditionResolver is a [NameResolver] that also looks up the names of conditions.
type ConditionResolver interface {
	NameResolver
	// Condition returns the index c of a condition and its values: numbers for a numeric condition, otherwise
	// categories. known lists all categories that a formula may name, including categories that no composition can
	// have.
	Condition(name string) (c int, numbers []float64, categories, known []string, err error)
}

// An ExpressionError describes a fault in a formula.
type ExpressionError struct {
	At      int // position of the fault: offset in the formula, in characters from 0
	Message string
	Hint    string // suggestion what to write instead; may be empty
	Err     error  // the error of the [NameResolver] that caused the fault, or nil
}

func (e *ExpressionError) Unwrap() error { return e.Err }

func (e *ExpressionError) Error() string {
	text := fmt.Sprintf("character %d: %s", e.At+1, e.Message)
	if e.Hint != "" {
		text += ": " + e.Hint
	}
	return text
}

// A numberFunc is a compiled subexpression whose value is a number, and a truthFunc one whose value is true or
// false. The argument v holds the answers to the questions of the formula, followed by the values of the let
// variables.
type (
	numberFunc func(v []float64) float64
	truthFunc  func(v []float64) bool
)

// A question asks for a quantity of the composition on which a formula depends; the answer is a number. The
// quantity is the mean of an attribute, the units of some ingredients, the number of used ingredients among some or
// all, or the value of a condition.
type question struct {
	kind         askKind
	form         linearForm // for askMean: the sum from which the mean is computed
	formPerMean  float64    // for askMean: the value of form at which the mean is 1
	ingredient   int        // for askUnits and askCount: index of the only ingredient asked about, or −1
	groupMembers []bool     // for several ingredients: whether ingredient i counts; may be shorter than the number of ingredients

	conditionIndex int       // for askCondition: index of the condition
	valueAnswers   []float64 // for askCondition: the answer, by the index of the condition's value
}

type askKind int

const (
	askUnits askKind = iota
	askMean
	askCount
	askUsed
	askCondition
)

// perUnit returns how much [question.integerAnswer] increases with each unit of ingredient i.
func (q *question) perUnit(i int) int64 {
	switch {
	case q.kind == askMean:
		return q.form.coefficients[i]
	case q.kind == askUnits && q.includesIngredient(i):
		return 1
	}
	return 0
}

// perUse returns how much [question.integerAnswer] increases when ingredient i becomes used, not counting the
// effect of its units.
func (q *question) perUse(i int) int64 {
	if q.kind == askUsed || q.kind == askCount && q.includesIngredient(i) {
		return 1
	}
	return 0
}

func (q *question) includesIngredient(i int) bool {
	if q.groupMembers == nil {
		return i == q.ingredient
	}
	return i < len(q.groupMembers) && q.groupMembers[i]
}

// integerAnswer returns the whole number that encodes the answer at x; see [question.answerFromInteger].
func (q *question) integerAnswer(x *mcmc.Composition) (sum int64) {
	switch {
	case q.kind == askUsed:
		return int64(x.Used())
	case q.kind == askCondition:
		return int64(x.Condition(q.conditionIndex))
	case q.groupMembers == nil && q.kind == askUnits:
		return int64(x.Amount(q.ingredient))
	}
	for _, i := range x.Ingredients() {
		sum += q.perUnit(int(i))*int64(x.Amount(int(i))) + q.perUse(int(i))
	}
	return sum
}

// answerFromInteger returns the answer that the whole number from [question.integerAnswer] encodes.
func (q *question) answerFromInteger(sum int64) float64 {
	switch q.kind {
	case askMean:
		return float64(sum) / q.formPerMean
	case askCondition:
		return q.valueAnswers[sum]
	}
	return float64(sum)
}

// LogScore returns log y(x), the logarithm of the score. If the value of the formula is the score, the result is
// NaN for a value that is negative or NaN, and +Inf for an infinite value. With a desirability, the result is NaN
// for a value that is NaN or infinite.
func (e *Expression) LogScore(x *mcmc.Composition) float64 { return e.logScoreFrom(e.Value(x)) }

// logScoreFrom returns the log score log y, given the value of the formula.
func (e *Expression) logScoreFrom(value float64) float64 {
	switch {
	case e.desirability == nil:
		return portable.Log(value)
	case math.IsNaN(value) || math.IsInf(value, 0):
		return math.NaN()
	}
	return e.desirability.logDesirability(value)
}

// IsScore reports whether the value of the formula itself is the score, so that it must be at least 0.
func (e *Expression) IsScore() bool { return e.desirability == nil }

// Value returns the value of the formula at x. The value may be no valid score, for example if it is negative.
func (e *Expression) Value(x *mcmc.Composition) float64 {
	v := make([]float64, e.slotCount)
	for k := range e.questions {
		v[k] = e.questions[k].answerFromInteger(e.questions[k].integerAnswer(x))
	}
	return e.evaluate(v)
}

// Scorer returns a new scorer that follows the composition x.
func (e *Expression) Scorer(x *mcmc.Composition) mcmc.Scorer {
	n := len(e.questions)
	return &expressionScorer{property: e, previousAmounts: previousAmounts{x: x}, integerAnswers: make([]int64, n), splitAnswers: make([]int64, n), answerSteps: make([]int64, n), formulaInputs: make([]float64, e.slotCount)}
}

type expressionScorer struct {
	property *Expression
	previousAmounts
	integerAnswers            []int64 // by question: the answer at the composition, as question.integerAnswer returns it
	splitAnswers, answerSteps []int64 // scratch of Line, by question: the integer answer at a split, and its increment to the next split
	formulaInputs             []float64
	lastInvalidValue          float64 // latest value of the formula that was no valid score
}

// Err returns the error for the latest invalid value of the formula. It is called only after a score was NaN or
// infinite.
func (s *expressionScorer) Err() error {
	if s.property.desirability != nil {
		return fmt.Errorf("the expression is %.6g, and it must be finite", s.lastInvalidValue)
	}
	return fmt.Errorf("the expression is %.6g, and a score is at least 0 and finite", s.lastInvalidValue)
}

// logScoreFrom returns the log score log y, given the integer answers to all questions. It records an invalid value of the formula for
// Err.
func (s *expressionScorer) logScoreFrom(sums []int64) float64 {
	for k := range s.property.questions {
		s.formulaInputs[k] = s.property.questions[k].answerFromInteger(sums[k])
	}
	y := s.property.evaluate(s.formulaInputs)
	if !(y >= 0 || s.property.desirability != nil) || math.IsInf(y, 0) || math.IsNaN(y) {
		s.lastInvalidValue = y
	}
	return s.property.logScoreFrom(y)
}

func (s *expressionScorer) Reset() {
	s.previousAmounts.reset()
	for k := range s.property.questions {
		s.integerAnswers[k] = s.property.questions[k].integerAnswer(s.x)
	}
}

func (s *expressionScorer) LogScore() float64 { return s.logScoreFrom(s.integerAnswers) }

// prepareSplit sets splitAnswers to the integer answers at split k of the line of i and j. It sets answerSteps to
// the increments of the answers to the next split, which are valid while the set of used ingredients stays the
// same. It reports whether any of these increments is not 0.
func (s *expressionScorer) prepareSplit(i, j, k int) (units bool) {
	a, sum := s.x.Amount(i), s.x.Amount(i)+s.x.Amount(j)
	uses := func(amount, was int) int64 { return usedIndicator(amount) - usedIndicator(was) }
	byI, byJ := uses(k, a), uses(sum-k, sum-a)
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.answerSteps[q] = ask.perUnit(i) - ask.perUnit(j)
		s.splitAnswers[q] = s.integerAnswers[q] + int64(k-a)*s.answerSteps[q] + byI*ask.perUse(i) + byJ*ask.perUse(j)
		units = units || s.answerSteps[q] != 0
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

func (s *expressionScorer) Line(i, j int, p *mcmc.PiecewiseConstant) {
	sum := s.x.Amount(i) + s.x.Amount(j)
	q := pieceJoiner{pieces: p}
	s.prepareSplit(i, j, 0)
	q.add(0, s.logScoreFrom(s.splitAnswers))
	if sum > 1 {
		units := s.prepareSplit(i, j, 1)
		q.add(1, s.logScoreFrom(s.splitAnswers))
		for k := 2; units && k < sum; k++ {
			for a, step := range s.answerSteps {
				s.splitAnswers[a] += step
			}
			q.add(k, s.logScoreFrom(s.splitAnswers))
		}
	}
	if sum > 0 {
		s.prepareSplit(i, j, sum)
		q.add(sum, s.logScoreFrom(s.splitAnswers))
	}
}

func (s *expressionScorer) Moved(i, j int) {
	wasI, wasJ := s.amounts[i], s.amounts[j]
	byI, byJ := s.previousAmounts.takeChanges(i, j)
	usedI, usedJ := usedIndicator(s.x.Amount(i))-usedIndicator(int(wasI)), usedIndicator(s.x.Amount(j))-usedIndicator(int(wasJ))
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.integerAnswers[q] += int64(byI)*ask.perUnit(i) + int64(byJ)*ask.perUnit(j) + usedI*ask.perUse(i) + usedJ*ask.perUse(j)
	}
}

// Values adds the score of each value of condition c to p.
func (s *expressionScorer) Values(c int, p *mcmc.PiecewiseConstant) {
	copy(s.splitAnswers, s.integerAnswers)
	q, values := pieceJoiner{pieces: p}, 1
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.conditionIndex == c {
			values = len(ask.valueAnswers)
		}
	}
	for v := range values {
		for k := range s.property.questions {
			if ask := &s.property.questions[k]; ask.kind == askCondition && ask.conditionIndex == c {
				s.splitAnswers[k] = int64(v)
			}
		}
		q.add(v, s.logScoreFrom(s.splitAnswers))
	}
}

// ConditionSet updates the answers after the value of condition c has changed.
func (s *expressionScorer) ConditionSet(c int) {
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.conditionIndex == c {
			s.integerAnswers[k] = ask.integerAnswer(s.x)
		}
	}
}
