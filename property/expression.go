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
// [NewExpression] compiles the formula. A formula is pure arithmetic on floating-point numbers, without loops
// or lists. Its only strings are names of ingredients, attributes, conditions and their values, which are
// looked up at compilation. It calls only the functions that [NewExpression] lists. Hence a formula has no
// access to anything outside, and its time is proportional to its length.
//
// The quantities of the composition that a formula asks for, such as units("Gin"), are kept as exact sums of
// whole numbers, as in [Blend]. To score all divisions of the joint amount of two ingredients, the formula is
// evaluated for each division. One evaluation suffices if no quantity depends on the division. Three
// evaluations suffice if the quantities depend only on which ingredients are used.
type Expression struct {
	evaluate     numberFunc
	inputCount   int // number of inputs of the compiled formula: the answers to the questions, then the let variables
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
	// Group returns the indices of the ingredients whose attribute has the given value. There is at least one
	// such ingredient.
	Group(attribute, value string) ([]int, error)
	// Numbers returns the values of an attribute; item i is the value for ingredient i. All values are finite.
	Numbers(attribute string) ([]float64, error)
}

// A ConditionResolver is a [NameResolver] that also looks up the names of conditions.
type ConditionResolver interface {
	NameResolver
	// Condition looks up a condition by name. The results are:
	//   - c: the index of the condition.
	//   - numbers: the values of a numeric condition, otherwise nil.
	//   - categories: the values of a categorical condition.
	//   - known: all categories that a formula may name, including categories that no composition can have.
	Condition(name string) (c int, numbers []float64, categories, known []string, err error)
}

// An ExpressionError describes a fault in a formula.
type ExpressionError struct {
	At      int // position of the fault in the formula: number of characters before it
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

// A numberFunc is a compiled subexpression whose value is a number. A truthFunc is a compiled subexpression
// whose value is true or false. The argument v holds the inputs of the formula: the answers to the questions of
// the formula, followed by the values of the let variables.
type (
	numberFunc func(v []float64) float64
	truthFunc  func(v []float64) bool
)

// A question is a quantity of the composition on which a formula depends. Its value is called the answer. The
// quantity is the mean of an attribute, the units of some ingredients, the number of used ingredients among
// some or all, or the value of a condition.
type question struct {
	kind         askKind
	form         linearForm // for askMean: the sum from which the mean is computed
	formPerMean  float64    // for askMean: value of form divided by the mean
	ingredient   int        // for askUnits and askCount: index of the only ingredient asked about, or −1
	groupMembers []bool     // for several ingredients: item i tells whether ingredient i counts; may be shorter than the number of ingredients

	conditionIndex int       // for askCondition: index of the condition
	valueAnswers   []float64 // for askCondition: item v is the answer if the condition has the value with index v
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

// perUse returns how much [question.integerAnswer] increases when ingredient i changes from unused to used. The
// effect of the units of i is not counted; see [question.perUnit].
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

// integerAnswer returns the whole number from which the answer for the composition x follows; see
// [question.answerFromInteger].
func (q *question) integerAnswer(x *mcmc.Composition) (sum int64) {
	switch {
	case q.kind == askUsed:
		return int64(x.UsedCount())
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

// answerFromInteger converts the whole number that [question.integerAnswer] returns to the answer.
func (q *question) answerFromInteger(sum int64) float64 {
	switch q.kind {
	case askMean:
		return float64(sum) / q.formPerMean
	case askCondition:
		return q.valueAnswers[sum]
	}
	return float64(sum)
}

// LogScore returns the natural logarithm of the score of the composition x. With a desirability, it returns NaN
// if the value of the formula is NaN or infinite. Without a desirability, the value is the score. Then LogScore
// returns NaN for a value that is negative or NaN, and +Inf for an infinite value.
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

// IsScore reports whether the value of the formula itself is the score, without a desirability. The value must
// then be at least 0.
func (e *Expression) IsScore() bool { return e.desirability == nil }

// Value returns the value of the formula for the composition x. The value may be invalid as a score, for
// example negative.
func (e *Expression) Value(x *mcmc.Composition) float64 {
	v := make([]float64, e.inputCount)
	for k := range e.questions {
		v[k] = e.questions[k].answerFromInteger(e.questions[k].integerAnswer(x))
	}
	return e.evaluate(v)
}

// Scorer returns a new [mcmc.Scorer] for the composition x, which may change later.
func (e *Expression) Scorer(x *mcmc.Composition) mcmc.Scorer {
	n := len(e.questions)
	return &expressionScorer{property: e, previousAmounts: previousAmounts{x: x}, integerAnswers: make([]int64, n), splitAnswers: make([]int64, n), answerSteps: make([]int64, n), formulaInputs: make([]float64, e.inputCount)}
}

type expressionScorer struct {
	property *Expression
	previousAmounts
	integerAnswers   []int64 // item q is question.integerAnswer of question q for the composition
	splitAnswers     []int64 // scratch of Line: item q is the integer answer to question q at the present division of two ingredients' joint amount
	answerSteps      []int64 // scratch of Line: item q is the increase of splitAnswers[q] to the next division
	formulaInputs    []float64
	lastInvalidValue float64 // latest value of the formula that was invalid as a score, for Err
}

// Err returns the error for the latest invalid value of the formula. It is called only after a score was NaN or
// infinite.
func (s *expressionScorer) Err() error {
	if s.property.desirability != nil {
		return fmt.Errorf("the expression is %.6g, and it must be finite", s.lastInvalidValue)
	}
	return fmt.Errorf("the expression is %.6g, and a score is at least 0 and finite", s.lastInvalidValue)
}

// logScoreFrom returns the log score for the given integer answers to all questions; see
// [question.integerAnswer]. It records an invalid value of the formula for Err.
func (s *expressionScorer) logScoreFrom(integerAnswers []int64) float64 {
	for k := range s.property.questions {
		s.formulaInputs[k] = s.property.questions[k].answerFromInteger(integerAnswers[k])
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

// prepareSplit sets splitAnswers to the integer answers if k units of the joint amount of i and j belong to i.
// It sets answerSteps to the increases of the answers for each further unit that moves from j to i. The
// increases are valid while the set of used ingredients stays the same. prepareSplit reports whether any of the
// increases is not 0.
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
	byI, byJ := s.previousAmounts.updateAndReturnChanges(i, j)
	usedI, usedJ := usedIndicator(s.x.Amount(i))-usedIndicator(int(wasI)), usedIndicator(s.x.Amount(j))-usedIndicator(int(wasJ))
	for q := range s.property.questions {
		ask := &s.property.questions[q]
		s.integerAnswers[q] += int64(byI)*ask.perUnit(i) + int64(byJ)*ask.perUnit(j) + usedI*ask.perUse(i) + usedJ*ask.perUse(j)
	}
}

// Values adds to p the log score of the composition with each value of condition c.
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

// ConditionSet updates the answers of the scorer after the value of condition c has changed.
func (s *expressionScorer) ConditionSet(c int) {
	for k := range s.property.questions {
		if ask := &s.property.questions[k]; ask.kind == askCondition && ask.conditionIndex == c {
			s.integerAnswers[k] = ask.integerAnswer(s.x)
		}
	}
}
