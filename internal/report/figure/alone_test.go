package figure

import (
	"bytes"
	"image/png"
	"testing"

	"kir/internal/testonly/golden"
)

// A figure with all there is is drawn as it was: every mark at its place, the frame of
// a chart with its numbers, the parts of a composition, and the keys.
func TestDrawnAsBefore(t *testing.T) {
	f := sample("a text that is <longer> than it has room for")
	f.Title, f.Width, f.Height = "Everything", 320, 260
	y := f.Frame(40, 110, 310, 200, 0.043, Percent, "share; %")
	f.Dot(100, y.At(0.02), 3, Accent)
	f.Dot(110, y.ClampedAt(0.1), 3, Accent)
	parts := []Slice{{Name: "Gin", Size: 60, Share: "60 %"}, {Name: "Lime juice", Size: 25, Share: "25 %"}, {Name: "Syrup", Size: 12, Share: "12 %"}, {Name: "Bitters", Size: 3, Share: "3 %"}}
	colours := Colours([]map[string]int{{"Gin": 60, "Lime juice": 25, "Syrup": 12, "Bitters": 3}})
	f.Stack(10, 225, 300, 24, parts, colours)
	for _, p := range parts {
		f.KeyOf(p.Name, colours[p.Name])
	}
	f.PlaceKeys()
	var svg, pixels bytes.Buffer
	if err := WriteSVG(&svg, f); err != nil {
		t.Fatal(err)
	}
	if err := WritePNG(&pixels, f); err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string][]byte{"testdata/every.svg": svg.Bytes(), "testdata/every.png": pixels.Bytes()} {
		if want := golden.Read(t, name, got); !same(t, got, want) {
			t.Errorf("%s is drawn otherwise (go test ./internal/report/figure -run TestDrawnAsBefore -update writes it anew)", name)
		}
	}
}

// same says whether two files are the same, or draw the same but for how much of a
// pixel at an edge is covered.
func same(t *testing.T, got, want []byte) bool {
	t.Helper()
	a, err := png.Decode(bytes.NewReader(got))
	if err != nil {
		return bytes.Equal(got, want)
	}
	b, err := png.Decode(bytes.NewReader(want))
	if err != nil || a.Bounds() != b.Bounds() {
		return false
	}
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, blue, _ := a.At(x, y).RGBA()
			r2, g2, blue2, _ := b.At(x, y).RGBA()
			if max(r, r2)-min(r, r2)+max(g, g2)-min(g, g2)+max(blue, blue2)-min(blue, blue2) > 0x2000 {
				return false
			}
		}
	}
	return true
}

// In a file of its own all marks of a figure stand as far from where they are on a
// page: within the margin and below the title.
func TestAloneMovesAll(t *testing.T) {
	f := &Figure{Name: "f", Title: "A title", Width: 300, Height: 200}
	f.Rect(10, 20, 30, 40, Soft)
	f.Line(10, 20, 50, 60, 1, Ink)
	f.Path([]float64{10, 20, 50, 60, 90, 100}, 1, Accent)
	f.Dot(10, 20, 3, Ink)
	f.Write(10, 20, SmallSize, Start, Ink, "text")
	alone := f.withTitleAndKeys()
	if alone.Width != 300+24 || alone.Height != 200+26+24 || len(alone.marks) != len(f.marks)+2 {
		t.Fatalf("alone it is %v by %v with %d marks", alone.Width, alone.Height, len(alone.marks))
	}
	for k, m := range f.marks {
		want := m
		want.x, want.y = m.x+12, m.y+38
		if m.kind == lineMark {
			want.x2, want.y2 = m.x2+12, m.y2+38
		}
		got := alone.marks[k+2] // after the ground and the title
		if got.x != want.x || got.y != want.y || got.x2 != want.x2 || got.y2 != want.y2 || len(got.points) != len(m.points) {
			t.Errorf("mark %d is %+v, want %+v", k, got, want)
		}
		for i, v := range got.points {
			if want := m.points[i] + []float64{12, 38}[i%2]; v != want {
				t.Errorf("point %d of mark %d is at %v, want %v", i, k, v, want)
			}
		}
	}
}
