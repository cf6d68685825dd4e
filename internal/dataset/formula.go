package dataset

import (
	"math/big"
	"strings"
	"sync"
)

// elementSymbols are the symbols of the chemical elements.
var elementSymbols = sync.OnceValue(func() map[string]bool {
	symbols := make(map[string]bool)
	for symbol := range strings.FieldsSeq(`H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe
		Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm`) {
		symbols[symbol] = true
	}
	return symbols
})

// An elementAmount is an element of a formula and its number of atoms, as the formula writes it.
type elementAmount struct {
	symbol string
	atoms  string // a decimal number
}

// mostFormulaDepth bounds the brackets within each other in a formula.
const mostFormulaDepth = 4

// longestFormula is the greatest length of a formula in bytes.
const longestFormula = 200

// parseFormula parses a chemical formula: symbols of elements, each with a number of atoms behind it or one atom, and
// brackets with a number, such as Al0.5CoCrFeNi, Na2CO3 or (CoCrFeNi)95Mo5. An element that occurs several times has
// the sum. The elements are in the order in which they first occur. ok is false for any other text.
func parseFormula(text string) (elements []elementAmount, ok bool) {
	if text == "" || len(text) > longestFormula {
		return nil, false
	}
	f := &formulaReader{text: text, atoms: make(map[string]*big.Rat)}
	if !f.read(big.NewRat(1, 1), 0) || f.text != "" {
		return nil, false
	}
	for _, symbol := range f.order {
		atoms := f.atoms[symbol]
		if atoms.Sign() <= 0 {
			return nil, false
		}
		elements = append(elements, elementAmount{symbol, decimalText(atoms)})
	}
	return elements, len(elements) > 0
}

// decimalText writes a number with at most 12 decimal places.
func decimalText(r *big.Rat) string {
	text := r.FloatString(12)
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}

// A formulaReader reads a formula from left to right.
type formulaReader struct {
	text  string
	atoms map[string]*big.Rat // by symbol
	order []string            // symbols in the order of their first occurrence
}

// read reads to the end of the text or to a closing bracket. Each atom counts as often as times says.
func (f *formulaReader) read(times *big.Rat, depth int) bool {
	for f.text != "" && f.text[0] != ')' && f.text[0] != ']' {
		if open := f.text[0]; open == '(' || open == '[' {
			end := matchingBracket(f.text)
			if end < 0 || depth == mostFormulaDepth {
				return false
			}
			inner := f.text[1:end]
			f.text = f.text[end+1:]
			number, ok := f.number()
			if !ok {
				return false
			}
			rest := f.text
			f.text = inner
			if inner == "" || !f.read(new(big.Rat).Mul(times, number), depth+1) || f.text != "" {
				return false
			}
			f.text = rest
			continue
		}
		symbol := f.symbol()
		number, ok := f.number()
		if symbol == "" || !ok {
			return false
		}
		if f.atoms[symbol] == nil {
			f.atoms[symbol] = new(big.Rat)
			f.order = append(f.order, symbol)
		}
		f.atoms[symbol].Add(f.atoms[symbol], number.Mul(number, times))
	}
	return f.text == ""
}

// matchingBracket returns the index of the bracket that closes the first one; −1 if there is none.
func matchingBracket(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// symbol reads the symbol of an element, the longest that fits; empty if there is none.
func (f *formulaReader) symbol() string {
	for n := min(2, len(f.text)); n > 0; n-- {
		if symbol := f.text[:n]; elementSymbols()[symbol] {
			f.text = f.text[n:]
			return symbol
		}
	}
	return ""
}

// number reads a decimal number, 1 if there is none. ok is false for a number that cannot be read.
func (f *formulaReader) number() (number *big.Rat, ok bool) {
	n := 0
	for n < len(f.text) && (f.text[n] >= '0' && f.text[n] <= '9' || f.text[n] == '.') {
		n++
	}
	digits := f.text[:n]
	f.text = f.text[n:]
	if digits == "" {
		return big.NewRat(1, 1), true
	}
	if len(digits) > 12 {
		return nil, false
	}
	return new(big.Rat).SetString(digits)
}
