// Package drawfile writes the draws of a chain to a Parquet file as they come,
// and reads them back.
//
// # The file
//
// One row a draw:
//
//	chain        int32
//	draw         int64
//	log_density  double
//	used         int32
//	<property>   double, for each property
//	ingredient   list of strings
//	amount       list of int32
//
// No value is null. The two lists of a draw have one entry for each used
// ingredient, in the same order; an ingredient keeps its place from draw to
// draw for as long as it is used, so the order means nothing. Pages are
// version 1, compressed with Snappy and have a CRC; ingredients are
// dictionary-encoded, and so are amounts of totals up to 65,535. A dictionary has
// the entries that its row group has, or all if they are few. These are
// the parts of the format (Apache Parquet 2.x) that every reader knows.
//
// # How it is written
//
// A chain of small moves differs from one draw to the next in an ingredient or
// two, or not at all. A general writer would encode every entry of every draw
// and leave it to the compressor to find the repetition again, at many times
// the cost of sampling. [Writer] is told what changed, and writes Snappy's
// literals and copies itself: a draw equal to the last one costs an addition,
// and a changed ingredient a few bytes. What it writes is plain Snappy all the
// same, and any reader decompresses it.
//
// Where most of a draw is new there is nothing to copy. The lists of such a page
// are one literal, in which an entry takes no more bits than its number needs.
// Each page has the form in which the page before it is the smaller.
//
// Only the pages are made here. The footer is made with the thrift types of
// parquet-go, which also does all reading.
//
// Where pages and row groups end depends on the draws alone. The state of a
// Writer can be saved between two draws, and a Writer restored from it writes
// the same bytes that the first one would have.
package drawfile
