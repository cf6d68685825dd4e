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
// A part is a file that holds the draws of a section of one chain. A part is made in memory and
// written once, whole, and only if no file has its name. Nothing changes the part afterwards. So if
// two processes work on one chain, the second to finish a part gets an error, and its part equals
// the part of the first.
//
// # Continuing a chain
//
// A chain's work is cut into segments of about a thousand iterations. The cuts do not depend on
// interruptions or on the length of the run. At the start of each segment the state is scored anew,
// as when a chain is restored. After each part the state is written. The state holds the chain at
// the start of a segment, and the counts since warm-up of all stored draws. A chain that continues
// is restored there. If the chain's parts are further, the chain repeats the draws up to the end of
// the parts and stores none of them. So a state may be older than the parts, or lost, which only
// costs time. A run that ends within a segment can be extended, and then equals a longer run.
//
// The ends of parts depend on interruptions and extensions. The draws in the parts depend on the
// problem and the seed alone.
//
// # Results
//
// One reader computes all results from the draws, chain by chain, in memory that does not grow with
// the run. The reader does so when a run ends, is resumed, extended, or merged from shards. No
// result depends on the number of workers. The states add what the draws do not contain: the counts
// of accepted moves, the ladders, and the compositions that tempered chains visited between draws.
package run
