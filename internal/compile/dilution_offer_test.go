package compile

import (
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kir/internal/dataset"
)

// Dilutions are named, and their constituents become a table when that is said. Its shares make the limit that the problem
// has behind # one of the solvent in all ingredients.
func TestUseDilutions(t *testing.T) {
	const (
		table = "recipe,Ambroxan 10 % in dpg,\"Galaxolide 12,5 % DPG\",Rose oxide 1% in TEC,DPG,ambroxan,Hedione\nA,10,20,,30,,40\nB,,40,5,,5,50\nC,20,,,40,,40\n"
		list  = "ingredient,constituent,share\nAmbroxan 10 % in dpg,ambroxan,0.1\nAmbroxan 10 % in dpg,DPG,0.9\n\"Galaxolide 12,5 % DPG\",Galaxolide,0.125\n\"Galaxolide 12,5 % DPG\",DPG,0.875\n" +
			"Rose oxide 1% in TEC,Rose oxide,0.01\nRose oxide 1% in TEC,TEC,0.99\nDPG,DPG,1\nambroxan,ambroxan,1\n"
		limit = "limit: {attribute: DPG, max: 0.58} # including"
	)
	d, out := drafted(t, "bar.csv", table, dataset.Options{})
	if got := d.DilutionsText(); got != `3 ingredients are dilutions, such as "Ambroxan 10 % in dpg"` {
		t.Errorf("it says %q", got)
	}
	if written := finished(t, d, out); strings.Contains(written, "constituents") || strings.Contains(written, "limit") {
		t.Errorf("unasked the draft is\n%s", written)
	}
	text, err := d.UseDilutions("constituents.csv")
	if err != nil || string(text) != list {
		t.Fatalf("the table is %q, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(out), "constituents.csv"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	written := finished(t, d, out)
	if !strings.Contains(written, "\nconstraints:\n  - constituents: {file: constituents.csv} # ") || !strings.Contains(written, "\n#   - "+limit) {
		t.Fatalf("the draft is\n%s", written)
	}
	for _, max := range []string{"0.58", "0.5"} {
		limited := strings.Replace(strings.Replace(written, "#   - "+limit, "  - "+limit, 1), "0.58", max, 1)
		p, err := Load(t.Context(), out, Options{Text: []byte(limited)})
		if err != nil {
			t.Errorf("with at most %s: %v", max, err)
			continue
		}
		for _, w := range p.Warnings {
			if strings.Contains(w, "constituents") {
				t.Errorf("it warns: %s", w)
			}
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A table without dilutions, and one whose ingredients have an attribute called as a constituent, say why no table of
// constituents can be written.
func TestUseDilutionsErrors(t *testing.T) {
	d, _ := drafted(t, "bar.csv", "recipe,Alcohol 96 %,Lime\nA,60,40\nB,50,50\n", dataset.Options{})
	if _, err := d.UseDilutions("c.csv"); d.DilutionsText() != "" || err == nil || !strings.Contains(err.Error(), "bar.csv: no ingredient is named as a dilution: write names such as Ambroxan 10 % in DPG") {
		t.Errorf("without dilutions it says %q, %v", d.DilutionsText(), err)
	}
	if _, err := new(Draft).UseDilutions("c.csv"); err == nil || !strings.Contains(err.Error(), "no ingredient is named as a dilution") {
		t.Errorf("without recipes it says %v", err)
	}
	list, err := dataset.ReadIngredients(strings.NewReader("name,DPG (%)\nAmbroxan 10 % in DPG,90\nLime,0\n"), "list.csv", dataset.Layout{})
	if err != nil {
		t.Fatal(err)
	}
	d, _ = drafted(t, "bar.csv", "recipe,Ambroxan 10 % in DPG,Lime\nA,60,40\nB,50,50\n", dataset.Options{Ingredients: list})
	if _, err := d.UseDilutions("c.csv"); d.DilutionsText() != "" || err == nil || !strings.Contains(err.Error(), `"DPG" would be a constituent, and is an attribute of the ingredients`) {
		t.Errorf("with an attribute of the name it says %q, %v", d.DilutionsText(), err)
	}
	d, _ = drafted(t, "bar.csv", "recipe,Ambroxan 10 % in DPG,Lime\nA,60,40\nB,50,50\n", dataset.Options{})
	if got := d.DilutionsText(); got != `the ingredient "Ambroxan 10 % in DPG" is a dilution` {
		t.Errorf("of one dilution it says %q", got)
	}
}

// A share is rounded up to two digits, or to two decimals.
func TestRoundUp(t *testing.T) {
	for share, want := range map[string]string{"0.58": "0.58", "0.5801": "0.59", "0.05": "0.05", "0.0501": "0.051", "0.1": "0.1", "1/3": "0.34", "0.00012345": "0.00013", "1/1000000000": "0.000001", "1": "1"} {
		r, _ := new(big.Rat).SetString(share)
		if got := roundUp(r); got != want {
			t.Errorf("%s is rounded up to %s, want %s", share, got, want)
		}
	}
}
