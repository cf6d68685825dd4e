package model

// Quality measures how well a model predicts rows that the model has not seen. A forest predicts
// each row by the trees whose bootstrap sample left the row out ("out of bag").
type Quality struct {
	// Rows is the number of rows that the model could predict without having seen them. Only these
	// rows count.
	Rows int `json:"rows"`
	// Classes is the quality if the labels are classes, and Numbers if the labels are numbers. The
	// other one is nil. Both are nil if Rows is 0.
	Classes *ClassQuality  `json:"classes,omitempty"`
	Numbers *NumberQuality `json:"numbers,omitempty"`
}

// ClassQuality is the quality of a forest that predicts classes. The standard errors assume that
// rows are independent.
type ClassQuality struct {
	// Accuracy is the share of rows whose most probable class is the actual class. If several
	// classes are equally probable, the first one is taken as the prediction. AccuracySE is the
	// standard error of Accuracy.
	Accuracy   float64 `json:"accuracy"`
	AccuracySE float64 `json:"accuracy_se"`
	// Majority is the most frequent class. MajorityAccuracy is the accuracy of always predicting
	// that class.
	Majority         string  `json:"majority"`
	MajorityAccuracy float64 `json:"majority_accuracy"`
	// LogLoss is the mean of −log p over the rows, where p is the predicted probability of the
	// actual class. A p below Clip counts as Clip. Clip is half a vote, 1/(2·trees), because a
	// finite forest cannot distinguish a smaller probability from zero. LogLossSE is the standard
	// error of LogLoss.
	LogLoss   float64 `json:"log_loss"`
	LogLossSE float64 `json:"log_loss_se"`
	Clip      float64 `json:"clip"`
	// PriorLogLoss is the log loss of a constant prediction: the share of each class among all
	// rows.
	PriorLogLoss float64 `json:"prior_log_loss"`
	// Skill is Brier's skill score 1 − BS/BS₀ (Murphy 1988): the share of the variance of the class
	// indicators that the predicted probabilities explain. BS is the mean of Σ_c (p_c − 1{class =
	// c})² over the rows, where p_c is the predicted probability of class c. BS₀ is the same mean
	// with the share of class c among all rows as p_c. Skill corresponds to the R² of numbers.
	// SkillSE is the standard error of Skill, to first order.
	Skill   float64 `json:"skill"`
	SkillSE float64 `json:"skill_se"`
	// Confusion counts rows by actual class (first index) and most probable class (second index),
	// in the order of the classes.
	Confusion [][]int `json:"confusion"`
	// Reliability compares predicted probabilities with observed frequencies, over all classes.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the forest is no better than guessing. This is so if its accuracy is not
// above that of the majority class, or if its log loss is not below PriorLogLoss.
func (q *ClassQuality) Guessing() bool {
	return q.Accuracy <= q.MajorityAccuracy || q.LogLoss >= q.PriorLogLoss
}

// NumberQuality is the quality of a model that predicts numbers. In its fields, "prior" is a
// constant prediction for every composition: the distribution of the labels of all rows.
type NumberQuality struct {
	// RMSE is the root mean squared error of the predicted mean. PriorRMSE is the root mean squared
	// error of the mean of all labels. R2 is 1 − RMSE²/PriorRMSE².
	RMSE      float64 `json:"rmse"`
	PriorRMSE float64 `json:"prior_rmse"`
	R2        float64 `json:"r2"`
	// R2SE is the standard error of R2 over the rows, to first order (the delta method). It does
	// not include by how much the model would differ if it were learnt from another dataset.
	R2SE float64 `json:"r2_se"`
	// CRPS is the continuous ranked probability score of the predicted distribution, ∫ (F(z) − 1{z
	// ≥ y})² dz, where F is the distribution function and y is the label (Gneiting and Raftery
	// 2007, equation 20). It is the mean over the rows, in the unit of the label. A lower score is
	// better. CRPSSE is the standard error of CRPS. PriorCRPS is the score of the prior.
	CRPS      float64 `json:"crps"`
	CRPSSE    float64 `json:"crps_se"`
	PriorCRPS float64 `json:"prior_crps"`
	// Coverage50 is the share of rows whose label lies between the predicted 25 % and 75 %
	// quantiles. Coverage90 is the share of rows whose label lies between the predicted 5 % and 95
	// % quantiles. The ends are included.
	Coverage50 float64 `json:"coverage_50"`
	Coverage90 float64 `json:"coverage_90"`
	// Widen90 is by how much each of the predicted 5 % and 95 % quantiles must be moved outwards,
	// in the unit of the label, so that 90 % of the held-out labels lie between them. It may be
	// negative. See [Forest.Predict].
	Widen90 float64 `json:"widen_90"`
	// Reliability compares predicted probabilities with observed frequencies, for the events that
	// the label is at most the k-th decile of all labels, k = 1, …, 9.
	Reliability []Bin `json:"reliability"`
}

// Guessing reports whether the model is no better than guessing. This is so if the predicted mean
// is not better than the mean of all labels, or if the CRPS is not below PriorCRPS.
func (q *NumberQuality) Guessing() bool { return q.R2 <= 0 || q.CRPS >= q.PriorCRPS }

// A CandidateChoice is the result of a repeated cross-validation of candidates. The standard errors assume
// that rows are independent. The loss of a row is its mean over the repeats. The standard errors do
// not include how the choice would vary with another dataset.
type CandidateChoice struct {
	Repeats int `json:"repeats"`
	Folds   int `json:"folds"`
	// Loss names the loss: "log loss" for classes, "CRPS" for numbers. The log loss is −log p,
	// where p is the predicted probability of the row's class. A p below half a vote of a tree
	// counts as half a vote. For CRPS see [NumberQuality].
	Loss   string            `json:"loss"`
	Tried  []CandidateResult `json:"tried"`  // by candidate: its result
	Chosen int               `json:"chosen"` // index in Tried of the chosen candidate
}

// A CandidateResult is the result of one candidate in a cross-validation.
type CandidateResult struct {
	Name string  `json:"name"`
	Loss float64 `json:"loss"`    // mean loss over the rows
	SE   float64 `json:"loss_se"` // standard error of Loss
	// Gain is the loss of the first candidate minus the loss of this candidate. GainSE is the
	// standard error of Gain.
	Gain   float64 `json:"gain"`
	GainSE float64 `json:"gain_se"`
}
