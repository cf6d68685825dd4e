// Package geom is what the program of a browser has of geometry, which kir's draws never
// hold: the names that package parquet is compiled with. No value implements T. See
// scripts/site-modules.
package geom

// T is a geometry.
type T interface {
	Layout() Layout
	Bounds() *Bounds
	isGeometry()
}

// The kinds of geometry.
type (
	Point              struct{ T }
	LineString         struct{ T }
	Polygon            struct{ T }
	MultiPoint         struct{ T }
	MultiLineString    struct{ T }
	MultiPolygon       struct{ T }
	GeometryCollection struct{ T }
)

// A Layout says which coordinates there are.
type Layout int

// The layouts.
const (
	NoLayout Layout = iota
	XY
	XYZ
	XYM
	XYZM
)

// ZIndex says that there is no such coordinate.
func (Layout) ZIndex() int { return -1 }

// MIndex says that there is no such coordinate.
func (Layout) MIndex() int { return -1 }

// A Bounds is empty.
type Bounds struct{}

// IsEmpty says so.
func (*Bounds) IsEmpty() bool { return true }

// Min returns 0.
func (*Bounds) Min(int) float64 { return 0 }

// Max returns 0.
func (*Bounds) Max(int) float64 { return 0 }
