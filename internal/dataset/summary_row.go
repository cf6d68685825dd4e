package dataset

import (
	"slices"
	"strings"

	"kir/internal/inputerr"
	"kir/internal/measure"
)

// What a row says that is no recipe.
const (
	ofOthers      = "a mean or a standard deviation of other rows"
	ofPrices      = "a row of prices"
	ofIngredients = "a description of the ingredients"
	ofLimits      = "a limit or an explanation"
)

// summaryOf tells by its name what a row of the wide form says of other rows, as in Mean or Spec max; empty for the
// name of a recipe. sure is false for a name that may be a recipe's, too, such as Target.
func summaryOf(name string) (what string, sure bool) {
	name = strings.ToLower(strings.Trim(name, " :."))
	if meanWord.includes(name) {
		return ofOthers, true
	}
	words := slices.DeleteFunc(wordsOf(name), func(word string) bool { return len(word) == 1 }) // as of a class, C30/37
	if bare, unit := SplitHeaderUnit(name); costWord.isIn([]string{bare}) || pricePattern().MatchString(name) || unit != "" && len(words) > 0 && costWord.isIn(words[:1]) {
		return ofPrices, true // a recipe may be called Cost saver
	}
	if bare, unit := SplitHeaderUnit(name); attributeName.includes(name) || attributeName.includes(bare) && isUnitText(unit, measure.UsualUnits()) {
		return ofIngredients, true
	}
	if len(words) > 0 && meanWord.includes(words[0]) {
		return ofOthers, len(words) == 1
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return !limitWord.includes(word) }) {
		return "", false
	}
	return ofLimits, len(words) > 1 || extremeWord.includes(words[0]) || strings.HasPrefix(words[0], "spec") || strings.HasPrefix(words[0], "spez") || strings.HasPrefix(words[0], "espec")
}

// rangePattern matches a limit: a bound, or a range, perhaps with a unit.
var rangePattern = lazyPattern(`(?i)^(?:[≥≤<>±]=?|min|max|mind|höchst|ca|bis|tot|fino)\b?\.?\s*[0-9]|^[0-9][0-9.,]*\s*(?:-|–|—|\.\.|to|bis|à|a|do|až)\s*[0-9]|±`)

// minLimits is the least number of limits in a row of limits that may have another name than that.
const minLimits = 2

// isSummaryRow reports whether the first text of a row is surely the name of a row that describes other rows: by the name
// alone, or as the name may say so and the row holds limits or is half empty.
func (t *table) isSummaryRow(row []string) bool {
	name := firstText(row)
	what, sure := summaryOf(name)
	isExtreme := extremeWord.isIn(wordsOf(name))
	switch {
	case sure, isExtreme && t.isLimitName(name):
		return true
	case what == "" && !isExtreme:
		return false
	}
	limits, filled := 0, countFilled(row)
	for _, text := range row {
		if rangePattern().MatchString(strings.TrimSpace(text)) {
			limits++
		}
	}
	return limits >= minLimits || what != "" && 2*filled < len(t.header)
}

// isLimitName reports whether a name with a word such as min is that of one of two rows whose names differ in this word
// alone, as Spec min and Spec max do.
func (t *table) isLimitName(name string) bool {
	if t.limitNames == nil {
		t.limitNames = make(map[string]bool)
		first := make(map[string]string) // by name without the word: the name
		head := t.firstRows()
		for row := range readableRows(head, maxProfileRows) {
			name := strings.Clone(firstText(row))
			words := wordsOf(name)
			if !extremeWord.isIn(words) {
				continue
			}
			stem := strings.Join(slices.DeleteFunc(words, func(word string) bool { return extremeWord.includes(word) }), " ")
			if other, ok := first[stem]; !ok {
				first[stem] = name
			} else if other != name {
				t.limitNames[name], t.limitNames[other] = true, true
			}
		}
	}
	return t.limitNames[name]
}

// firstText returns the first text of a row.
func firstText(row []string) string {
	for _, text := range row {
		if text = NormalizeName(text); text != "" {
			return text
		}
	}
	return ""
}

// hasNoLabels reports whether the current row has no cell of a label, of which the table has some.
func (b *bookBuilder) hasNoLabels() bool {
	return len(b.labelColumns) > 0 && !slices.ContainsFunc(b.labelColumns, func(l labelColumn) bool { return strings.TrimSpace(b.table.row[l.column]) != "" })
}

// skipSummaryRow reports whether the current row of the wide form describes other rows and is no recipe. It notes that
// the row is left out. A row that may be a recipe is left out if it has no amounts and the ingredients are not given: where
// they are, as for the results of a campaign, it is an error.
func (b *bookBuilder) skipSummaryRow() bool {
	name := b.recipeName()
	if b.recipeColumn < 0 || name == "" {
		if name = firstText(b.table.row); !b.table.isSummaryRow(b.table.row) && !hasSumWord(name) {
			return false // the row may have no name
		}
	}
	what, sure := summaryOf(name)
	if what != "" && !sure {
		sure = b.table.isSummaryRow(b.table.row)
	} else if what == "" && name == firstText(b.table.row) && b.table.isSummaryRow(b.table.row) {
		what, sure = "a limit", true
	}
	switch _, unit := SplitHeaderUnit(name); {
	case hasSumWord(name) && b.recipeName() == "":
		what, sure = "a sum", true
	case what == "" && extremeWord.isIn(wordsOf(name)[:min(1, len(wordsOf(name)))]) && b.hasNoLabels():
		what, sure = "a limit", true
	case what == "" && unit != "" && isUnitText(unit, b.units) && b.hasNoLabels():
		what, sure = ofIngredients, true
	}
	kind := what
	if what != "" {
		what = "by its name it is " + what
	}
	if !sure && slices.ContainsFunc(b.wideColumns, func(c wideColumn) bool {
		text := strings.TrimSpace(b.table.row[c.column])
		return text != "" && !isDash(text)
	}) {
		return false
	}
	if what == "" && len(b.wideColumns) > 0 && name != "" && b.allowsNewIngredients {
		what, kind = "it has no amounts", outAsEmpty
	}
	if what == "" {
		return false
	}
	if slices.ContainsFunc(b.includedNames, func(other string) bool { return NormalizeName(other) == name }) {
		b.reportedKeys["including "+name] = true
		return false
	}
	t := b.table
	at := t.place(max(b.recipeColumn, 0))
	if asideReason(name) != "" {
		texts := make(map[int]string)
		for _, c := range b.wideColumns {
			if text := t.asideText(c.column, t.row[c.column]); text != "" {
				texts[c.column] = text
			}
		}
		t.addAside(name, texts)
	}
	t.noteLeftOut(at.Line, kind)
	n := Note{File: t.file, Line: at.Line, Column: at.Column, Cell: at.Cell, Doubtful: true, Message: "row " + inputerr.Quote(name) + " is left out: " + what}
	if b.mayBeRecipe(name) {
		n.QuestionableRow, n.RowLeftOut = name, true
		n.Message += ": including: [" + YAMLText(name) + "] takes it in"
	}
	t.notes = append(t.notes, n)
	return true
}

// mayBeRecipe reports whether the current row of the wide form can be read as a recipe with the given name, which must be
// new.
func (b *bookBuilder) mayBeRecipe(name string) bool {
	if _, taken := b.recipeByName[name]; taken || b.reportedKeys["row "+name] {
		return false
	}
	b.reportedKeys["row "+name] = true
	var parts []Part
	for _, c := range b.wideColumns {
		text := strings.TrimSpace(b.table.row[c.column])
		if text == "" || isDash(text) {
			continue
		}
		q, message, _ := measure.ParseQuantity(text, b.table.decimalOf(c.column), b.units.WithoutHints())
		if message != "" {
			return false
		}
		part := Part{Unit: c.defaultUnit}
		if q.Unit != "" {
			part.Unit, _ = b.units.Lookup(q.Unit)
		}
		if !q.Amount.IsZero() {
			parts = append(parts, part)
		}
	}
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(p Part) bool { return p.kind() != parts[0].kind() })
}
