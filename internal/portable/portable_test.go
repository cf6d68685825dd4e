package portable

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"kir/internal/testonly/testmode"
)

// A given is a function of one number with its truth, how far from it it may be, in ulps,
// and the numbers that it is tried at.
type given struct {
	name  string
	of    func(x float64) float64
	truth func(x *big.Float) *big.Float
	ulps  float64
	at    func(r *rand.Rand) float64
	slow  int // by how much fewer numbers are tried
}

func between(low, high float64) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return low + float64((high-low)*r.Float64()) }
}

// sizes are numbers of all exponents from low to high.
func sizes(low, high int, signed bool) func(r *rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		x := math.Ldexp(1+r.Float64(), low+r.IntN(high-low))
		if signed && r.IntN(2) == 0 {
			return -x
		}
		return x
	}
}

// nextToOne are numbers at all distances from 1.
func nextToOne(r *rand.Rand) float64 { return 1 + sizes(-52, -5, true)(r) }

// functions are those of one number.
func functions() []given {
	log := func(of float64) func(x *big.Float) *big.Float {
		by := reference.log(reference.of(of))
		return func(x *big.Float) *big.Float { return reference.quo(reference.log(x), by) }
	}
	next := func(x *big.Float) *big.Float { return reference.add(reference.of(1), x) }
	ln2 := reference.ln2()
	exp2 := func(x *big.Float) *big.Float { return reference.exp(reference.mul(x, ln2)) }
	expm1 := func(x *big.Float) *big.Float { return reference.sub(reference.exp(x), reference.of(1)) }
	log1p := func(x *big.Float) *big.Float { return reference.log(next(x)) }
	power := func(y float64) (of func(float64) float64, truth func(x *big.Float) *big.Float) {
		return func(x float64) float64 { return Pow(x, y) }, func(x *big.Float) *big.Float {
			return reference.exp(reference.mul(reference.of(y), reference.log(x)))
		}
	}
	square, squareTruth := power(2)
	root, rootTruth := power(1.0 / 3)
	high, highTruth := power(-1e15)
	odd, oddTruth := power(77.7)
	hypot := func(y float64) (of func(float64) float64, truth func(x *big.Float) *big.Float) {
		return func(x float64) float64 { return Hypot(x, y) }, func(x *big.Float) *big.Float {
			return reference.zero().Sqrt(reference.add(reference.mul(x, x), reference.mul(reference.of(y), reference.of(y))))
		}
	}
	near, nearTruth := hypot(1.3)
	vast, vastTruth := hypot(1e300)
	slight, slightTruth := hypot(-0x1p-1070)
	return []given{
		{"Exp", Exp, reference.exp, 0.52, between(-708, 709.7), 1},
		{"Exp, near", Exp, reference.exp, 0.52, between(-3, 3), 1},
		{"Exp, all sizes", Exp, reference.exp, 0.52, sizes(-60, 9, true), 1},
		{"Exp, subnormal", Exp, reference.exp, 1.02, between(-745, -708.4), 1},
		{"Exp2", Exp2, exp2, 0.52, between(-1021, 1023.99), 1},
		{"Exp2, all sizes", Exp2, exp2, 0.52, sizes(-60, 9, true), 1},
		{"Exp2, subnormal", Exp2, exp2, 1.02, between(-1074, -1021), 1},
		{"Expm1", Expm1, expm1, 0.51, between(-40, 60), 1},
		{"Expm1, near", Expm1, expm1, 0.51, between(-1, 1), 1},
		{"Expm1, all sizes", Expm1, expm1, 0.51, sizes(-100, 9, true), 1},
		{"Log", Log, reference.log, 0.52, sizes(-1074, 1023, false), 1},
		{"Log, near", Log, reference.log, 0.52, between(0.5, 2), 1},
		{"Log, next to 1", Log, reference.log, 0.52, between(0.99, 1.02), 1},
		{"Log, at 1", Log, reference.log, 0.52, nextToOne, 1},
		{"Log1p", Log1p, log1p, 0.52, between(-0.9999, 10), 1},
		{"Log1p, all sizes", Log1p, log1p, 0.52, sizes(-100, 1023, false), 1},
		{"Log1p, below", Log1p, log1p, 0.52, func(r *rand.Rand) float64 { return -sizes(-100, -1, false)(r) }, 1},
		{"Log2", Log2, log(2), 0.52, sizes(-1074, 1023, false), 1},
		{"Log2, near", Log2, log(2), 0.52, between(0.5, 2), 1},
		{"Log10", Log10, log(10), 0.52, sizes(-1074, 1023, false), 1},
		{"Log10, at 1", Log10, log(10), 0.52, nextToOne, 1},
		{"Pow 2", square, squareTruth, 0.52, sizes(-510, 510, false), 1},
		{"Pow 1/3", root, rootTruth, 0.52, sizes(-1074, 1023, false), 1},
		{"Pow 77.7", odd, oddTruth, 0.52, between(0.0002, 9000), 1},
		{"Pow −1e15", high, highTruth, 0.52, func(r *rand.Rand) float64 { return 1 + sizes(-52, -41, true)(r) }, 1},
		{"Hypot", near, nearTruth, 1, sizes(-60, 60, true), 1},
		{"Hypot, vast", vast, vastTruth, 1, sizes(940, 1022, true), 1},
		{"Hypot, slight", slight, slightTruth, 1, sizes(-1074, -1000, true), 1},
		{"Erfc", Erfc, reference.erfc, 5, between(-6, 6), 10},
		{"Erfc, near", Erfc, reference.erfc, 5, between(-1, 1), 10},
		{"Erfc, far", Erfc, reference.erfc, 5, between(5, 26.5), 100},
	}
}

// TestFunctions compares with the truth.
func TestFunctions(t *testing.T) {
	for _, f := range functions() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			worst, at := 0.0, 0.0
			count := testmode.Pick(1000, 200) / f.slow
			for range count {
				x := f.at(r)
				if off := ulps(f.of(x), f.truth(reference.of(x))); !(off <= worst) {
					worst, at = off, x
				}
			}
			t.Logf("%.4f ulp at %v", worst, at)
			if !(worst <= f.ulps) {
				t.Errorf("%.4f ulp off at %v (%x), where it is %v; at most %v", worst, at, at, f.of(at), f.ulps)
			}
		})
	}
}

// TestSpecial compares with package math what is no matter of rounding.
func TestSpecial(t *testing.T) {
	same := func(a, b float64) bool {
		return math.IsNaN(a) && math.IsNaN(b) || a == b && math.Signbit(a) == math.Signbit(b)
	}
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1e300, -1e300, 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range numbers {
		for _, f := range []struct {
			name     string
			own, std func(float64) float64
		}{{"Exp", Exp, math.Exp}, {"Exp2", Exp2, math.Exp2}, {"Expm1", Expm1, math.Expm1}, {"Log", Log, math.Log}, {"Log1p", Log1p, math.Log1p}, {"Log2", Log2, math.Log2}, {"Log10", Log10, math.Log10}, {"Erfc", Erfc, math.Erfc}} {
			if math.Abs(x) < 1e-300 && x > 0 && f.name[:3] == "Log" {
				continue // subnormal, of which the assembly of amd64 makes something else
			}
			if got, want := f.own(x), f.std(x); !same(got, want) && !(math.Abs(got/want-1) < 1e-14) {
				t.Errorf("%s(%v) = %v, in package math %v", f.name, x, got, want)
			}
		}
		for _, y := range numbers {
			if got, want := Pow(x, y), math.Pow(x, y); !same(got, want) && !(math.Abs(got/want-1) < 1e-13) {
				t.Errorf("Pow(%v, %v) = %v, in package math %v", x, y, got, want)
			}
			if got, want := Hypot(x, y), math.Hypot(x, y); !same(got, want) && !(math.Abs(got/want-1) < 1e-15) {
				t.Errorf("Hypot(%v, %v) = %v, in package math %v", x, y, got, want)
			}
		}
	}
	for e := -1074; e < 1024; e++ {
		if x := math.Ldexp(1, e); Log2(x) != float64(e) || Exp2(float64(e)) != x || Pow(2, float64(e)) != x {
			t.Errorf("2^%d = %v: Log2 %v, Exp2 %v, Pow %v", e, x, Log2(x), Exp2(float64(e)), Pow(2, float64(e)))
		}
	}
	for e := range 23 { // as far as powers of ten are numbers
		if x := math.Pow10(e); Log10(x) != float64(e) || Pow(10, float64(e)) != x {
			t.Errorf("10^%d = %v: Log10 %v, Pow %v", e, x, Log10(x), Pow(10, float64(e)))
		}
	}
	for k := 0.0; k < 1000; k++ {
		if Pow(k, 2) != k*k || Pow(-k, 3) != -k*k*k || Pow(k*k, 0.5) != k {
			t.Errorf("%v: its square is %v, its negative's cube %v, its square's root %v", k, Pow(k, 2), Pow(-k, 3), Pow(k*k, 0.5))
		}
	}
	if Exp(0) != 1 || Log(1) != 0 || LogGamma(1) != 0 || LogGamma(2) != 0 || Erfc(0) != 1 || NormalQuantile(0.5) != 0 {
		t.Error("what is exact is not")
	}
	// On either side of what a double can hold.
	for _, x := range []float64{709.782712893384, 709.7827128933841, -745.1332191019411, -745.1332191019412, -708.3964185322641, -708.3964185322642} {
		if off := ulps(Exp(x), reference.exp(reference.of(x))); off > 1.02 && Exp(x) != math.Exp(x) {
			t.Errorf("Exp(%v) = %v, in package math %v", x, Exp(x), math.Exp(x))
		}
	}
}

// TestCircle compares all points of some circles with the truth.
func TestCircle(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 12, 64, 96, 1 << 20} {
		for j := range min(n, 100) {
			k := j * max(1, n/100)
			wantCos, wantSin := reference.turn(k, n)
			cos, sin := UnitRoot(k, n)
			for _, c := range []struct {
				name string
				got  float64
				want *big.Float
			}{{"cos", cos, wantCos}, {"sin", sin, wantSin}} {
				if want, _ := c.want.Float64(); math.Abs(want) < 1e-60 {
					if c.got != 0 {
						t.Errorf("%s 2π·%d/%d = %v", c.name, k, n, c.got)
					}
				} else if off := ulps(c.got, c.want); off > 2 {
					t.Errorf("%s 2π·%d/%d = %v, %.2f ulp off", c.name, k, n, c.got, off)
				}
			}
			if c, s := UnitRoot(k-n, n); c != cos || s != sin {
				t.Errorf("a turn before %d/%d: %v %v, not %v %v", k, n, c, s, cos, sin)
			}
		}
	}
}

// TestNormalQuantile goes there and back.
func TestNormalQuantile(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	root := reference.zero().Sqrt(reference.of(2))
	worst := 0.0
	for k := range 300 {
		p := between(0, 1)(r)
		if k%2 == 0 {
			p = sizes(-400, -1, false)(r)
		}
		if p < 1e-120 { // erfc takes long
			p = between(0, 0.1)(r)
		}
		// One step of Newton's method from z, with all bits, is the truth.
		z := NormalQuantile(p)
		x := reference.of(z)
		below := reference.quo(reference.erfc(reference.quo(reference.of(-z), root)), reference.of(2))
		density := reference.exp(reference.quo(reference.mul(x, x), reference.of(-2)))
		density = reference.quo(density, reference.zero().Sqrt(reference.mul(reference.of(2), reference.pi())))
		truth := reference.sub(x, reference.quo(reference.sub(below, reference.of(p)), density))
		off := ulps(z, truth)
		worst = max(worst, off)
		if off > 5 {
			t.Errorf("NormalQuantile(%v) = %v, %.2f ulp off", p, z, off)
		}
	}
	t.Logf("%.2f ulp", worst)
	for _, c := range [][2]float64{{0, math.Inf(-1)}, {1, math.Inf(1)}} {
		if NormalQuantile(c[0]) != c[1] {
			t.Errorf("NormalQuantile(%v) = %v", c[0], NormalQuantile(c[0]))
		}
	}
	for _, p := range []float64{-0.1, 1.1, math.NaN()} {
		if !math.IsNaN(NormalQuantile(p)) {
			t.Errorf("NormalQuantile(%v) = %v", p, NormalQuantile(p))
		}
	}
}

// TestLogGamma compares with the truth.
func TestLogGamma(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 200 {
		x := sizes(-20, 40, false)(r)
		if k < 100 {
			x = float64(k + 1)
		}
		off, _ := reference.sub(reference.of(LogGamma(x)), reference.logGamma(reference.of(x))).Float64()
		if most := 1e-14 + 0x1p-50*x*math.Abs(math.Log(x)); math.Abs(off) > most {
			t.Errorf("LogGamma(%v) = %v, off by %v, at most %v", x, LogGamma(x), off, most)
		}
	}
}

// TestBeta compares with sums of binomials and goes there and back.
func TestBeta(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		// I_x(a, b) is the probability of a successes at least in a+b−1 trials.
		a, b := 1+r.IntN(40), 1+r.IntN(40)
		x := r.Float64()
		want := reference.zero()
		for k := a; k < a+b; k++ {
			term := reference.zero().SetInt(new(big.Int).Binomial(int64(a+b-1), int64(k)))
			for range k {
				term = reference.mul(term, reference.of(x))
			}
			for range a + b - 1 - k {
				term = reference.mul(term, reference.sub(reference.of(1), reference.of(x)))
			}
			want = reference.add(want, term)
		}
		truth, _ := want.Float64()
		got := BetaCDF(float64(a), float64(b), x)
		if math.Abs(got-truth) > 1e-13*max(truth, 1e-3) {
			t.Errorf("Beta(%d, %d, %v) = %v, not %v", a, b, x, got, truth)
		}
	}
	for range 300 {
		a, b, p := math.Exp(between(-0.7, 14)(r)), math.Exp(between(-0.7, 14)(r)), between(0.001, 0.999)(r)
		if x := BetaQuantile(a, b, p); math.Abs(BetaCDF(a, b, x)-p) > 1e-8*p {
			t.Errorf("BetaQuantile(%v, %v, %v) = %v, below which there is %v", a, b, p, x, BetaCDF(a, b, x))
		}
	}
	// Student's law in closed form: of 1 degree of freedom Cauchy's, and of 2.
	for _, p := range []float64{0.001, 0.02275, 0.3, 0.5, 0.8, 0.97725, 0.9999} {
		one, two := math.Tan(math.Pi*(p-0.5)), (2*p-1)/math.Sqrt(2*p*(1-p))
		if got := StudentQuantile(1, p); math.Abs(got-one) > 1e-11*(1+math.Abs(one)) {
			t.Errorf("StudentQuantile(1, %v) = %v, not %v", p, got, one)
		}
		if got := StudentQuantile(2, p); math.Abs(got-two) > 1e-11*(1+math.Abs(two)) {
			t.Errorf("StudentQuantile(2, %v) = %v, not %v", p, got, two)
		}
		if got := StudentTail(2, two); math.Abs(got-(1-p)) > 1e-12 {
			t.Errorf("StudentTail(2, %v) = %v, not %v", two, got, 1-p)
		}
	}
	if got, want := StudentQuantile(1e9, 0.97725), NormalQuantile(0.97725); math.Abs(got-want) > 1e-6 {
		t.Errorf("of many degrees of freedom: %v, not %v", got, want)
	}
}

// TestSameBits compares the bits of many results with those that were found before, on
// whatever machine: that is what the package is for.
func TestSameBits(t *testing.T) {
	sum := sha256.New()
	add := func(v float64) {
		var b [8]byte
		if math.IsNaN(v) {
			v = 0
		}
		binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
		sum.Write(b[:])
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range functions() {
		for range 20_000 {
			add(f.of(f.at(r)))
		}
	}
	for range 20_000 {
		x, y := sizes(-40, 40, true)(r), sizes(-6, 6, true)(r)
		add(Pow(math.Abs(x), y))
		add(Hypot(x, y))
		add(LogGamma(math.Abs(x)))
		add(NormalQuantile(r.Float64()))
		cos, sin := UnitRoot(r.IntN(1<<20), 3<<18)
		add(cos)
		add(sin)
	}
	for range 200 {
		a, b, p := Exp(between(-0.7, 12)(r)), Exp(between(-0.7, 12)(r)), r.Float64()
		add(BetaQuantile(a, b, p))
		add(StudentQuantile(a, p))
	}
	const want = "3f68530c72f5bf04022f7a19ce88e80294d4ec6eb0c4d8e7cd5ea989ef1ab482"
	if got := fmt.Sprintf("%x", sum.Sum(nil)); got != want {
		t.Errorf("the results have the SHA-256 %s, not %s", got, want)
	}
}
