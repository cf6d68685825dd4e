package model

import (
	"bytes"
	"strings"
	"testing"
)

// A model that was saved and loaded says the same, bit for bit, and is saved alike.
func TestSaveAndLoadLearned(t *testing.T) {
	for name, s := range learnedCases(t) {
		var file bytes.Buffer
		if err := s.model.Write(&file); err != nil {
			t.Fatal(err)
		}
		if !IsModelFile(file.Bytes()) {
			t.Errorf("%s: the file is not known: %.40s", name, file.Bytes())
		}
		m, err := ReadLearned(t.Context(), bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := m.Score(s.want)
		if err != nil {
			t.Fatal(err)
		}
		for r, row := range s.model.compositions {
			x := make([]int32, len(m.Ingredients()))
			for _, p := range row {
				x[p.Ingredient] = p.Amount
			}
			if got, want := again.ScoreAt(x, usedIngredients(x)), s.ScoreAt(x, usedIngredients(x)); got != want {
				t.Fatalf("%s: row %d scores %v, and scored %v", name, r, got, want)
			}
			if m.Numeric() && m.Predict(x) != s.model.Predict(x) {
				t.Fatalf("%s: row %d is predicted otherwise", name, r)
			}
		}
		d := &Data{Rows: s.model.compositions, Numbers: s.model.numericLabels, Classes: s.model.classLabels}
		if !m.IsLearntFrom(d) {
			t.Errorf("%s: its own rows are taken for others", name)
		}
		if d.Rows = d.Rows[1:]; m.IsLearntFrom(d) {
			t.Errorf("%s: other rows are taken for its own", name)
		}
		var second bytes.Buffer
		if err := m.Write(&second); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file.Bytes(), second.Bytes()) {
			t.Errorf("%s: saved again it is another file", name)
		}
	}
}

// A model that is learnt again of the same data is the same.
func TestAgain(t *testing.T) {
	for name, s := range learnedCases(t) {
		m := s.model
		d := &Data{Label: m.Label(), Ingredients: m.Ingredients(), Total: m.Total(), Rows: m.compositions, Numbers: m.numericLabels, Classes: m.classLabels}
		again, err := m.RefitTo(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		of, err := again.Score(s.want)
		if err != nil {
			t.Fatal(err)
		}
		x := make([]int32, len(m.Ingredients()))
		x[1], x[2] = 400, 600
		if got, want := of.ScoreAt(x, usedIngredients(x)), s.ScoreAt(x, usedIngredients(x)); got != want {
			t.Errorf("%s: learnt again it says %v, and said %v", name, got, want)
		}
	}
}

func TestDamagedLearned(t *testing.T) {
	var file bytes.Buffer
	if err := learnedCases(t)["numbers that fail"].model.Write(&file); err != nil {
		t.Fatal(err)
	}
	good := file.String()
	for n := 0; n < len(good)-1; n += 97 {
		if _, err := ReadLearned(t.Context(), strings.NewReader(good[:n])); err == nil {
			t.Fatalf("the first %d of %d bytes are read", n, len(good))
		}
		file := []byte(good)
		if file[n] ^= 1; file[n] == '\n' || good[n] == '\n' {
			continue
		}
		if _, err := ReadLearned(t.Context(), bytes.NewReader(file)); err == nil {
			t.Fatalf("byte %d is changed, and the file is read", n)
		}
	}
	for _, c := range []struct{ from, to, says string }{
		{`"kir model"`, `"kir forest"`, "this is not a saved model"},
		{`"version":2,`, `"version":3,`, "version 3 of the format"},
		{`"version":2,`, `"version":1,`, "forest_weight"},
		{`"forest_weight":`, `"forest_weight":1`, "weight of the forest"},
		{`"kind":"learn"`, `"kind":"best"`, "kind is"},
		{`"kernel":"matern 5/2"`, `"kernel":"periodic"`, "no kernel"},
		{`"rows":[[`, `"rows":[[0,],[`, ""},
		{`"total":1000`, `"total":10`, "more than the total"},
		{`"own":[`, `"own":[0,`, "lengths for"},
		{`"signal":`, `"signal":1e9,"x":`, ""},
		{`"widen"`, `"wide"`, "unknown field"},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if text == good {
			t.Fatalf("no %s in %.200s", c.from, good)
		}
		_, err := parseUnsealed(t, text)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s in place of %s: %v", c.to, c.from, err)
		}
	}
}

// Only a model with unequal weights needs version 2 of the format, and its weight comes back.
func TestLearnedVersions(t *testing.T) {
	cases := learnedCases(t)
	for name, want := range map[string]string{"average": `"version":1,`, "forest": `"version":1,`, "process": `"version":1,`, "weighted": `"version":2,`} {
		var file bytes.Buffer
		s := cases[name]
		if err := s.model.Write(&file); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(file.String(), want) {
			t.Errorf("%s: there is no %s in %.60s", name, want, file.String())
		}
		m, err := ReadLearned(t.Context(), &file)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := m.forestWeight, s.model.forestWeight; got != want {
			t.Errorf("%s: the weight of the forest is %v, and was %v", name, got, want)
		}
	}
}

// parseUnsealed reads a model with the checksum that it should have.
func parseUnsealed(t *testing.T, text string) (*LearnedModel, error) {
	t.Helper()
	end := strings.LastIndex(text, `,"checksum"`)
	return parseLearned(t.Context(), appendChecksum([]byte(text[:end])))
}
