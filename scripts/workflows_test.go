package scripts

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pinned matches an action at a commit, with the version that the commit has.
var pinned = regexp.MustCompile(`^([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v[0-9]+\.[0-9]+\.[0-9]+)$`)

// unpinned returns what is wrong with the actions that a workflow uses. It notes in pins the commit and version of
// each action; another pin of the same action is wrong.
func unpinned(workflow string, pins map[string]string) []string {
	var wrong []string
	for line := range strings.Lines(workflow) {
		_, used, uses := strings.Cut(strings.TrimSpace(line), "uses: ")
		if !uses || strings.HasPrefix(used, "./") {
			continue
		}
		m := pinned.FindStringSubmatch(used)
		if m == nil {
			wrong = append(wrong, fmt.Sprintf("%q is not pinned to a commit with its version", used))
			continue
		}
		action, pin := m[1], m[2]+" # "+m[3]
		if first, known := pins[action]; known && first != pin {
			wrong = append(wrong, fmt.Sprintf("%s is pinned to %s and to %s", action, first, pin))
		}
		pins[action] = pin
	}
	return wrong
}

// TestActionsArePinned: workflows use actions at one commit each, with a comment that names the version. A tag can be
// moved to other code.
func TestActionsArePinned(t *testing.T) {
	files, err := filepath.Glob("../.github/workflows/*.yml")
	if err != nil {
		t.Fatal(err)
	}
	pins := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range unpinned(string(data), pins) {
			t.Errorf("%s: %s", file, wrong)
		}
	}
	if len(pins) < 5 {
		t.Errorf("workflows use %d actions, want at least 5: %v", len(pins), pins)
	}
}

// TestUnpinned: a tag, a branch, a commit without a version and a second pin are found.
func TestUnpinned(t *testing.T) {
	const one, two = "actions/checkout@0123456789012345678901234567890123456789 # v6.0.2", "actions/checkout@1123456789012345678901234567890123456789 # v6.0.2"
	for _, test := range []struct {
		uses  []string
		wrong int
	}{
		{[]string{one, one, "./.github/workflows/package.yml"}, 0},
		{[]string{"actions/checkout@v6"}, 1},
		{[]string{"pypa/gh-action-pypi-publish@release/v1"}, 1},
		{[]string{strings.TrimSuffix(one, " # v6.0.2")}, 1},
		{[]string{one, two}, 1},
	} {
		workflow := "steps:\n      - uses: " + strings.Join(test.uses, "\n      - name: next\n        uses: ") + "\n"
		if wrong := unpinned(workflow, map[string]string{}); len(wrong) != test.wrong {
			t.Errorf("of %q are wrong: %q, want %d", test.uses, wrong, test.wrong)
		}
	}
}
