package compile

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"

	"kir/internal/dataset"
	"kir/internal/inputerr"
	"kir/internal/measure"
	"kir/internal/number"
)

// A constituent is a row of a table of constituents.
type constituent struct {
	ingredient int            // index into the names of the book's ingredients
	name       string         // name of the constituent
	share      measure.Amount // share of the constituent in the ingredient, above 0 and at most 1
}

// constituents returns what the dilutions of the book consist of, and the ingredients that are
// themselves a substance or a solvent of a dilution. solvent is the solvent of most dilutions.
// It returns an error if there is no dilution, or if an attribute has the name of a constituent.
func (d *Draft) constituents() (all []constituent, solvent string, err error) {
	var dilutions []dataset.Dilution
	file := ""
	if d.Book != nil {
		dilutions, file = d.Book.Dilutions(), d.Book.File
	}
	if len(dilutions) == 0 {
		return nil, "", &inputerr.Error{File: file, Message: "no ingredient is named as a dilution", Hint: "write names such as Ambroxan 10 % in DPG, or a table of constituents of your own"}
	}
	spelling := make(map[string]string) // by name of a constituent in lower case: the name as it is written
	byName := make(map[string]dataset.Dilution)
	for _, dilution := range dilutions {
		byName[dilution.Ingredient] = dilution
		for _, name := range []string{dilution.Substance, dilution.Solvent} {
			if key := strings.ToLower(name); spelling[key] == "" {
				spelling[key] = name
			}
		}
	}
	for _, name := range d.Book.Ingredients.Names { // the spelling of an ingredient of this name, if there is one
		if key := strings.ToLower(name); spelling[key] != "" {
			spelling[key] = name
		}
	}
	count, most := make(map[string]int), 0
	for i, name := range d.Book.Ingredients.Names {
		if dilution, ok := byName[name]; ok {
			in := spelling[strings.ToLower(dilution.Solvent)]
			all = append(all, constituent{i, spelling[strings.ToLower(dilution.Substance)], dilution.Share}, constituent{i, in, dilution.SolventShare()})
			if count[in]++; count[in] > most {
				solvent, most = in, count[in]
			}
		} else if own := spelling[strings.ToLower(name)]; own != "" {
			all = append(all, constituent{i, own, measure.MustAmount("1")})
		}
	}
	for _, c := range all {
		if _, ok := d.Book.Ingredients.Attribute(c.name); ok {
			return nil, "", &inputerr.Error{File: file, Message: inputerr.Quote(c.name) + " would be a constituent, and is an attribute of the ingredients", Hint: "give the attribute another name"}
		}
	}
	return all, solvent, nil
}

// DilutionsText describes the ingredients that are dilutions by their names. It is empty if there is none, or if no
// table of constituents can be made of them.
func (d *Draft) DilutionsText() string {
	if _, _, err := d.constituents(); err != nil {
		return ""
	}
	dilutions := d.Book.Dilutions()
	if len(dilutions) == 1 {
		return fmt.Sprintf("the ingredient %s is a dilution", inputerr.Quote(dilutions[0].Ingredient))
	}
	return fmt.Sprintf("%d ingredients are dilutions, such as %s", len(dilutions), inputerr.Quote(dilutions[0].Ingredient))
}

// UseDilutions makes the problem file name a table of what dilutions consist of. It returns the text of this table, which
// the caller writes to the file at path, relative to the problem file.
func (d *Draft) UseDilutions(path string) ([]byte, error) {
	all, _, err := d.constituents()
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"ingredient", "constituent", "share"}}
	for _, c := range all {
		rows = append(rows, []string{dataset.EscapeCell(d.Book.Ingredients.Names[c.ingredient]), dataset.EscapeCell(c.name), c.share.String()})
	}
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return nil, err
	}
	d.Constituents = path
	return text.Bytes(), nil
}

// constituentsYAML returns the line of the constraint that names the table of constituents.
func (d *Draft) constituentsYAML() string {
	return fmt.Sprintf("constituents: {file: %s} # substances and solvents of dilutions, as attributes", dataset.YAMLText(filepath.ToSlash(d.Constituents)))
}

// suggestSolventLimit writes a limit of the solvent of most dilutions as a comment: the greatest share of it in a recipe.
func (w *draftWriter) suggestSolventLimit() {
	all, solvent, err := w.constituents()
	if err != nil {
		return
	}
	shares := make(map[int32]*big.Rat)
	for _, c := range all {
		if c.name == solvent {
			shares[int32(c.ingredient)] = c.share.Rat()
		}
	}
	greatest := new(big.Rat)
	for _, r := range w.Book.Recipes {
		part, whole := new(big.Rat), new(big.Rat)
		for _, p := range r.Parts {
			amount := p.Base()
			whole.Add(whole, amount)
			if share := shares[p.Ingredient]; share != nil {
				part.Add(part, new(big.Rat).Mul(share, amount))
			}
		}
		if share := part.Quo(part, whole); share.Cmp(greatest) > 0 {
			greatest = share
		}
	}
	if greatest.Sign() > 0 {
		w.writeLine("#   - limit: {attribute: %s, max: %s} # including what is in dilutions; the recipes have at most this", dataset.YAMLText(solvent), roundUp(greatest))
	}
}

// roundUp rounds a share up to two digits, and to at least two and at most six decimals.
func roundUp(share *big.Rat) string {
	decimals := 2
	for decimals < 6 && new(big.Rat).Mul(share, new(big.Rat).SetInt(measure.Pow10(decimals))).Cmp(big.NewRat(10, 1)) < 0 {
		decimals++
	}
	scale := measure.Pow10(decimals)
	n := new(big.Int).Mul(share.Num(), scale)
	n.Add(n, share.Denom()).Sub(n, big.NewInt(1)).Div(n, share.Denom())
	return number.Trim(new(big.Rat).SetFrac(n, scale).FloatString(decimals))
}
