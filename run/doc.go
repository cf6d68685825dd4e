// Package run makes a run of chains and keeps it in a directory, so that it can
// be looked at, resumed after it was interrupted in any way, and extended.
//
// # The directory
//
//	problem.yaml           the problem as it was resolved
//	manifest.json          what was run: version, settings, SHA-256 of every input, status
//	draws-<chain>.parquet  the draws, see package drawfile
//	checkpoint-<chain>     where a chain can go on
//	result                 the figures of the finished run, see [Result]
//	summary.json           and other reports, which other packages write
//	lock                   held while a process works on the run
//
// While a chain is running its draws are in draws-<chain>.parquet.partial.
//
// # Segments
//
// A chain's work is cut into segments of about a thousand iterations, at the
// same places whatever interrupts it and however long the run is to be. At the
// start of each the state is scored anew, as it is when a chain is restored,
// and only there a checkpoint may be written. A checkpoint holds all that the
// chain is: state, random stream, the figures gathered so far, and what the
// file of draws has not received yet. So a run that is resumed from one writes
// the same bytes as a run that was never interrupted, and a finished run, whose
// last checkpoint is kept, can be extended to what a longer run would have been.
//
// A checkpoint replaces the one before by renaming, after it and the draws that
// it counts on have reached the disk. A crash at any byte leaves one or the
// other. Should both be damaged the chain starts anew, which only costs time.
//
// # Figures
//
// Figures are gathered while the chains run, in memory that does not grow with
// the run, and told only of what changes from draw to draw. Everything is
// merged in the order of the chains: no figure depends on the number of workers.
package run
