package model

// Quality measures how well a model predicts rows that it has not seen. A forest predicts each row
// by the trees whose bootstrap sample left it out ("out of bag").
type Quality struct {
	// Rows is the number of rows that some tree left out; the others do not count.
	Rows int `json:"rows"`
	// Classes is set for classes and Numbers for numbers, if Rows is positive.
	Classes *ClassQuality  `json:"classes,omitempty"`
	Numbers *NumberQuality `json:"numbers,omitempty"`
}

// ClassQuality is the quality of a forest that predicts classes. Standard errors treat the rows as
// independent.
type ClassQuality struct {
	// Accuracy is the share of rows whose most probable class is their own; of several equally
	// probable classes the first counts.
	Accuracy   float64 `json:"accuracy"`
	AccuracySE float64 `json:"accuracy_se"`
	// Majority is the most frequent class, and MajorityAccuracy the accuracy of always predicting
	// it.
	Majority         string  `json:"majority"`
	MajorityAccuracy float64 `json:"majority_accuracy"`
	// LogLoss is the mean of −log p, where p is the predicted probability of the row's class. A p
	// below Clip counts as Clip. Clip is half a vote, 1/(2·trees): no finite forest can distinguish
	// a smaller probability from zero.
	LogLoss   float64 `json:"log_loss"`
	LogLossSE float64 `json:"log_loss_se"`
	Clip      float64 `json:"clip"`
	// PriorLogLoss is the log loss of always predicting the classes' shares.
	PriorLogLoss float64 `json:"prior_log_loss"`
	// Skill is the share of the variance of the classes' indicators that the probabilities explain,
	// 1 − BS/BS₀ (Brier's score skill, Murphy 1988). BS is the mean of Σ_c (p_c − 1{class = c})²,
	// and BS₀ that of the classes' shares. Skill corresponds to R² of numbers. SkillSE is its
	// standard error, as R2SE is that of R2.
	Skill   float64 `json:"skill"`
	SkillSE float64 `json:"skill_se"`
	// Confusion counts rows by class (first index) and most probable class
	// (second), in the order of the classes.
	Confusion [][]int `json:"confusion"`
	// Reliability compares probabilities with frequencies, over all classes.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the forest is no better than guessing: its accuracy
// is not above that of the majority class, or its log loss is not below that of
// the classes' shares.
func (q *ClassQuality) Guessing() bool {
	return q.Accuracy <= q.MajorityAccuracy || q.LogLoss >= q.PriorLogLoss
}

// NumberQuality is the quality of a model that predicts numbers. Its "prior" is the law of the
// labels of all rows, whatever the composition.
type NumberQuality struct {
	// RMSE is the root of the mean squared error of the predicted mean,
	// PriorRMSE that of the mean of all labels, and R2 is 1 − RMSE²/PriorRMSE².
	RMSE      float64 `json:"rmse"`
	PriorRMSE float64 `json:"prior_rmse"`
	R2        float64 `json:"r2"`
	// R2SE is the standard error of R2 over the rows, to first order (the delta method). It does
	// not include how the model would differ if learnt from another dataset.
	R2SE float64 `json:"r2_se"`
	// CRPS is the mean over the rows of the continuous ranked probability score
	// ∫ (F(z) − 1{z ≥ y})² dz of the predicted distribution F at the label y, in
	// the label's unit (Gneiting and Raftery 2007, equation 20); lower is better.
	CRPS      float64 `json:"crps"`
	CRPSSE    float64 `json:"crps_se"`
	PriorCRPS float64 `json:"prior_crps"`
	// Coverage50 and Coverage90 are the shares of rows whose label lies between the 25 % and 75 %
	// quantiles, and between the 5 % and 95 % quantiles, ends included.
	Coverage50 float64 `json:"coverage_50"`
	Coverage90 float64 `json:"coverage_90"`
	// Widen90 is by how much, in the label's unit, the 5 % and 95 % quantiles must be moved apart
	// to contain 90 % of the held-out labels. It may be negative. See [Forest.Predict].
	Widen90 float64 `json:"widen_90"`
	// Reliability compares probabilities with frequencies, for the events that
	// the label is at most its k-th decile, k = 1, …, 9.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the forest is no better than guessing: its mean is
// not better than the mean of all labels, or its distribution not better than
// that of all labels.
func (q *NumberQuality) Guessing() bool { return q.R2 <= 0 || q.CRPS >= q.PriorCRPS }

// A Choice is the result of repeated cross-validation of candidates. Standard errors treat the rows
// as independent, each with the mean of its losses over the repeats. They do not include how the
// choice would vary with another dataset.
type Choice struct {
	Repeats int `json:"repeats"`
	Folds   int `json:"folds"`
	// Loss names the loss: "log loss" for classes, "CRPS" for numbers. Log loss is −log p of the
	// row's class, where a p below half a vote counts as half a vote. See [Quality].
	Loss   string  `json:"loss"`
	Tried  []Tried `json:"tried"`
	Chosen int     `json:"chosen"` // index in Tried
}

// A Tried is the result of one candidate.
type Tried struct {
	Name string  `json:"name"`
	Loss float64 `json:"loss"` // mean over the rows
	SE   float64 `json:"loss_se"`
	// Gain is how far the loss is below that of the first candidate.
	Gain   float64 `json:"gain"`
	GainSE float64 `json:"gain_se"`
}
