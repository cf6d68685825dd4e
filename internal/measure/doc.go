// Package measure parses amounts as people write them, such as 4.5 cl, 1/2 oz, q.s. 100 or 1.250,5 g: decimal numbers
// with either mark, units and their sizes, and what makes up the rest of a whole. Amounts are exact decimals.
package measure
