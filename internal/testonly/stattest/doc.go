// Package stattest proves kernels exact on small spaces, and compares samples
// on large ones.
//
// [Explore] runs a step of a kernel over every outcome of its random choices,
// so [Enumeration.Matrix] is the transition matrix of the code that ships, not
// of a model of it. [Law] writes the target down a second time, by plain
// enumeration that shares no code with the sampler. What a kernel claims then
// becomes arithmetic: rows that sum to 1, π P = π, detailed balance, one
// strongly connected support; each check names the worst offender.
//
// [TestSameLaw], [ChiSquare] and [Fisher] are for what is too large to enumerate.
// Their false-alarm rates are stated, so a test can say what its own is.
package stattest
