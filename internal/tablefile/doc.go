// Package tablefile reads the rows of CSV files and of workbooks, .xlsx and .ods, one after the other, whatever they mean:
// texts with their places, which of them the file stores as numbers, and which merged cells cover others. Every file is
// treated as hostile: sizes, nesting and repetitions are bounded.
package tablefile
