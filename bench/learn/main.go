// Learn compares models on books of measured recipes, the same splits for all: kir's
// forest as it grew by default before splits were drawn at random, what kir learns, and
// scikit-learn's Gaussian process, extremely randomised trees and random forest.
//
//	go run -C bench ./learn -experiments DIR
//
// prints a table a measure, a row a book, and the means over the books. The directory, else
// taken from the environment variable KIR_EXPERIMENTS, holds the tables of books.go; what
// is missing is left out and named, as the models of Python are where its library is
// missing.
// With -folds K, each book is cross-validated, on as many of its rows as each number of -rows.
// With -o FILE the summary is written between two marks of a document.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
)

// directoryVariable names the environment variable of the books' directory.
const directoryVariable = "KIR_EXPERIMENTS"

func main() {
	var c comparison
	flag.StringVar(&c.directory, "experiments", os.Getenv(directoryVariable), "the directory of the books")
	flag.StringVar(&c.root, "root", "..", "the directory of the project, whose examples are books, too")
	books := flag.String("books", "", "the books to compare on, separated by commas; empty: all")
	models := flag.String("models", "", "the models to compare, separated by commas; empty: all")
	flag.IntVar(&c.splits, "splits", 0, "how many splits of each book; 0: all")
	flag.StringVar(&c.python, "python", "/usr/bin/python3", "a Python with scikit-learn; empty: none")
	flag.Uint64Var(&c.seed, "seed", 1, "seed of the splits and the models")
	flag.BoolVar(&c.each, "each", false, "print each split, too")
	flag.IntVar(&c.folds, "folds", 0, "cross-validate with so many folds; 0: learn from halves, or 50 rows of a large book")
	flag.IntVar(&c.rounds, "rounds", 3, "how often the rows are dealt to folds")
	sizes := flag.String("rows", "60,150,400", "how many rows of a book are cross-validated, one after another")
	brief := flag.Bool("brief", false, "print the means over the books alone")
	out := flag.String("o", "", "the document that the summary belongs in")
	flag.Parse()
	c.books, c.models = words(*books), words(*models)
	for _, word := range words(*sizes) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			fmt.Fprintln(os.Stderr, "learn: -rows must be numbers, separated by commas")
			os.Exit(2)
		}
		c.sizes = append(c.sizes, n)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, &c, *out, *brief); err != nil {
		fmt.Fprintln(os.Stderr, "learn:", err)
		os.Exit(1)
	}
}

func words(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func run(ctx context.Context, c *comparison, out string, brief bool) error {
	results, err := c.compare(ctx)
	if err != nil {
		return err
	}
	if !brief {
		fmt.Print(results.tables())
	}
	fmt.Print(results.summary())
	if out == "" {
		return nil
	}
	return write(out, results.summary())
}
