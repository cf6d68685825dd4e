package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	fixed26 "golang.org/x/image/math/fixed"

	"kir/internal/testonly/golden"
)

// hostile are texts that must stay text.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(2)>`, "]]>", "-->", "</svg>", "&amp;", "a\x00b\x1b[31m\r\n", "\ufffe\uffff",
	strings.Repeat("x", 300), strings.Repeat("ﷺ", 50), "عصير الليمون", "\u202egnp.exe", "レモン", "e\u0301\u0301", "\xff\xfe", "",
}

// sample draws every kind of mark with a text.
func sample(text string) *Figure {
	f := &Figure{Name: "sample", Title: text, Text: text + " in words", Width: 200, Height: 100}
	f.Rect(0, 0, 50, 20, Shade)
	f.Segment(50, 0, 50, 20, Colour(1))
	f.FillTranslucent(0, 20, 50, 20, Accent)
	f.Line(0, 50, 200, 50, 1, Line)
	f.Dashed(0, 60, 200, 60, 1.5, Ink)
	f.Path([]float64{0, 0, 10, 20, 30, 5}, 2, Accent)
	f.Dot(20, 30, 4, Accent)
	f.Ring(40, 30, 4, Ink)
	f.FillShade(120, 22, 20, 16, 0.5, Accent)
	f.DashedPath([]float64{110, 50, 120, 44, 130, 50}, 2, Soft)
	f.WriteOver(150, 64, 12, Start, Ink, text)
	f.FillArea([]float64{60, 30, 90, 25, 80, 45}, Accent)
	f.Group(text, text, func() { f.Dot(100, 30, 4, Ink) })
	f.Write(10, 90, 12, Start, Ink, text)
	f.WriteBold(10, 90, 12, Middle, Soft, text)
	f.WriteOn(60, 15, 11, End, Colour(1), text)
	f.Key(text, func(f *Figure, x, y float64) { f.Rect(x, y, 20, 10, Colour(7)) })
	return f
}

// elements returns how many elements of each name a document has, and all its
// text. It fails on what is not well-formed.
func elements(t *testing.T, document string) (map[string]int, string) {
	t.Helper()
	counts := make(map[string]int)
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts, text.String()
		}
		if err != nil {
			t.Fatalf("%v in %s", err, document)
		}
		switch token := token.(type) {
		case xml.StartElement:
			counts[token.Name.Local]++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("<%s %s=%q>", token.Name.Local, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			text.Write(token)
		}
	}
}

// Text stays text whatever it is, in a page and in a file; a file has the title
// and the keys besides.
func TestSVGIsWellFormed(t *testing.T) {
	want, _ := elements(t, sample("plain").SVG())
	for _, text := range hostile {
		f := sample(text)
		got, _ := elements(t, f.SVG())
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q makes elements: %v, want %v", text, got, want)
		}
		var b bytes.Buffer
		if err := WriteSVG(&b, f); err != nil {
			t.Fatal(err)
		}
		alone, _ := elements(t, b.String())
		for name, more := range map[string]int{"text": 2, "rect": 2, "style": 1} {
			if alone[name] != want[name]+more {
				t.Errorf("%q: the file has %d of %s, want %d", text, alone[name], name, want[name]+more)
			}
		}
	}
	if _, text := elements(t, sample("a <b> & c").SVG()); strings.Count(text, "a <b> & c") != 7 {
		t.Errorf("the text is %q", text)
	}
}

// A group has its entry and its hover text, and holds the marks that were drawn in it.
func TestGroup(t *testing.T) {
	f := &Figure{Name: "f", Title: "A title", Text: "Words.", Width: 100, Height: 50}
	f.Group("known", "Daiquiri & co.", func() { f.Dot(10, 20, 3, Ink) })
	f.Group("", "a draw", func() { f.Ring(30, 20, 3, Ink) })
	for _, want := range []string{
		`<g data-entry="known"><title>Daiquiri &amp; co.</title><circle cx="10" cy="20" r="3" class="f-ink"/></g>`,
		`<g><title>a draw</title><circle cx="30" cy="20" r="3" class="s-ink" stroke-width="1.5"/></g>`,
	} {
		if svg := f.SVG(); !strings.Contains(svg, want) {
			t.Errorf("there is no %s in %s", want, svg)
		}
	}
}

// A figure says what it shows.
func TestSVGHasAnAlternative(t *testing.T) {
	svg := sample("it").SVG()
	for _, want := range []string{`role="img"`, `aria-labelledby="sample-title sample-text"`, `<title id="sample-title">it</title>`, `<desc id="sample-text">it in words</desc>`} {
		if !strings.Contains(svg, want) {
			t.Errorf("there is no %s in %s", want, svg)
		}
	}
}

// A picture has the size of the file that is drawn, two and a half dots a
// pixel, and all that is drawn leaves a trace.
func TestPNG(t *testing.T) {
	for _, text := range append(hostile, "plain") {
		f := sample(text)
		var b bytes.Buffer
		if err := WritePNG(&b, f); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		image, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		g := f.withTitleAndKeys()
		if size := image.Bounds().Size(); math.Abs(float64(size.X)-2.5*g.Width) > 1 || math.Abs(float64(size.Y)-2.5*g.Height) > 1 {
			t.Errorf("%q: the picture is %v, want 2.5 times %v × %v", text, size, g.Width, g.Height)
		}
		// The centre of the segment, which has a fixed colour.
		x, y := int(math.Round(2.5*(figureMargin+75))), int(math.Round(2.5*(figureMargin+titleHeight+4)))
		if r, green, blue, _ := image.At(x, y).RGBA(); text == "plain" && (r>>8 != 0xe6 || green>>8 != 0x9f || blue>>8 != 0) {
			t.Errorf("the segment is %x %x %x", r>>8, green>>8, blue>>8)
		}
	}
}

// The widths are those of the fonts that pictures are drawn with.
func TestWidths(t *testing.T) {
	fonts, err := loadLiberationFonts()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var buffer sfnt.Buffer
	for r := rune(1); r <= unicode.MaxRune; r++ {
		var units [2]uint16
		for k, f := range fonts {
			at, err := f.GlyphIndex(&buffer, r)
			if err != nil {
				t.Fatal(err)
			}
			if at == 0 {
				break
			}
			advance, err := f.GlyphAdvance(&buffer, at, fixed26.I(unitsPerEm), font.HintingNone)
			if err != nil {
				t.Fatal(err)
			}
			units[k] = uint16(advance.Round())
			if k == 1 {
				fmt.Fprintf(&b, "%x %d %d\n", r, units[0], units[1])
			}
		}
	}
	golden.Compare(t, "widths.txt", []byte(b.String()))
}

// Text is taken to be as wide as Liberation Sans makes it, but for kerning, and
// what it has no letters for as wide as most fonts make it.
func TestTextWidth(t *testing.T) {
	fonts, err := loadLiberationFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, bold := range []bool{false, true} {
		const larger = 100 // so that whole pixels are small
		face, err := opentype.NewFace(fonts.font(bold), &opentype.FaceOptions{Size: 12 * larger, DPI: 72})
		if err != nil {
			t.Fatal(err)
		}
		defer face.Close()
		for _, text := range []string{
			"Champagne", "Grapefruit juice", "Crème de cassis", "WWWMMM@@", "illicit tilt", "54.8 %", "12,345.678", "LIGHT CRÈME DE CACAO", "f/t (r) [I] j",
			"Angostura bitters + Benedictine", "share of the book's recipes", "— … — ÄÖÜ ß", "draws, ± 2 standard errors", "β; Λ(β) upwards", "лимон",
		} {
			if got, want := textWidth(text, 12, bold), float64(font.MeasureString(face, text))/64/larger; got < want-0.01 || got > 1.03*want {
				t.Errorf("%q is taken for %.2f wide and is %.2f", text, got, want)
			}
		}
	}
	for text, want := range map[string]float64{"レモン": 36, "e\u0301": 0.556 * 12, "\u0301": 0, "": 0} {
		if got := TextWidth(text, 12); math.Abs(got-want) > 0.01 {
			t.Errorf("%q is taken for %.2f wide, want %.2f", text, got, want)
		}
	}
}

// Each text says how wide it is to be made, whatever the font.
func TestTextHasItsWidth(t *testing.T) {
	f := sample("Champagne")
	d := xml.NewDecoder(strings.NewReader(f.SVG()))
	texts := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok || e.Name.Local != "text" {
			continue
		}
		texts++
		of := map[string]string{}
		for _, a := range e.Attr {
			of[a.Name.Local] = a.Value
		}
		size, err := strconv.ParseFloat(of["font-size"], 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := formatCoordinate(textWidth("Champagne", size, of["font-weight"] == "bold")); of["textLength"] != want || of["lengthAdjust"] != "spacingAndGlyphs" {
			t.Errorf("a text is %v, want textLength %s", of, want)
		}
	}
	if texts != 4 {
		t.Errorf("there are %d texts, want 4", texts)
	}
}

// A clipped text fits, is a beginning, and keeps whole characters.
func TestClip(t *testing.T) {
	for _, text := range append(hostile, "Champagne", "Grapefruit juice") {
		for _, width := range []float64{20, 55, 130} {
			got := Clip(text, width, 12)
			if TextWidth(got, 12) > width {
				t.Errorf("%q clipped to %v is %v wide", text, width, TextWidth(got, 12))
			}
			begin, cut := strings.CutSuffix(got, "…")
			if !strings.HasPrefix(printable(text), begin) || !cut && got != printable(text) || !utf8.ValidString(got) {
				t.Errorf("%q clipped to %v is %q", text, width, got)
			}
		}
	}
	if got := Clip("Grapefruit juice", 70, 12); got != "Grapefruit…" {
		t.Errorf("clipped: %q", got)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		most   int
		want   string
		digits int
	}{
		{0, 1, 6, "[0 0.2 0.4 0.6 0.8 1]", 1},
		{0, 10.6, 5, "[0 5 10]", 0},
		{0, 0.043, 5, "[0 0.01 0.02 0.03 0.04]", 2},
		{-3, 3, 5, "[-2 0 2]", 0},
		{0, 100, 5, "[0 50 100]", 0},
		{0, 95, 5, "[0 20 40 60 80]", 0},
		{2, 2, 5, "[2]", 0},
		{0.5, 4.5, 4, "[1 2 3 4]", 0},
	} {
		ticks, digits := Ticks(c.lo, c.hi, c.most)
		var short []float64
		for _, v := range ticks {
			short = append(short, math.Round(v*1e9)/1e9)
		}
		if got := fmt.Sprint(short); got != c.want || digits != c.digits {
			t.Errorf("Ticks(%v, %v, %d) = %v, %d; want %v, %d", c.lo, c.hi, c.most, got, digits, c.want, c.digits)
		}
	}
	// However odd the range, there are no more than asked for, within it.
	for _, lo := range []float64{0, -1e-9, 3.7, -4.2e5, 1e12} {
		for span := 1e-12; span < 1e12; span *= 3.3 {
			ticks, _ := Ticks(lo, lo+span, 6)
			if len(ticks) < 2 && span > 1e-8*math.Abs(lo) {
				t.Fatalf("%v from %v to %v", ticks, lo, lo+span)
			}
			for _, v := range ticks {
				if v < lo-span*1e-6 || v > lo+span*(1+1e-6) {
					t.Fatalf("%v is not within %v and %v", v, lo, lo+span)
				}
			}
			if len(ticks) > 6 {
				t.Fatalf("%d ticks from %v to %v", len(ticks), lo, lo+span)
			}
		}
	}
}

// Keys that do not fit a row begin another, and the figure grows by it.
func TestKeys(t *testing.T) {
	f := &Figure{Width: 200, Height: 50}
	for range 3 {
		f.Key("a key of some length", func(f *Figure, x, y float64) {
			if x < 0 || x+20 > 200 {
				t.Errorf("a key is at %v", x)
			}
		})
	}
	f.PlaceKeys()
	if f.Height < 50+3*17 {
		t.Errorf("the height is %v", f.Height)
	}
	before := f.Height
	if f.PlaceKeys(); f.Height != before {
		t.Error("keys are placed twice")
	}
}

// Every fixed colour carries its text with a contrast of at least 4.5, and
// every paint of a page its ground, but for lines and shades (WCAG 2, 1.4.3).
func TestContrast(t *testing.T) {
	for k := range ColourCount {
		fill, text := Colour(k).Hex()
		if c := contrast(t, fill, text); c < 4.5 {
			t.Errorf("colour %d: the contrast of %s on %s is %.2f", k, text, fill, c)
		}
	}
	for name, paints := range map[string][len(paintClasses)]string{"light": lightColours, "dark": darkColours} {
		for _, p := range []Paint{Ink, Soft, Accent} {
			if c := contrast(t, paints[p], paints[Ground]); c < 4.5 {
				t.Errorf("%s: the contrast of %s is %.2f", name, paintClasses[p], c)
			}
		}
	}
}

// contrast returns the contrast ratio of WCAG 2.
func contrast(t *testing.T, a, b string) float64 {
	luminance := func(hex string) float64 {
		var r, g, b uint8
		if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &r, &g, &b); err != nil {
			t.Fatal(err)
		}
		linear := func(v uint8) float64 {
			s := float64(v) / 255
			if s <= 0.04045 {
				return s / 12.92
			}
			return math.Pow((s+0.055)/1.055, 2.4)
		}
		return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
	}
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// Marked whole numbers are 1, 2 or 5 times a power of ten apart, and no more than
// asked for.
func TestEvery(t *testing.T) {
	for numbers, want := range map[int]int{1: 1, 14: 1, 15: 2, 29: 2, 30: 5, 75: 10, 150: 20, 300: 50, 2000: 200} {
		if got := TickStep(numbers, 14); got != want {
			t.Errorf("of %d numbers every %d is marked, want %d", numbers, got, want)
		}
	}
}

// What is together in a composition differs in colour, and has the same everywhere.
func TestColours(t *testing.T) {
	list := []map[string]int{{"a": 50, "b": 30, "c": 1}, {"d": 9, "e": 8, "f": 7, "g": 6, "h": 5, "i": 4, "a": 3}}
	for k := range ColourCount - 9 {
		list = append(list, map[string]int{fmt.Sprint("other ", k): 1})
	}
	colours := Colours(list)
	if len(colours) != ColourCount || colours["a"] != Colour(0) || colours["b"] != Colour(1) {
		t.Errorf("the colours are %v", colours)
	}
	// A colour stands for one ingredient in all of them.
	seen := map[Paint]string{}
	for name, paint := range colours {
		if other, taken := seen[paint]; taken {
			t.Errorf("%s and %s have one colour", name, other)
		}
		seen[paint] = name
	}
	fills := map[string]bool{}
	for k := range plainColourCount {
		fill, _ := Colour(k).Hex()
		banded, _ := Colour(k + plainColourCount).Hex()
		if fills[fill] || fill != banded || Colour(k).Banded() || !Colour(k+plainColourCount).Banded() {
			t.Errorf("colour %d is %s, and with a band %s", k, fill, banded)
		}
		fills[fill] = true
	}
}

// What has a colour keeps it, whatever else comes, and greys are left to what comes last.
func TestPalette(t *testing.T) {
	var p Palette[int]
	p.Add([]map[string]int{{"a": 5, "b": 3}})
	before := p.Paints()
	p.Add([]map[string]int{{"c": 90, "b": 2, "a": 1}, {"d": 1}})
	all := map[string]int{}
	for k := range ColourCount {
		all[fmt.Sprintf("e%02d", k)] = 1
	}
	p.Add([]map[string]int{all})
	paints := p.Paints()
	names := []string{"a", "b", "c", "d"}
	for k := range ColourCount {
		names = append(names, fmt.Sprintf("e%02d", k))
	}
	for k, name := range names {
		want := Colour(k)
		if k >= Grey {
			want = Colour(Grey + (k-Grey)%2)
		}
		if paints[name] != want {
			t.Errorf("%s has the colour %d", name, paints[name].Index())
		}
	}
	if len(before) != 2 || before["a"] != paints["a"] || before["b"] != paints["b"] {
		t.Errorf("at first the colours were %v", before)
	}
}

// Readers with any kind of colour vision can tell the colours apart: as protanopes,
// deuteranopes and tritanopes see them (Machado, Oliveira and Fernandes 2009), the nearest
// two of the twelve are as far apart as the nearest of Okabe's and Ito's seven, by CIEDE2000.
func TestColourVision(t *testing.T) {
	visions := map[string][3][3]float64{
		"trichromat":  {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanope":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
		"deuteranope": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
		"tritanope":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
	}
	nearest := func(of int) float64 {
		least := math.Inf(1)
		for _, vision := range visions {
			for a := range of {
				for b := range a {
					x, _ := Colour(a).Hex()
					y, _ := Colour(b).Hex()
					least = min(least, ciede2000(lab(t, x, vision), lab(t, y, vision)))
				}
			}
		}
		return least
	}
	if seven, all := nearest(7), nearest(plainColourCount); all < seven || seven < 10 {
		t.Errorf("of seven colours the nearest two are %.2f apart, and of all %.2f", seven, all)
	}
}

// lab returns a colour in CIELAB as somebody sees it.
func lab(t *testing.T, hex string, vision [3][3]float64) [3]float64 {
	t.Helper()
	var c [3]uint8
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
		t.Fatal(err)
	}
	var linear, seen [3]float64
	for k, v := range c {
		if s := float64(v) / 255; s <= 0.04045 {
			linear[k] = s / 12.92
		} else {
			linear[k] = math.Pow((s+0.055)/1.055, 2.4)
		}
	}
	for k, row := range vision {
		seen[k] = max(0, min(1, row[0]*linear[0]+row[1]*linear[1]+row[2]*linear[2]))
	}
	f := func(v, white float64) float64 {
		if v /= white; v > 216.0/24389 {
			return math.Cbrt(v)
		}
		return (24389.0/27*v + 16) / 116
	}
	x := f(0.4124564*seen[0]+0.3575761*seen[1]+0.1804375*seen[2], 0.95047)
	y := f(0.2126729*seen[0]+0.7151522*seen[1]+0.0721750*seen[2], 1)
	z := f(0.0193339*seen[0]+0.1191920*seen[1]+0.9503041*seen[2], 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// ciede2000 is the difference of two colours (Sharma, Wu and Dalal 2005).
func ciede2000(p, q [3]float64) float64 {
	const degree = math.Pi / 180
	chroma := (math.Hypot(p[1], p[2]) + math.Hypot(q[1], q[2])) / 2
	g := 0.5 * (1 - math.Sqrt(math.Pow(chroma, 7)/(math.Pow(chroma, 7)+math.Pow(25, 7))))
	a, b := (1+g)*p[1], (1+g)*q[1]
	c, d := math.Hypot(a, p[2]), math.Hypot(b, q[2])
	angle := func(y, x float64) float64 { return math.Mod(math.Atan2(y, x)/degree+360, 360) }
	h, i := angle(p[2], a), angle(q[2], b)
	turn, mean := i-h, (h+i)/2
	if math.Abs(turn) > 180 {
		turn -= math.Copysign(360, turn)
		mean = math.Mod(mean+180, 360)
	}
	l, m := (p[0]+q[0])/2, (c+d)/2
	hue := 2 * math.Sqrt(c*d) * math.Sin(turn*degree/2)
	weight := 1 - 0.17*math.Cos((mean-30)*degree) + 0.24*math.Cos(2*mean*degree) + 0.32*math.Cos((3*mean+6)*degree) - 0.2*math.Cos((4*mean-63)*degree)
	rotation := -2 * math.Sqrt(math.Pow(m, 7)/(math.Pow(m, 7)+math.Pow(25, 7))) * math.Sin(60*degree*math.Exp(-math.Pow((mean-275)/25, 2)))
	x := (q[0] - p[0]) / (1 + 0.015*math.Pow(l-50, 2)/math.Sqrt(20+math.Pow(l-50, 2)))
	y := (d - c) / (1 + 0.045*m)
	z := hue / (1 + 0.015*m*weight)
	return math.Sqrt(x*x + y*y + z*z + rotation*y*z)
}
