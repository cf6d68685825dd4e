package kir_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rightAnswers are the functions of package math that have one right answer, which every
// machine gives. Of the others, internal/portable has its own.
var rightAnswers = strings.Fields(`Abs Ceil Copysign FMA Float32bits Float32frombits Float64bits Float64frombits Floor
	Frexp Ilogb Inf IsInf IsNaN Ldexp Max Min Mod Modf NaN Nextafter Nextafter32 Pow10 Round RoundToEven Signbit Sqrt Trunc`)

// roundedElsewhere are packages that compute with floating-point numbers in their own way
// on each processor, with those that may use them, since nothing of it is kept.
var roundedElsewhere = map[string][]string{
	"gonum.org/": nil,
	"git.sr.ht/": {"kir/internal/report/figure/png.go"}, // pictures
	"math/cmplx": nil,
}

// TestPortable checks that what the program computes has the same bits on every machine, as
// far as its text shows: all products of floating-point numbers are rounded where they
// stand, since some processors would join them with a sum into one operation, and no
// function is used that is not the same everywhere.
//
// It takes all products but those of which a factor, a quotient, a comparison, an integer,
// a text or a function of package math is made. For a sum may stand elsewhere: compilers
// follow a product through variables and calls.
func TestPortable(t *testing.T) {
	packages := listPackages(t)
	exports := make(map[string]string, len(packages))
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	imports := importExports(exports)
	for _, p := range packages {
		if !isShipped(p) {
			continue
		}
		sources := make(map[string]string)
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			sources[name] = string(text)
		}
		faults, err := notPortable("kir"+strings.TrimPrefix(p.ImportPath, module), sources, imports)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range faults {
			t.Error(f)
		}
	}
}

// TestNothingJoined looks at what the compiler makes of the program for processors that
// have x·y + z as one operation: none stands in it. That holds whatever TestPortable
// overlooks, for this compiler.
//
//	KIR_ARCHITECTURES='arm64 amd64.v3 s390x ppc64le riscv64' go test -v -run TestNothingJoined .
func TestNothingJoined(t *testing.T) {
	names := strings.Fields(os.Getenv("KIR_ARCHITECTURES"))
	if len(names) == 0 {
		t.Skip("KIR_ARCHITECTURES names no machines")
	}
	joined := regexp.MustCompile(`\(([^()]*)\)\tV?FN?M(ADD|SUB)`)
	for _, name := range names {
		arch, level, _ := strings.Cut(name, ".")
		if arch == "js" || arch == "all" { // WebAssembly has no such operation
			continue
		}
		t.Run(name, func(t *testing.T) {
			build := exec.CommandContext(t.Context(), "go", "build", "-gcflags="+module+"/...=-S", "-o", filepath.Join(t.TempDir(), "kir"), "./cmd/kir")
			build.Env = append(os.Environ(), "GOARCH="+arch, "GOAMD64="+cmp.Or(level, "v1"))
			text, err := build.CombinedOutput() // -S goes to stderr
			if err != nil {
				t.Fatalf("%v\n%.2000s", err, text)
			}
			if len(text) < 10<<20 {
				t.Fatalf("the assembly has %d bytes: it is not that of all packages", len(text))
			}
			found := 0
			for _, m := range joined.FindAllSubmatch(text, -1) {
				if at := string(m[1]); !strings.Contains(at, "/count/paired.go:") { // math.FMA, which is meant
					t.Errorf("%s: a product and a sum are one operation", at)
				} else {
					found++
				}
			}
			if found == 0 {
				t.Error("math.FMA was not found, so neither would others be")
			}
		})
	}
}

// isShipped says whether a package may be part of the program or the library: others are for
// tests, comparisons and made-up data.
func isShipped(p builtPackage) bool {
	path, inside := within(p.ImportPath)
	return inside && !isOutside(path)
}

// TestPortableNotices shows that notPortable finds what it looks for, and no more.
func TestPortableNotices(t *testing.T) {
	exports := make(map[string]string)
	for _, p := range listPackages(t) {
		exports[p.ImportPath] = p.Export
	}
	for body, want := range map[string]string{
		"return x*y + z":                                    "x * y",
		"return z - x*y":                                    "x * y",
		"z += x * y; return z":                              "x * y",
		"z -= -(x * y); return z":                           "x * y",
		"p := x * y; return p + z":                          "x * y",
		"x *= y; return x + z":                              "x *= y",
		"return x * y":                                      "x * y",
		"return f(x * y)":                                   "x * y",
		"s := []float64{x * y}; return s[0]":                "x * y",
		"return x * y * z":                                  "x * y * z",
		"return float64(x*y) + z":                           "",
		"return float64(x*y*z) + z":                         "",
		"return float64(-(x * y)) + z":                      "",
		"return x*y/z + z":                                  "",
		"if x*y < z { return 1 }; return 0":                 "",
		"return math.Sqrt(x * y)":                           "",
		"return float64(int(x*y)) + z":                      "",
		"const two = 2 * 1.5; return two + x":               "",
		"i := 2; return float64(i*i) + z":                   "",
		"u := float32(x); return float64(u*u) + z":          "",
		"u := float32(x); return float64(float32(u*u)) + z": "",
		"c := complex(x, y); return real(c * c)":            "c * c",
		"c := complex(x, y); return real(c / c)":            "c / c",
		"return math.Exp(x)":                                "math.Exp",
		"g := math.Log; return g(x)":                        "math.Log",
		"return math.Floor(x)":                              "",
		"return rand.NormFloat64()":                         "rand.NormFloat64",
	} {
		imports := ""
		for _, path := range []string{"math", "math/rand/v2"} {
			if name := strings.TrimPrefix(strings.TrimSuffix(path, "/v2"), "math/"); strings.Contains(body, name+".") {
				imports += fmt.Sprintf("import %q\n", path)
			}
		}
		source := "package a\n" + imports + "func f(v ...float64) float64 { x, y, z := v[0], v[1], v[2]; _, _, _ = x, y, z; " + body + " }\n"
		faults, err := notPortable("a", map[string]string{"a.go": source}, importExports(exports))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if want == "" && len(faults) > 0 || want != "" && (len(faults) != 1 || !strings.Contains(faults[0], ": "+want+" ")) {
			t.Errorf("%s: %q, not %q", body, faults, want)
		}
	}
	if faults, err := notPortable("kir/a", map[string]string{"a.go": "package a\nimport _ \"gonum.org/v1/gonum/mathext\"\n"}, importExports(exports)); err != nil || len(faults) != 1 {
		t.Errorf("an import: %q, %v", faults, err)
	}
}

// importExports returns what imports packages from their export data, each once.
func importExports(exports map[string]string) types.Importer {
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
}

// notPortable returns what in a package may differ between machines.
func notPortable(path string, sources map[string]string, imports types.Importer) ([]string, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for name, text := range sources {
		file, err := parser.ParseFile(fset, path+"/"+name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	config := types.Config{Importer: imports}
	info := &types.Info{Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object)}
	if _, err := config.Check(path, fset, files, info); err != nil {
		return nil, err
	}
	var faults []string
	for _, file := range files {
		fault := func(n ast.Node, what string) {
			at := fset.Position(n.Pos())
			faults = append(faults, fmt.Sprintf("%s:%d: %s", at.Filename, at.Line, what))
		}
		for _, i := range file.Imports {
			for of, but := range roundedElsewhere {
				if strings.HasPrefix(strings.Trim(i.Path.Value, `"`), of) && !slices.Contains(but, fset.Position(i.Pos()).Filename) {
					fault(i, i.Path.Value+" rounds as each processor does: write out the sums, or say in roundedElsewhere why nothing of it is kept")
				}
			}
		}
		var above []ast.Node
		ast.Inspect(file, func(n ast.Node) bool {
			if n == nil {
				above = above[:len(above)-1]
				return true
			}
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if (n.Op == token.MUL || n.Op == token.QUO && byInverse(info, n.Y)) && floating(info, n, types.IsFloat) && !rounded(info, above, n) {
					fault(n, types.ExprString(n)+" may be joined with a sum: write float64("+types.ExprString(n)+")")
				}
				if (n.Op == token.MUL || n.Op == token.QUO) && floating(info, n, types.IsComplex) {
					fault(n, types.ExprString(n)+" is a sum of products: write it out")
				}
			case *ast.AssignStmt:
				if (n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN && byInverse(info, n.Rhs[0])) && floating(info, n.Lhs[0], types.IsFloat) {
					left, right := types.ExprString(n.Lhs[0]), types.ExprString(n.Rhs[0])
					sign := n.Tok.String()[:1]
					fault(n, left+" "+sign+"= "+right+" may be joined with a sum: write "+left+" = float64("+left+" "+sign+" "+right+")")
				}
			case *ast.Ident:
				switch f := info.Uses[n].(type) {
				case *types.Func:
					if f.Pkg() == nil {
						break
					}
					if f.Pkg().Path() == "math" && !slices.Contains(rightAnswers, f.Name()) {
						fault(n, "math."+f.Name()+" differs between processors: internal/portable has those that do not")
					}
					if strings.HasPrefix(f.Pkg().Path(), "math/rand") && (f.Name() == "NormFloat64" || f.Name() == "ExpFloat64") {
						fault(n, "rand."+f.Name()+" differs between processors")
					}
				}
			}
			above = append(above, n)
			return true
		})
	}
	return faults, nil
}

// floating says whether an expression is a number of a kind, worked out when the program
// runs.
func floating(info *types.Info, e ast.Expr, kind types.BasicInfo) bool {
	of := info.Types[e]
	if of.Type == nil || of.Value != nil {
		return false
	}
	basic, is := of.Type.Underlying().(*types.Basic)
	return is && basic.Info()&kind != 0
}

// byInverse says whether a divisor is a power of two: compilers multiply by its inverse.
func byInverse(info *types.Info, divisor ast.Expr) bool {
	v := info.Types[divisor].Value
	if v == nil {
		return false
	}
	f, _ := constant.Float64Val(v)
	m, _ := math.Frexp(f)
	return math.Abs(m) == 0.5
}

// rounded says whether a product that stands under some nodes is rounded, or goes into what
// no compiler joins it with.
func rounded(info *types.Info, above []ast.Node, below ast.Node) bool {
	for k := len(above) - 1; k >= 0; k-- {
		switch n := above[k].(type) {
		case *ast.ParenExpr:
			below = n
			continue
		case *ast.UnaryExpr: // a sign
			below = n
			continue
		case *ast.BinaryExpr:
			return n.Op != token.ADD && n.Op != token.SUB
		case *ast.AssignStmt:
			return n.Tok == token.MUL_ASSIGN || n.Tok == token.QUO_ASSIGN
		case *ast.CallExpr:
			callee := info.Types[n.Fun]
			if callee.IsType() {
				return true
			}
			if callee.IsBuiltin() {
				return types.ExprString(n.Fun) == "min" || types.ExprString(n.Fun) == "max"
			}
			if takesAny(callee.Type, n, below) {
				return true
			}
			s, is := n.Fun.(*ast.SelectorExpr)
			return is && info.Uses[s.Sel] != nil && info.Uses[s.Sel].Pkg() != nil && info.Uses[s.Sel].Pkg().Path() == "math"
		default:
			return false
		}
	}
	return false
}

// takesAny says whether a call puts an argument in an interface, as fmt's do.
func takesAny(callee types.Type, call *ast.CallExpr, argument ast.Node) bool {
	s, is := callee.Underlying().(*types.Signature)
	if !is || call.Ellipsis.IsValid() {
		return false
	}
	k := slices.IndexFunc(call.Args, func(a ast.Expr) bool { return a == argument })
	last := s.Params().Len() - 1
	of := s.Params().At(min(max(k, 0), last)).Type()
	if list, is := of.(*types.Slice); is && s.Variadic() && k >= last {
		of = list.Elem()
	}
	return types.IsInterface(of)
}
