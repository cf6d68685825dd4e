package dataset

import (
	"regexp"
	"sync"
)

// lazyPattern returns a function that returns the regular expression, which it compiles at its
// first call. Compiling all patterns of the package takes as long as the rest of the program takes
// to start.
func lazyPattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
