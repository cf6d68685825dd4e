package dataset

import (
	"regexp"
	"sync"
)

// pattern returns a regular expression that is compiled at its first use. All of them together take
// as long to compile as the rest of the program takes to start.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
