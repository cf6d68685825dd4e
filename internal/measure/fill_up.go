package measure

import (
	"strings"
)

// remainderPattern matches the cell of an ingredient that makes up the remainder of a recipe: bal.,
// q.s. 100, ad 100 g, to 100. Groups 1, 3 and 4 are the whole, and group 2 is a text that is not a
// whole.
var remainderPattern = lazyExpression(`(?i)^(?:(?:bal\.?|balance|rest[eo]?|rem\.?|remainder|remaining|solde|saldo|complément|complemento|remanescente|zbytek|zvyšok|reszta|maradék|loput|ostatak|ostanek|restul|kalan|υπόλοιπο|q\.? ?s\.?(?: ?p\.?)?|c\.? ?s\.? ?p\.?)` +
	`(?:[\s(=]*(?:(?:up )?to|ad|auf|à|a)?(?: make)?[\s(]*([0-9.,][^()]*)\)?|(\s.*))?|(?:ad|do|auf|q\.? ?b\.? ?ad?)\s*([0-9].*)|(?:up )?to\s*(1[.,]?00.*)|` + fillUpWords + `\s+(?:up\s+)?(?:to|a|à|au|jusqu.à|jusqu.au|hasta|até|fino a|auf|bis|zu|tot|op|do|na|till|til|opp til)\s+([0-9].*))$`)

// fillUpWords is a pattern of the words that say to fill a glass or a vessel.
const fillUpWords = `(?:top(?:ped|ping)?|fill(?:ed)?|auff(?:ü|ue)llen|auffüll\S*|aufgie(?:ß|ss)en|zum auff\S+|ergänzen|compléter|completer|allonger|remplir|rellenar|completar|llenar|colmare|rabboccare|riempire|preencher|aanvullen|fyll(?:a)?(?: upp| op| opp)?|dopełnić|uzupełnić|doplnit|dolít|täytä|täydennä)`

// fillUpPattern matches the cell of an ingredient that fills the glass, such as top up. Only the
// author of the table knows the amount.
var fillUpPattern = lazyExpression(`(?i)^(?:to )?` + fillUpWords + `(?:\s.*)?$`)

// MeansFillUp reports whether the text of an amount says that the ingredient fills the glass.
func MeansFillUp(text string) bool { return fillUpPattern().MatchString(strings.TrimSpace(text)) }

// fillUpUnit is the name of the unit that fills the glass.
const fillUpUnit = "top"

// unitSizeHint is the hint for a word that stands for an amount of the author's.
const unitSizeHint = "write the amount, or give the word a size"
