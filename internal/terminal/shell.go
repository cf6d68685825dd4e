package terminal

import "strings"

// ShellWord returns text as one word of a POSIX shell. A text that has only ASCII letters, digits
// and characters of plain needs no quotes.
func ShellWord(text, plain string) string {
	const lettersAndDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if text != "" && strings.Trim(text, lettersAndDigits+plain) == "" {
		return text
	}
	return ShellQuote(text)
}

// ShellQuote returns text in single quotes, which a POSIX shell takes as one word whatever the text
// has.
func ShellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// ShellLocation returns the location of a file or a run as one word of a POSIX shell. A location without
// characters that a shell may take for something else needs no quotes.
func ShellLocation(location string) string {
	if !strings.ContainsAny(location, " \t\n?&;|<>()$*'\"`\\#~[]{}!") {
		return location
	}
	return ShellQuote(location)
}
