package serve

import (
	"net/http"
	"strings"
	"testing"
)

// Each address answers with its own, and those that need a run that is done say so
// until then.
func TestRoutes(t *testing.T) {
	c := serving(t, smallCocktails(t))
	c.drawn()
	for path, want := range map[string]struct {
		status int
		holds  string
	}{
		"/":            {http.StatusOK, "<title>kir</title>"},
		"/page.css":    {http.StatusOK, ".c13 { background-image"},
		"/js/main.js":  {http.StatusOK, "import"},
		"/js/none.js":  {http.StatusNotFound, ""},
		"/amounts":     {http.StatusBadRequest, "there is no ingredient"},
		"/map":         {http.StatusOK, `"`},
		"/text?step=1": {http.StatusOK, "recipes: recipes.csv"},
		"/csv":         {http.StatusBadRequest, "not done yet"},
		"/weigh":       {http.StatusBadRequest, "not done yet"},
		"/figures":     {http.StatusOK, `"settled":false`},
		"/sheets":      {http.StatusBadRequest, "there is no round"},
		"/none":        {http.StatusNotFound, ""},
	} {
		if status, text := c.get(path); status != want.status || !strings.Contains(text, want.holds) {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
	}
}
