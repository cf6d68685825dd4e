package terminal

import (
	"os/exec"
	"testing"
)

// TestShellWord: a shell reads each word as the text that it was made of, and only those that need
// quotes have any.
func TestShellWord(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: ", err)
	}
	for text, plain := range map[string]bool{
		"": false, "a": true, "a.yaml": true, "a=b": true, "a b": false, "it's": false, "$(echo x)": false, "`x`": false,
		"a\nb": false, "ü": true, "'": false, "''": false, "a\\": false, "*": false, "#a": false, "~": false, "~/a": false, "-x": true,
		"runs/bar": true, "s3://bucket/a-b": true, "a!b": false, "a[1]": false, "{a,b}": false, "a;b": false, "a^b": false, "²": false, "\u00a0": false,
	} {
		word := ShellWord(text)
		if (word == text) != plain {
			t.Errorf("%q is written as %s", text, word)
		}
		read, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+word).Output()
		if err != nil || string(read) != text {
			t.Errorf("a shell reads %s as %q instead of %q: %v", word, read, text, err)
		}
	}
}
