// Package run makes the draws of chains and keeps them, in a directory or, with package
// bucket, in a bucket of S3, so that they can be looked at, gone on with after
// anything, added to, and made by several machines at once.
//
// # What is stored
//
//	run.json                              what the run is: version, seed, settings, SHA-256 of inputs and target
//	problem.yaml                          the problem as it was resolved
//	draws/chain=0000/part-00000.parquet   draws
//	state/chain=0000.kir                  where the chain goes on
//	summary.json report.html              views of the draws, which other packages write
//
// A part holds the draws of a stretch of one chain. It is made in memory, written
// once, whole, and only if there is none of its name; nothing changes it after. So
// of two processes that work on one chain, the second to end a part gets an
// error, and its part is the same as the first's.
//
// # Going on
//
// A chain's work is cut into segments of about a thousand iterations, at the same
// places whatever interrupts it and however long the run is to be. At the start of
// each the state is scored anew, as it is when a chain is restored. After each part
// the state is written: the chain at the start of a segment, and the counts since
// warm-up of all draws that are stored. A chain that goes on is restored there; if
// parts are further, it makes the draws up to their end again and stores none of
// them. So a state may be older than the parts, or gone, which costs time and
// nothing else; and a run that ends within a segment can be extended to what a
// longer run would have been.
//
// Where parts end depends on interruptions and extensions, the draws in them on
// nothing but the problem and the seed.
//
// # Figures
//
// Figures come from the draws, by one reader, chain by chain, in memory that does
// not grow with the run: when a run ends, is resumed, extended, or merged from
// shards. No figure depends on the number of workers. What the states add is what
// draws do not tell: the counts of accepted moves, the ladders, and what tempered
// chains found on their way.
package run
