package model

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// documented returns docs/forest.md and the file that it shows.
func documented(t *testing.T) (document string, example []byte) {
	t.Helper()
	data, err := os.ReadFile("../docs/forest.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(data)
	if block == nil {
		t.Fatal("docs/forest.md shows no file")
	}
	return string(data), block[1]
}

// The file that the document shows is read, predicts what the document says, and
// is written as it stands but for its line ends.
func TestDocumentedFile(t *testing.T) {
	_, example := documented(t)
	f, err := Read(bytes.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x     []int32
		fresh float64
	}{
		{[]int32{6, 1, 3, 0}, 1.0 / 6},
		{[]int32{8, 2, 0, 0}, 0},
		{[]int32{4, 6, 0, 0}, 1},
		{[]int32{4, 0, 0, 6}, (1.0/3 + 1) / 2},
	} {
		if got := f.Shares(c.x)[1]; math.Abs(got-c.fresh) > 1e-15 {
			t.Errorf("%v is fresh with probability %v, and should be with %v", c.x, got, c.fresh)
		}
	}
	flat := func(b []byte) string { return strings.ReplaceAll(string(b), "\n", "") }
	if got := flat(saved(t, f)); got != flat(example) {
		t.Errorf("saved once more it is\n%s\nand was\n%s", got, flat(example))
	}
}

// The document names each field of the file, in the place it has there.
func TestDocumentedFields(t *testing.T) {
	document, _ := documented(t)
	seen := make(map[reflect.Type]bool)
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice:
			look(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] {
			return
		}
		seen[of] = true
		for k := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(k).Tag.Get("json"), ",")
			if name == "" || !strings.Contains(document, "`"+name+"`") {
				t.Errorf("docs/forest.md does not name the field %q of %v", name, of)
			}
			look(of.Field(k).Type)
		}
	}
	look(reflect.TypeFor[savedForest]())
	if len(seen) < 8 {
		t.Errorf("only %d kinds of object were looked at", len(seen))
	}
}

// Each check that the document promises refuses a file that breaks it.
func TestDocumentedChecks(t *testing.T) {
	_, example := documented(t)
	for _, c := range []struct{ from, to string }{
		{`"kir forest"`, `"forest"`},
		{`"version":2`, `"version":5`},
		{`"label"`, `"lable"`},
		{`["boozy","fresh"]`, `["fresh","boozy"]`},
		{`["boozy","fresh"]`, `["boozy",""]`},
		{`"classes":["boozy","fresh"]`, `"numbers":[1,1e151]`},
		{`"classes":["boozy","fresh"]`, `"numbers":[2,1]`},
		{`"classes":["boozy","fresh"],`, ``},
		{`"lime juice","vermouth"`, `"lime juice","gin"`},
		{`"total":10`, `"total":0`},
		{`"total":10`, `"total":1073741825`},
		{`[2,3],"presence"`, `[2,2],"presence"`},
		{`[2,3],"presence"`, `[2,4],"presence"`},
		{`[2,3],"presence"`, `[],"presence"`},
		{`"any sweetener"`, `"gin"`},
		{`"rows":8`, `"rows":7`},
		{`"options":{"trees":2`, `"options":{"trees":3`},
		{`"features_per_split":2`, `"features_per_split":4`},
		{`"smallest_leaf":1`, `"smallest_leaf":0`},
		{`"options":{`, `"options":{"splits":"any",`},
		{`"seed":3`, `"seed":18446744073709551616`},
		{`{"rows":0}`, `{"rows":9}`},
		{`{"rows":0}`, `{"rows":5}`},
		{`"trees":[`, `"importances":[{"mean":0,"se":0}],"trees":[`},
		{`[1,2,-1,-1,-1]`, `[1,3,-1,-1,-1]`},
		{`[1,2,-1,-1,-1]`, `[1,2,-1,-1]`},
		{`[1,2,-1,-1,-1]`, `[-1,2,-1,-1,1]`},
		{`"thresholds":[2,0]`, `"thresholds":[2,1]`},
		{`"thresholds":[2,0]`, `"thresholds":[10,0]`},
		{`"thresholds":[2,0]`, `"thresholds":[2]`},
		{`[0,2,1,1]`, `[1,1,0,2]`},
		{`[0,2,1,1]`, `[0,2,2,1]`},
		{`[0,2,1,1]`, `[0,3,1,0]`},
		{`[0,2,1,1]`, `[0,2,1]`},
		{`[0,2,1,1]`, `[]`},
		{`[0,2,1,1]`, `[0,2,1,2]`},
	} {
		text := strings.Replace(string(example), c.from, c.to, 1)
		if text == string(example) {
			t.Fatalf("the document's file has no %s", c.from)
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%s in place of %s is no JSON", c.to, c.from)
		}
		// The checksum would tell, too, and is looked at last.
		if _, err := Read(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s in place of %s is read, or only its checksum tells: %v", c.to, c.from, err)
		} else {
			t.Log(err)
		}
	}
}
