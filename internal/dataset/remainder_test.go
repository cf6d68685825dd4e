package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kir/internal/measure"

	"github.com/xuri/excelize/v2"
)

// bookText is a book's recipes in text: Kir: Gin 3, Rum 97 %.
func bookText(b *Book) string {
	var lines []string
	for _, r := range b.Recipes {
		var parts []string
		for _, p := range r.Parts {
			text := b.Ingredients.Names[p.Ingredient] + " " + p.Amount.String()
			if p.Unit != nil {
				text += " " + p.Unit.Name
			}
			parts = append(parts, text)
		}
		lines = append(lines, r.Name+": "+strings.Join(parts, ", "))
	}
	return strings.Join(lines, "\n")
}

// What makes up the rest is what the others leave, in whatever words and in every form of
// a table.
func TestRemainder(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"long, %", "formula,INCI name,% w/w\nDay,Aqua,q.s. 100\nDay,Glycerin,3.25\nDay,Urea,0.1\nNight,Aqua,60\nNight,Urea,40\n",
			"Day: Aqua 96.65 %, Glycerin 3.25 %, Urea 0.1 %\nNight: Aqua 60 %, Urea 40 %"},
		{"long, bare, rows apart", "recipe,ingredient,amount,unit\nDay,Urea,0.1,%\nNight,Aqua,60,%\nDay,Aqua,qs,\nDay,Glycerin,3.25,%\nNight,Urea,40,%\n",
			"Day: Urea 0.1 %, Aqua 96.65 %, Glycerin 3.25 %\nNight: Aqua 60 %, Urea 40 %"},
		{"long, a unit with the whole", "recipe,ingredient,amount\nA,Oil,250 mg\nA,Wax,1 g\nA,Water,ad 100 g\n", "A: Oil 250 mg, Wax 1 g, Water 98.75 g"},
		{"long, the others' unit", "recipe,ingredient,g\nA,Oil,20\nA,Water,ad 100\n", "A: Oil 20 g, Water 80 g"},
		{"long, a thousand with a comma", "Rezept;Zutat;ml\nA;Öl;2,5\nA;Wasser;ad 1.000,0\n", "A: Öl 2.5 ml, Wasser 997.5 ml"},
		{"wide, %", "recipe,Al (wt%),Cu (wt%),Mg (wt%)\nA,bal.,4.4,1.5\nB,Bal,,2.5\n", "A: Al 94.1 %, Cu 4.4 %, Mg 1.5 %\nB: Al 97.5 %, Mg 2.5 %"},
		{"wide, % in the cells", "recipe,Al,Cu\nA,balance,4%\nB,95%,5%\n", "A: Al 96 %, Cu 4 %\nB: Al 95 %, Cu 5 %"},
		{"wide, plain", "alloy name,Al,Cu,Mg\nA,bal.,4.4,1.5\nB,Bal,0.2,0.5\n", "A: Al 94.1, Cu 4.4, Mg 1.5\nB: Al 99.3, Cu 0.2, Mg 0.5"},
		{"wide, shares of 1", "portfolio,Bond,Stock,Cash\nA,.3,.2,rest\nB,.5,.5,0\nC,.25,.25,.5\n", "A: Bond 0.3, Stock 0.2, Cash 0.5\nB: Bond 0.5, Stock 0.5\nC: Bond 0.25, Stock 0.25, Cash 0.5"},
		{"wide, the whole named", "recipe,Rose,Musk,DPG\nA,30,12,q.s. 1000\nB,5,,to 100\nC,1,2,3\n", "A: Rose 30, Musk 12, DPG 958\nB: Rose 5, DPG 95\nC: Rose 1, Musk 2, DPG 3"},
		{"wide, a whole of 1 named", "recipe,Bond,Stock,Cash\nA,.3,.2,rest 1\nB,.5,,rest\n", "A: Bond 0.3, Stock 0.2, Cash 0.5\nB: Bond 0.5, Cash 0.5"},
		{"wide, in one recipe only", "recipe,Rose,Musk,DPG\nA,30,12,58\nB,5,60,35\nC,1,9,rest\n", "A: Rose 30, Musk 12, DPG 58\nB: Rose 5, Musk 60, DPG 35\nC: Rose 1, Musk 9, DPG 90"},
		{"wide, a sum behind", "recipe,Rose,Musk,DPG,Total,pH\nA,30,12,q.s.,100,5\nB,5,10,q.s.,100,5\nC,5,11,84,100,6\nD,5,12,q.s.,100,5\nE,5,13,q.s.,100,6\n",
			"A: Rose 30, Musk 12, DPG 58\nB: Rose 5, Musk 10, DPG 85\nC: Rose 5, Musk 11, DPG 84\nD: Rose 5, Musk 12, DPG 83\nE: Rose 5, Musk 13, DPG 82"},
		{"turned", "Raw material,Day,Night\nAqua,q.s. to 100,60\nUrea,0.1,q.s.\n", "Day: Aqua 99.9, Urea 0.1\nNight: Aqua 60, Urea 40"},
		{"turned, text beside the amounts", "INCI;CAS;Phase;Day;Night\nAqua;7732-18-5;A;q.s. 100;q.s. 100\nGlycerin;56-81-5;A;4,5;3\nUrea;57-13-6;;5;\nTotal;;;100;100\npH;;;5,5;6\n",
			"Day: Aqua 90.5, Glycerin 4.5, Urea 5\nNight: Aqua 97, Glycerin 3"},
		{"turned, names that are units", "Element,AA2024,AA6061\nAl,bal.,bal.\nMg,1.5,1\nCu,4,\n", "AA2024: Al 94.5, Mg 1.5, Cu 4\nAA6061: Al 99, Mg 1"},
		{"long, names that are units", "Formula,component,quantity\nA,Al,bal. 100\nA,Mg,1.5\nB,Cu,30\nB,Mg,70\n", "A: Al 98.5, Mg 1.5\nB: Cu 30, Mg 70"},
		{"wide, rests of several", "Alloy,Al,Ti,V,Hardness HV\nA,bal.,1,,90\nB,6,Bal.,4,350\n", "A: Al 99, Ti 1\nB: Al 6, Ti 90, V 4"},
		{"alone", "recipe,Gin,Rum\nA,q.s. 100 %,\nB,3 %,97 %\n", "A: Gin 100 %\nB: Gin 3 %, Rum 97 %"},
	} {
		b, err := Read(strings.NewReader(c.file), "book.csv", Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := bookText(b); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
		if !slices.ContainsFunc(b.Notes, func(n Note) bool { return strings.Contains(n.Message, "makes up the rest") }) {
			t.Errorf("%s: there is no note of it: %v", c.name, b.Notes)
		}
	}
}

// Whatever stands for the rest is read so, and what only begins like it is not.
func TestRemainderWords(t *testing.T) {
	units := measure.DefaultUnits()
	for _, text := range strings.Split("q.s.|qs|Q.S.|q. s.|q.s.p.|csp|bal|Bal.|balance|rest|Rest|reste|remainder|rem.", "|") {
		if q, message, _ := measure.ParseQuantity(text, measure.DecimalPoint, units); message != "" || !q.IsRemainder || !q.Amount.IsZero() {
			t.Errorf("%s: %+v, %s", text, q, message)
		}
	}
	for _, text := range strings.Split("q.s. 100|qs100|QS to 100|q.s. ad 100|q.s.p. 100|qsp 100|csp 100|q.s. up to 100|q.s. to make 100|bal. to 100|balance (100)|rest (to 100)|rest = 100|ad 100|auf 100|to 100|up to 100.0|100|ad 100 %|to 100%|q.s. 100 % w/w", "|") {
		q, message, _ := measure.ParseQuantity(text, measure.DecimalPoint, units)
		if message != "" || q.IsRemainder != (text != "100") || q.Amount != measure.MustAmount("100") {
			t.Errorf("%s: %+v, %s", text, q, message)
		}
	}
	for _, text := range strings.Split("q.s. pH 5.5|rest of it|restaurant|balanced|up to 5|to taste|ad lib|q.s. 0|q.s. 90-100|to 100 drops more|qst", "|") {
		if q, message, _ := measure.ParseQuantity(text, measure.DecimalPoint, units); message == "" && q.IsRemainder {
			t.Errorf("%s is read as a rest: %+v", text, q)
		}
	}
}

// In a workbook it is the same in all forms, with percent formats too.
func TestRemainderWorkbook(t *testing.T) {
	for form, rows := range map[string][][]any{
		"wide":   {{"recipe", "Aqua", "Urea", "Oil"}, {"Day", "q.s. 100", 0.001, 0.03}, {"Night", "q.s.", 0.4, nil}},
		"turned": {{"INCI", "Day", "Night"}, {"Aqua", "q.s. 100", "q.s."}, {"Urea", 0.001, 0.4}, {"Oil", 0.03, nil}},
		"long":   {{"recipe", "ingredient", "amount"}, {"Day", "Aqua", "q.s. 100"}, {"Day", "Urea", 0.001}, {nil, "Oil", 0.03}, {"Night", "Aqua", "q.s."}, {nil, "Urea", 0.4}},
	} {
		f := excelize.NewFile()
		percent, err := f.NewStyle(&excelize.Style{NumFmt: 10})
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", i+1), &row); err != nil {
				t.Fatal(err)
			}
		}
		var file bytes.Buffer
		if err := errors.Join(f.SetCellStyle("Sheet1", "B2", "D6", percent), f.Write(&file), f.Close()); err != nil {
			t.Fatal(err)
		}
		b, err := Read(&file, "book.xlsx", Options{})
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		if got, want := bookText(b), "Day: Aqua 96.9 %, Urea 0.1 %, Oil 3 %\nNight: Aqua 60 %, Urea 40 %"; got != want {
			t.Errorf("%s: %s\nwant\n%s", form, got, want)
		}
	}
}
