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
		"": false, "a": true, "a.yaml": true, "a=b": false, "a b": false, "it's": false, "$(echo x)": false, "`x`": false,
		"a\nb": false, "ü": false, "'": false, "''": false, "a\\": false, "*": false, "#a": false, "~": false, "-x": true,
	} {
		word := ShellWord(text, "_-.")
		if (word == text) != plain {
			t.Errorf("%q is written as %s", text, word)
		}
		read, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+word).Output()
		if err != nil || string(read) != text {
			t.Errorf("a shell reads %s as %q instead of %q: %v", word, read, text, err)
		}
	}
}

// TestShellLocation: a shell reads a location as it is.
func TestShellLocation(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: ", err)
	}
	for _, text := range []string{"runs/bar", "s3://bucket/a-b", "#a", "~/a", "a!b", "a[1]", "{a,b}", "it's", "a b", "$HOME"} {
		read, err := exec.CommandContext(t.Context(), shell, "-c", "printf %s "+ShellLocation(text)).Output()
		if err != nil || string(read) != text {
			t.Errorf("a shell reads %s as %q instead of %q: %v", ShellLocation(text), read, text, err)
		}
	}
}
