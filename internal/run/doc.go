// Package run makes the draws of chains and stores them, in a directory or, with package bucket, in
// an S3 bucket. A run can be read, resumed after any interruption, extended, and divided among
// several machines.
//
// # What is stored
//
//	run.json                              the manifest: version, seed, settings, SHA-256 of inputs and target
//	problem.yaml                          the resolved problem
//	draws/chain=0000/part-00000.parquet   draws
//	state/chain=0000.kir                  the state from which the chain continues
//	summary.json report.html              views of the draws, which other packages write
//
// A part is a file that holds consecutive draws of one chain. A part is made in memory and written
// once, whole, and only if no file has its name. Nothing changes the part afterwards. So if two
// processes work on one chain, the second to finish a part gets an error, and its part equals the
// part of the first.
//
// # Continuing a chain
//
// A chain's work is cut into segments of about a thousand iterations. The ends of segments do not
// depend on interruptions or on the length of the run. At the start of each segment the scores of
// the chain's composition are computed anew, as when a chain is restored.
//
// After each part the state file is written. It holds the chain at the start of a segment, and
// counts of the draws in all stored parts. A chain that continues is restored from its state file.
// If the stored parts contain later draws, the chain repeats these draws and does not store them
// again. So an old or lost state file only costs time. A run that ends within a segment can be
// extended, and then equals a longer run.
//
// The ends of parts depend on interruptions and extensions. The draws in the parts depend on the
// problem and the seed alone.
//
// # Results
//
// One function computes all results from the draws, chain by chain, in memory that does not grow
// with the run. It is called when a run ends, is resumed, extended, or merged from shards. No
// result depends on the number of workers. The state files add what the draws do not contain: the
// counts of accepted moves, the statistics of tempered chains, and the compositions that tempered
// chains visited between draws.
package run
