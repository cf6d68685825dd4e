package rule

import "fmt"

// A knob is a way to loosen a rule: by 1 to limit notches, each more than the
// one before.
type knob struct {
	limit int
	turn  func(notches int) Rule
	text  func(notches int, name string) string
	by    int           // of a notch, 0 if the knob drops something
	round func(int) int // to more notches that make a rounder number; may be nil
}

// bound adds the knob of a bound in whole numbers, if it can be turned.
func bound(knobs []knob, what string, from, limit, by int, turn func(to int) Rule) []knob {
	if limit < 1 {
		return knobs
	}
	verb := "raise"
	if by < 0 {
		verb = "lower"
	}
	return append(knobs, knob{
		limit: limit,
		by:    max(by, -by),
		turn:  func(notches int) Rule { return turn(from + notches*by) },
		text: func(notches int, name string) string {
			return fmt.Sprintf("%s the %s of %s from %d to %d", verb, what, name, from, from+notches*by)
		},
	})
}
