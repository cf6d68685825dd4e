package xgboost

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"kir/internal/ensemble"
	"kir/internal/portable"
)

// A linkFunction selects the function that converts a margin to a prediction. A margin is a sum of
// leaf values.
type linkFunction int

const (
	identityLink    linkFunction = iota // the prediction is the margin
	logisticLink                        // 1/(1 + exp(−margin))
	exponentialLink                     // exp(margin)
	hingeLink                           // 1 if the margin is positive, and 0 otherwise
	softmaxLink                         // softmax of the margins of all classes
)

// linkByObjective maps the name of each supported objective to its link function.
var linkByObjective = map[string]linkFunction{
	"reg:squarederror": identityLink, "reg:linear": identityLink, "reg:squaredlogerror": identityLink,
	"reg:pseudohubererror": identityLink, "reg:absoluteerror": identityLink, "reg:quantileerror": identityLink,
	"binary:logitraw": identityLink, "rank:pairwise": identityLink, "rank:ndcg": identityLink, "rank:map": identityLink,
	"reg:logistic": logisticLink, "binary:logistic": logisticLink, "binary:hinge": hingeLink,
	"count:poisson": exponentialLink, "reg:gamma": exponentialLink, "reg:tweedie": exponentialLink,
	"survival:cox": exponentialLink, "survival:aft": exponentialLink,
	"multi:softprob": softmaxLink, "multi:softmax": softmaxLink,
}

// setObjective sets the values from which the model's sums start: the base scores, converted to
// margins. It also sets the outputs, which are computed from the sums. The parameter targets is the
// number of targets.
func setObjective(m *ensemble.Model, objective string, targets int, baseScore string) error {
	link, ok := linkByObjective[objective]
	if !ok {
		return fmt.Errorf("the objective %.60q is not supported", objective)
	}
	texts := strings.Split(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(baseScore), "["), "]"), ",")
	if len(texts) != 1 && len(texts) != targets {
		return fmt.Errorf("there are %d base scores of %d targets", len(texts), targets)
	}
	for k := range targets {
		text := texts[0]
		if len(texts) > 1 {
			text = texts[k]
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 32)
		margin := float32(v)
		switch link {
		case logisticLink:
			margin = -log32(1/margin - 1)
		case exponentialLink:
			margin = log32(margin)
		}
		if err != nil || math.IsNaN(float64(margin)) || math.IsInf(float64(margin), 0) {
			return fmt.Errorf("the base score is %.40q, which %s cannot begin with", text, objective)
		}
		m.Start = append(m.Start, float64(margin))
	}
	margin := func(k int) func([]float64, int) float64 {
		return func(sums []float64, _ int) float64 { return sums[k] }
	}
	if link == softmaxLink {
		classes := make([]string, targets)
		for k := range classes {
			classes[k] = strconv.Itoa(k)
		}
		m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability", Classes: classes, Compute: softmaxProbability})
	}
	for k := range targets {
		suffix := ""
		if targets > 1 {
			suffix = " " + strconv.Itoa(k)
		}
		switch {
		case link == softmaxLink:
		case objective == "binary:logistic":
			m.Outputs = append(m.Outputs, ensemble.Output{Name: "probability" + suffix, Classes: []string{"0", "1"},
				Compute: func(sums []float64, class int) float64 {
					p := sigmoid(float32(sums[k]))
					if class == 0 {
						p = 1 - p
					}
					return float64(p)
				}})
		default:
			m.Outputs = append(m.Outputs, ensemble.Output{Name: "value" + suffix, Compute: func(sums []float64, _ int) float64 {
				v := float32(sums[k])
				switch link {
				case logisticLink:
					v = sigmoid(v)
				case exponentialLink:
					v = exp32(v)
				case hingeLink:
					if v > 0 {
						return 1
					}
					return 0
				}
				return float64(v)
			}})
		}
	}
	for k := range targets {
		name := "margin"
		if targets > 1 {
			name += " " + strconv.Itoa(k)
		}
		m.Outputs = append(m.Outputs, ensemble.Output{Name: name, Compute: margin(k)})
	}
	return nil
}

func exp32(v float32) float32 { return float32(portable.Exp(float64(v))) }
func log32(v float32) float32 { return float32(portable.Log(float64(v))) }

// sigmoid returns the logistic function 1/(1 + exp(−v)), computed as XGBoost does.
func sigmoid(v float32) float32 { return 1 / (1 + exp32(min(-v, 88.7))) }

// softmaxProbability returns the probability of a class: the softmax of the sums of all classes.
func softmaxProbability(sums []float64, class int) float64 {
	most := float32(sums[0])
	for _, v := range sums {
		most = max(most, float32(v))
	}
	all := 0.0
	for _, v := range sums {
		all += float64(exp32(float32(v) - most))
	}
	return float64(exp32(float32(sums[class])-most) / float32(all))
}
