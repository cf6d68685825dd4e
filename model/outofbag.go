package model

import (
	"context"
	"math"

	"kir/internal/portable"
)

// outOfBag predicts every row by the trees that left it out.
func (f *Forest) outOfBag(ctx context.Context, t *table, labels *labelling, bags []bag) (Quality, error) {
	m := newMeter(f, labels)
	// A law has a weight for each label, and there may be as many labels as rows. So the rows are
	// predicted in blocks, which bounds the memory. The workers share a block, whose laws are then
	// counted in the order of the rows.
	laws := make([][]float64, max(1, min(t.rows, 1<<22/labels.distinctLabels())))
	for from := 0; from < t.rows; from += len(laws) {
		rows := min(len(laws), t.rows-from)
		err := inParallel(ctx, f.options.Workers, rows, func() func(int) error {
			x := make([]int32, t.features)
			return func(k int) error {
				t.writeRow(from+k, x)
				laws[k] = f.lawOutOfBag(x, from+k, bags, laws[k])
				t.clear(from+k, x)
				return nil
			}
		})
		if err != nil {
			return Quality{}, err
		}
		for k, law := range laws[:rows] {
			if len(law) > 0 {
				m.add(labels.labelOf[from+k], law)
			}
		}
	}
	return m.quality(), nil
}

// lawOutOfBag returns the law of row r's label by the trees that left it out, or an empty one if
// there are none. x holds the row's features. It reuses law's memory.
func (f *Forest) lawOutOfBag(x []int32, r int, bags []bag, law []float64) []float64 {
	labels := max(len(f.classes), len(f.numbers))
	if cap(law) < labels {
		law = make([]float64, labels)
	}
	law = law[:labels]
	clear(law)
	trees := 0
	for k := range f.trees {
		if !bags[k].leftOut(r) {
			continue
		}
		trees++
		f.trees[k].addShares(f.trees[k].leaf(x), law)
	}
	if trees == 0 {
		return law[:0]
	}
	for c := range law {
		law[c] /= float64(trees)
	}
	return law
}

// A meter measures the quality of a forest, a row at a time.
type meter struct {
	forest *Forest
	prior  []float64 // by label: its share among the rows
	rows   int
	table  reliability

	correct, loss, priorLoss moment // used only if labels are classes
	clip                     float64
	majority, inMajority     int
	confusion                [][]int

	explained explained

	crps, priorCRPS      moment    // used only if labels are numbers
	outside              []float64 // by row: how far the label lies outside its 90 % interval
	mean                 float64
	deciles              []int // the deciles of all labels, as indices in the sorted list
	covered50, covered90 int
}

func newMeter(f *Forest, labels *labelling) *meter {
	m := &meter{forest: f, prior: make([]float64, labels.distinctLabels())}
	for _, l := range labels.labelOf {
		m.prior[l]++
	}
	for l := range m.prior {
		m.prior[l] /= float64(len(labels.labelOf))
		if m.prior[l] > m.prior[m.majority] {
			m.majority = l
		}
	}
	if !f.Numeric() {
		m.clip = 0.5 / float64(len(f.trees))
		m.confusion = make([][]int, len(f.classes))
		for c := range m.confusion {
			m.confusion[c] = make([]int, len(f.classes))
		}
		return m
	}
	for l, share := range m.prior {
		m.mean += float64(share * f.numbers[l])
	}
	for k := 1; k <= 9; k++ {
		m.deciles = append(m.deciles, quantileIndex(m.prior, float64(k)/10))
	}
	return m
}

func (m *meter) add(label int32, law []float64) {
	m.rows++
	if m.forest.Numeric() {
		m.addNumber(int(label), law)
	} else {
		m.addClass(int(label), law)
	}
}

func (m *meter) addClass(class int, law []float64) {
	guess := 0
	squares, priorSquares := 0.0, 0.0
	for c, p := range law {
		e, d := p-indicator(c == class), m.prior[c]-indicator(c == class)
		squares += float64(e * e)
		priorSquares += float64(d * d)
		if p > law[guess] {
			guess = c
		}
		m.table.add(p, c == class)
	}
	m.explained.add(squares, priorSquares)
	m.confusion[class][guess]++
	m.correct.add(indicator(guess == class))
	m.loss.add(-portable.Log(max(law[class], m.clip)))
	m.priorLoss.add(-portable.Log(m.prior[class]))
	if class == m.majority {
		m.inMajority++
	}
}

func (m *meter) addNumber(label int, law []float64) {
	numbers := m.forest.numbers
	y := numbers[label]
	mean := 0.0
	for l, p := range law {
		mean += float64(p * numbers[l])
	}
	m.explained.add(float64((mean-y)*(mean-y)), float64((m.mean-y)*(m.mean-y)))
	m.crps.add(crps(numbers, law, label))
	m.priorCRPS.add(crps(numbers, m.prior, label))
	between := func(low, high float64) bool {
		return quantileIndex(law, low) <= label && label <= quantileIndex(law, high)
	}
	if between(0.25, 0.75) {
		m.covered50++
	}
	if between(0.05, 0.95) {
		m.covered90++
	}
	low, high := numbers[quantileIndex(law, 0.05)], numbers[quantileIndex(law, 0.95)]
	m.outside = append(m.outside, max(low-y, y-high))
	sum, l := 0.0, 0
	for _, decile := range m.deciles {
		for ; l <= decile; l++ {
			sum += law[l]
		}
		m.table.add(sum, label <= decile)
	}
}

func (m *meter) quality() Quality {
	q := Quality{Rows: m.rows}
	switch n := float64(m.rows); {
	case m.rows == 0:
	case m.forest.Numeric():
		q.Numbers = &NumberQuality{
			RMSE:        math.Sqrt(m.explained.sumModelErrors / n),
			PriorRMSE:   math.Sqrt(m.explained.sumPriorErrors / n),
			Widen90:     coverageQuantile(m.outside, 0.9),
			CRPS:        m.crps.mean(),
			CRPSSE:      m.crps.standardError(),
			PriorCRPS:   m.priorCRPS.mean(),
			Coverage50:  float64(m.covered50) / n,
			Coverage90:  float64(m.covered90) / n,
			Reliability: m.table.table(),
		}
		q.Numbers.R2, q.Numbers.R2SE = m.explained.share()
	default:
		q.Classes = &ClassQuality{
			Accuracy:         m.correct.mean(),
			AccuracySE:       m.correct.standardError(),
			Majority:         m.forest.classes[m.majority],
			MajorityAccuracy: float64(m.inMajority) / n,
			LogLoss:          m.loss.mean(),
			LogLossSE:        m.loss.standardError(),
			Clip:             m.clip,
			PriorLogLoss:     m.priorLoss.mean(),
			Confusion:        m.confusion,
			Reliability:      m.table.table(),
		}
		q.Classes.Skill, q.Classes.SkillSE = m.explained.share()
	}
	return q
}
