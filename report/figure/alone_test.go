package figure

import "testing"

// In a file of its own all marks of a figure stand as far from where they are on a
// page: within the margin and below the title.
func TestAloneMovesAll(t *testing.T) {
	f := &Figure{Name: "f", Title: "A title", Width: 300, Height: 200}
	f.Rect(10, 20, 30, 40, Soft)
	f.Line(10, 20, 50, 60, 1, Ink)
	f.Path([]float64{10, 20, 50, 60, 90, 100}, 1, Accent)
	f.Dot(10, 20, 3, Ink)
	f.Write(10, 20, SmallSize, Start, Ink, "text")
	alone := f.alone()
	if alone.Width != 300+24 || alone.Height != 200+26+24 || len(alone.marks) != len(f.marks)+2 {
		t.Fatalf("alone it is %v by %v with %d marks", alone.Width, alone.Height, len(alone.marks))
	}
	for k, m := range f.marks {
		want := m
		want.x, want.y = m.x+12, m.y+38
		if m.kind == line {
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
