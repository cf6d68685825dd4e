package compile

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What of a table is not used is said in one sentence.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	const head = "name,Gin,Rum,Ice,Sum,liking\n"
	const body = "A,1,2,3,6,7\nB,2,2,2,6,5\nC,3,2,1,6,6\nD,2,3,1,6,4\nE,1,1,4,6,6\n"
	for _, test := range []struct{ table, columns, want string }{
		{head + body + "Mean,1.8,2,2.2,6,5.6\n", "", `Not used of %s: 1 column ("Sum"), 1 row from line 7 on.`},
		{head + body, "", `Not used of %s: 1 column ("Sum").`},
		{head + body, ", columns: {liking: ignore, Sum: ignore}", `Not used of %s: 2 columns ("Sum", "liking").`},
		{"name,Gin,Rum,Ice,liking\nA,1,2,3,7\nB,2,2,2,5\n", "", ""},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "problem.yaml")
		for name, text := range map[string]string{"t.csv": test.table, "problem.yaml": "recipes: {file: t.csv" + test.columns + "}\ntotal: 12\nsparsity: recipes\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		p, err := Load(context.Background(), file, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := test.want
		if want != "" {
			want = "Not used of " + p.Book.File + want[len("Not used of %s"):]
		}
		if got := p.LeftOut(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
