// Package pagestyle has the style sheet that the pages of reports, of kir serve and of the
// documents share. It stands apart from package view, so that what writes the documents as pages
// is built without all that reports need.
package pagestyle

import (
	_ "embed"
	"strings"

	"kir/internal/report/figure"
)

//go:embed page.css
var sheet string // style sheet, with placeholders for colours

// Text returns the style sheet. Pages may add styles for what they alone have.
func Text() string {
	onLight, onDark := figure.Variables()
	return strings.NewReplacer("LIGHT", onLight, "DARK", onDark, "FIGURES", figure.Style()).Replace(sheet)
}
