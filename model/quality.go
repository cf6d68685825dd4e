package model

// Quality measures how well a model predicts rows that the model has not seen (held-out rows). A
// forest predicts each row by the trees that have not seen the row ("out of bag").
type Quality struct {
	// Rows is the number of rows that could be predicted by a model that has not seen them. Only
	// these rows count.
	Rows int `json:"rows"`
	// Classes is the quality for labels that are classes. It is nil if the labels are numbers, or
	// if Rows is 0.
	Classes *ClassQuality `json:"classes,omitempty"`
	// Numbers is the quality for labels that are numbers. It is nil if the labels are classes, or
	// if Rows is 0.
	Numbers *NumberQuality `json:"numbers,omitempty"`
}

// ClassQuality is the quality of a forest that predicts classes, measured on held-out rows. The
// standard errors assume that the rows are independent.
type ClassQuality struct {
	// Accuracy is the share of rows whose most probable class is the actual class. If several
	// classes are equally probable, the first one is taken as the prediction.
	Accuracy   float64 `json:"accuracy"`
	AccuracySE float64 `json:"accuracy_se"` // standard error of Accuracy
	// Majority is the most frequent class.
	Majority         string  `json:"majority"`
	MajorityAccuracy float64 `json:"majority_accuracy"` // accuracy of always predicting the class Majority
	// LogLoss is the mean of −log p over the rows, where p is the predicted probability of the
	// actual class. A p below Clip counts as Clip.
	LogLoss   float64 `json:"log_loss"`
	LogLossSE float64 `json:"log_loss_se"` // standard error of LogLoss
	// Clip is half a vote of a tree, 1/(2·trees). A finite forest cannot distinguish a smaller
	// probability from zero.
	Clip float64 `json:"clip"`
	// PriorLogLoss is the log loss of a constant prediction: the share of each class among all
	// rows.
	PriorLogLoss float64 `json:"prior_log_loss"`
	// Skill is Brier's skill score 1 − BS/BS₀ (Murphy 1988): the share of the variance of the class
	// indicators that the predicted probabilities explain. BS is the mean of Σ_c (p_c − 1{class =
	// c})² over the rows, where p_c is the predicted probability of class c. BS₀ is the same mean
	// with the share of class c among all rows as p_c. Skill corresponds to the R² of numbers.
	Skill   float64 `json:"skill"`
	SkillSE float64 `json:"skill_se"` // standard error of Skill, to first order
	// Confusion[c][p] is the number of rows of class c whose most probable class is p. Classes are
	// in ascending order of their names.
	Confusion [][]int `json:"confusion"`
	// Reliability compares predicted probabilities with observed frequencies, over all classes.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the forest is no better than guessing. This is so if its accuracy is not
// above that of the majority class, or if its log loss is not below PriorLogLoss.
func (q *ClassQuality) Guessing() bool {
	return q.Accuracy <= q.MajorityAccuracy || q.LogLoss >= q.PriorLogLoss
}

// NumberQuality is the quality of a model that predicts numbers. In the comments of its fields, the
// prior is a constant prediction for every composition: the distribution of the labels of all rows.
type NumberQuality struct {
	// RMSE is the root mean squared error of the predicted mean.
	RMSE      float64 `json:"rmse"`
	PriorRMSE float64 `json:"prior_rmse"` // root mean squared error of the mean of all labels
	R2        float64 `json:"r2"`         // 1 − RMSE²/PriorRMSE²
	// R2SE is the standard error of R2, to first order (the delta method). It covers the choice of
	// the held-out rows. It does not cover how much the model would differ if it were learnt from
	// another dataset.
	R2SE float64 `json:"r2_se"`
	// CRPS is the mean over the rows of the continuous ranked probability score of the predicted
	// distribution, ∫ (F(z) − 1{z ≥ y})² dz, where F is the distribution function and y is the
	// label (Gneiting and Raftery 2007, equation 20). It is in the unit of the label. A lower score
	// is better.
	CRPS      float64 `json:"crps"`
	CRPSSE    float64 `json:"crps_se"`    // standard error of CRPS
	PriorCRPS float64 `json:"prior_crps"` // CRPS of the prior, which is the same distribution for every row
	// Coverage50 is the share of rows whose label lies between the predicted 25 % and 75 %
	// quantiles, ends included.
	Coverage50 float64 `json:"coverage_50"`
	// Coverage90 is the share of rows whose label lies between the predicted 5 % and 95 %
	// quantiles, ends included.
	Coverage90 float64 `json:"coverage_90"`
	// Widen90 says how far the predicted 5 % and 95 % quantiles must be moved outwards so that 90 %
	// of the held-out labels lie between them. It is in the unit of the label and may be negative.
	// See [Forest.Predict].
	Widen90 float64 `json:"widen_90"`
	// Reliability compares predicted probabilities with observed frequencies. The events are that
	// the label is at most the k-th decile of all labels, k = 1, …, 9.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the model is no better than guessing. This is so if the predicted mean
// is not better than the mean of all labels, or if the CRPS is not below PriorCRPS.
func (q *NumberQuality) Guessing() bool { return q.R2 <= 0 || q.CRPS >= q.PriorCRPS }

// A CandidateChoice is the result of a repeated cross-validation of candidates. The loss of a row
// is its mean over the repeats. The standard errors assume that rows are independent. They do not
// cover how the choice would vary with another dataset.
type CandidateChoice struct {
	Repeats int `json:"repeats"` // number of times that the cross-validation is repeated, with other folds
	Folds   int `json:"folds"`   // number of folds, that is, of parts into which the rows are divided
	// Loss is the name of the loss: "log loss" for classes, "CRPS" for numbers. The log loss is
	// −log p, where p is the predicted probability of the row's class. A p below half a vote of a
	// tree counts as half a vote. For CRPS see [NumberQuality].
	Loss   string            `json:"loss"`
	Tried  []CandidateResult `json:"tried"`  // result of each candidate
	Chosen int               `json:"chosen"` // index in Tried of the chosen candidate
}

// A CandidateResult is the result of one candidate in a [CandidateChoice].
type CandidateResult struct {
	Name string  `json:"name"`
	Loss float64 `json:"loss"`    // mean loss over the rows: see [CandidateChoice.Loss]
	SE   float64 `json:"loss_se"` // standard error of Loss
	// Gain is the loss of the first candidate minus the loss of this candidate.
	Gain   float64 `json:"gain"`
	GainSE float64 `json:"gain_se"` // standard error of Gain
}
