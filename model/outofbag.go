package model

import (
	"context"
	"math"

	"kir/internal/portable"
)

// measureOutOfBag predicts every row by the trees that have not seen the row, and returns the
// quality of the predictions. The element leftOut[k] holds the rows that tree k has not seen.
func (f *Forest) measureOutOfBag(ctx context.Context, t *featureTable, labels *labelling, leftOut []leftOutRows) (Quality, error) {
	m := newForestMeter(f, labels)
	// A law has a weight for each label, and there may be as many labels as rows. So the rows are
	// predicted in blocks, which bounds the memory. The workers share a block, whose laws are then
	// counted in the order of the rows.
	laws := make([][]float64, max(1, min(t.rowCount, 1<<22/labels.labelCount())))
	for from := 0; from < t.rowCount; from += len(laws) {
		rows := min(len(laws), t.rowCount-from)
		err := inParallel(ctx, f.options.Workers, rows, func() func(int) error {
			x := make([]int32, t.featureCount)
			return func(k int) error {
				t.writeRow(from+k, x)
				laws[k] = f.outOfBagWeights(x, from+k, leftOut, laws[k])
				t.clearRow(from+k, x)
				return nil
			}
		})
		if err != nil {
			return Quality{}, err
		}
		for k, law := range laws[:rows] {
			if len(law) > 0 {
				m.addRow(labels.labelIndices[from+k], law)
			}
		}
	}
	return m.quality(), nil
}

// outOfBagWeights returns the predicted weight of each label for row r, by the trees that have not
// seen the row. If there is no such tree, the result is empty. The parameter x holds the features
// of the row. The element leftOut[k] holds the rows that tree k has not seen. The result reuses the
// memory of law.
func (f *Forest) outOfBagWeights(x []int32, r int, leftOut []leftOutRows, law []float64) []float64 {
	labels := max(len(f.classes), len(f.numbers))
	if cap(law) < labels {
		law = make([]float64, labels)
	}
	law = law[:labels]
	clear(law)
	trees := 0
	for k := range f.trees {
		if !leftOut[k].contains(r) {
			continue
		}
		trees++
		f.trees[k].addShares(f.trees[k].leafNumber(x), law)
	}
	if trees == 0 {
		return law[:0]
	}
	for c := range law {
		law[c] /= float64(trees)
	}
	return law
}

// A forestMeter measures the quality of the predictions of a forest. Rows are added one by one. The
// prior is a constant prediction: the shares of the labels among all rows.
type forestMeter struct {
	forest      *Forest
	priorShares []float64            // share of each label among all rows
	rows        int                  // number of rows added
	reliability reliabilityCollector // compares predicted probabilities with observed frequencies

	accuracy meanAccumulator // share of rows whose most probable class is right; only for classes
	// loss is the mean of −log p, where p is the predicted probability of the row's class. It is
	// only for classes.
	loss meanAccumulator
	// priorLoss is the mean of −log p if p is the share of the row's class among all rows. It is
	// only for classes.
	priorLoss      meanAccumulator
	minProbability float64 // a lower probability counts as minProbability in the log loss
	majorityClass  int     // index of the most frequent class
	majorityRows   int     // number of added rows with the most frequent class
	confusion      [][]int // confusion[c][p] is the number of rows of class c whose most probable class is p

	explainedVariance explainedVariance // squared errors of the predictions, and of always predicting the mean or the class shares

	crps             meanAccumulator // CRPS (see [Distribution.CRPS]) of the predictions; only for numbers
	priorCRPS        meanAccumulator // CRPS of the distribution of the labels of all rows; only for numbers
	outsideDistances []float64       // how far each row's label lies outside its predicted 90 % interval; negative inside
	priorMean        float64         // mean of the labels of all rows
	decileIndices    []int           // indices of the nine deciles of the labels in the sorted list of distinct labels
	covered50Rows    int             // number of rows whose label lies in its predicted 50 % interval
	covered90Rows    int             // number of rows whose label lies in its predicted 90 % interval
}

// newForestMeter returns a meter of the predictions of forest f. The parameter labels holds the
// labels of all rows.
func newForestMeter(f *Forest, labels *labelling) *forestMeter {
	m := &forestMeter{forest: f, priorShares: make([]float64, labels.labelCount())}
	for _, l := range labels.labelIndices {
		m.priorShares[l]++
	}
	for l := range m.priorShares {
		m.priorShares[l] /= float64(len(labels.labelIndices))
		if m.priorShares[l] > m.priorShares[m.majorityClass] {
			m.majorityClass = l
		}
	}
	if !f.Numeric() {
		m.minProbability = 0.5 / float64(len(f.trees))
		m.confusion = make([][]int, len(f.classes))
		for c := range m.confusion {
			m.confusion[c] = make([]int, len(f.classes))
		}
		return m
	}
	for l, share := range m.priorShares {
		m.priorMean += float64(share * f.numbers[l])
	}
	for k := 1; k <= 9; k++ {
		m.decileIndices = append(m.decileIndices, quantileIndex(m.priorShares, float64(k)/10))
	}
	return m
}

// addRow adds a row. The parameter label is the index of its label, and law holds the predicted
// weight of each label.
func (m *forestMeter) addRow(label int32, law []float64) {
	m.rows++
	if m.forest.Numeric() {
		m.addNumber(int(label), law)
	} else {
		m.addClass(int(label), law)
	}
}

func (m *forestMeter) addClass(class int, law []float64) {
	guess := 0
	squares, priorSquares := 0.0, 0.0
	for c, p := range law {
		e, d := p-indicator(c == class), m.priorShares[c]-indicator(c == class)
		squares += float64(e * e)
		priorSquares += float64(d * d)
		if p > law[guess] {
			guess = c
		}
		m.reliability.addEvent(p, c == class)
	}
	m.explainedVariance.addRow(squares, priorSquares)
	m.confusion[class][guess]++
	m.accuracy.add(indicator(guess == class))
	m.loss.add(-portable.Log(max(law[class], m.minProbability)))
	m.priorLoss.add(-portable.Log(m.priorShares[class]))
	if class == m.majorityClass {
		m.majorityRows++
	}
}

func (m *forestMeter) addNumber(label int, law []float64) {
	numbers := m.forest.numbers
	y := numbers[label]
	mean := 0.0
	for l, p := range law {
		mean += float64(p * numbers[l])
	}
	m.explainedVariance.addRow(float64((mean-y)*(mean-y)), float64((m.priorMean-y)*(m.priorMean-y)))
	m.crps.add(crps(numbers, law, label))
	m.priorCRPS.add(crps(numbers, m.priorShares, label))
	between := func(low, high float64) bool {
		return quantileIndex(law, low) <= label && label <= quantileIndex(law, high)
	}
	if between(0.25, 0.75) {
		m.covered50Rows++
	}
	if between(0.05, 0.95) {
		m.covered90Rows++
	}
	low, high := numbers[quantileIndex(law, 0.05)], numbers[quantileIndex(law, 0.95)]
	m.outsideDistances = append(m.outsideDistances, max(low-y, y-high))
	sum, l := 0.0, 0
	for _, decile := range m.decileIndices {
		for ; l <= decile; l++ {
			sum += law[l]
		}
		m.reliability.addEvent(sum, label <= decile)
	}
}

// quality returns the quality of the predictions of all added rows.
func (m *forestMeter) quality() Quality {
	q := Quality{Rows: m.rows}
	switch n := float64(m.rows); {
	case m.rows == 0:
	case m.forest.Numeric():
		q.Numbers = &NumberQuality{
			RMSE:        math.Sqrt(m.explainedVariance.sumModelErrors / n),
			PriorRMSE:   math.Sqrt(m.explainedVariance.sumPriorErrors / n),
			Widen90:     coverageQuantile(m.outsideDistances, 0.9),
			CRPS:        m.crps.mean(),
			CRPSSE:      m.crps.standardError(),
			PriorCRPS:   m.priorCRPS.mean(),
			Coverage50:  float64(m.covered50Rows) / n,
			Coverage90:  float64(m.covered90Rows) / n,
			Reliability: m.reliability.table(),
		}
		q.Numbers.R2, q.Numbers.R2SE = m.explainedVariance.explainedShare()
	default:
		q.Classes = &ClassQuality{
			Accuracy:         m.accuracy.mean(),
			AccuracySE:       m.accuracy.standardError(),
			Majority:         m.forest.classes[m.majorityClass],
			MajorityAccuracy: float64(m.majorityRows) / n,
			LogLoss:          m.loss.mean(),
			LogLossSE:        m.loss.standardError(),
			Clip:             m.minProbability,
			PriorLogLoss:     m.priorLoss.mean(),
			Confusion:        m.confusion,
			Reliability:      m.reliability.table(),
		}
		q.Classes.Skill, q.Classes.SkillSE = m.explainedVariance.explainedShare()
	}
	return q
}
