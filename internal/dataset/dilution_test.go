package dataset

import (
	"fmt"
	"testing"
)

// The name of a dilution has a substance, a percentage and a solvent, in several languages. Names of contents, ranges and
// concentrations without a solvent are none.
func TestParseDilution(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ambroxan 10 % in DPG":                      "Ambroxan|0.1|DPG|0.9",
		"Rose oxide 1% in TEC":                      "Rose oxide|0.01|TEC|0.99",
		"Iso E Super (50 % dans DPG)":               "Iso E Super|0.5|DPG|0.5",
		"Ambrofix @10% DPG":                         "Ambrofix|0.1|DPG|0.9",
		"Ambrofix@10%DPG":                           "Ambrofix|0.1|DPG|0.9",
		"Galaxolide 50 % IPM":                       "Galaxolide|0.5|IPM|0.5",
		"Galaxolide 50% @ IPM":                      "Galaxolide|0.5|IPM|0.5",
		"Damascone beta 0,1 % i etanol":             "Damascone beta|0.001|etanol|0.999",
		"Aldehyde C-12 MNA, 12.5 % in DPG":          "Aldehyde C-12 MNA|0.125|DPG|0.875",
		"Vanillin - 10 % sol. in EtOH":              "Vanillin|0.1|EtOH|0.9",
		"Civet [10 % w/w in alcohol (96 %)]":        "Civet|0.1|alcohol|0.9",
		"Iso E Super (IFF) 10 % in DPG (Firmenich)": "Iso E Super (IFF)|0.1|DPG|0.9",
		"Indol 10 % in Benzylbenzoat":               "Indol|0.1|Benzylbenzoat|0.9",
		"Indole 10 percent BB":                      "Indole|0.1|BB|0.9",
		"Ванилин 10 % в этаноле":                    "Ванилин|0.1|этаноле|0.9",
		"Cis-3-hexénol à 10 % DPG":                  "Cis-3-hexénol|0.1|DPG|0.9",
		"Vanilline 5 % dans l'alcool":               "Vanilline|0.05|alcool|0.95",
		"Chilli 2 % in sunflower oil":               "Chilli|0.02|sunflower oil|0.98",
		"Galaxolide 50 % in DPG, 3-year-old":        "Galaxolide|0.5|DPG, 3-year-old|0.5",
		"Alcohol 96 %":                              "",
		"Acrylic dispersion 50 %":                   "",
		"cream 40 % fat":                            "",
		"Gouda 48 % in dry matter":                  "",
		"Chocolat 70 % en cacao":                    "",
		"Alcohol 96 % in volume":                    "",
		"Hedione 0 % in DPG":                        "",
		"Hedione 100 % in DPG":                      "",
		"Hedione 110 % in DPG":                      "",
		"Hedione 5/10 % in DPG":                     "",
		"Hedione 123,5 % in DPG":                    "",
		"Hedione 10 % indigo":                       "",
		"Hedione (10 % in DPG":                      "",
		"Hedione (IFF, 10 % in DPG)":                "",
		"DPG 10 % in dpg":                           "",
		"10 % in DPG":                               "",
		"Hedione in DPG":                            "",
		"Milk powder 10 % water soluble":            "",
	} {
		got := ""
		if d, _, ok := parseDilution(name); ok {
			got = fmt.Sprintf("%s|%v|%s|%v", d.Substance, d.Share, d.Solvent, d.SolventShare())
			if d.Ingredient != name {
				t.Errorf("%q is called %q", name, d.Ingredient)
			}
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", name, got, want)
		}
	}
}

// A percentage of alcohol or water is a dilution only beside a name that can be nothing else.
func TestDilutions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		names []string
		want  int
	}{
		{[]string{"Rum 40 % alcohol", "Lime"}, 0},
		{[]string{"Vanillin 10 % alcohol", "Ambroxan 10 % in DPG", "DPG", "Hedione"}, 2},
		{[]string{"Ambroxan 10 % DPG"}, 1},
		{[]string{"Hedione", "DPG"}, 0},
	} {
		in, err := NewIngredients(test.names...)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Book{Ingredients: in}).Dilutions(); len(got) != test.want {
			t.Errorf("%q: %+v", test.names, got)
		}
	}
}
