package tablefile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	letters "unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"kir/internal/inputerr"
)

// A charset is the character encoding of a file.
type charset struct {
	Name                string                // name on the web, such as utf-8
	Decoder             transform.Transformer // converts the text to UTF-8; nil if the text is UTF-8 already
	ByteOrderMarkLength int                   // number of bytes of the byte-order mark at the beginning; 0 if there is none
	Guessed             bool                  // whether the encoding was guessed because the file does not state it
}

// FindCharset returns the character encoding of a file. A byte-order mark decides first, then the
// name of an encoding unless it is empty. Otherwise the encoding is guessed from head, the
// beginning of the file. full reports whether head is the whole file.
func FindCharset(head []byte, full bool, name string) (charset, error) {
	utf16 := func(e unicode.Endianness, skip int, guessed bool) charset {
		c := charset{Name: "utf-16le", Decoder: unicode.UTF16(e, unicode.IgnoreBOM).NewDecoder(), ByteOrderMarkLength: skip, Guessed: guessed}
		if e == unicode.BigEndian {
			c.Name = "utf-16be"
		}
		return c
	}
	utf8Mark := []byte("\xef\xbb\xbf")
	switch {
	case bytes.HasPrefix(head, utf8Mark):
		return charset{Name: "utf-8", ByteOrderMarkLength: len(utf8Mark)}, nil
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16(unicode.LittleEndian, 2, false), nil
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16(unicode.BigEndian, 2, false), nil
	}
	if name != "" {
		e, err := htmlindex.Get(name)
		if err != nil {
			return charset{}, fmt.Errorf("there is no encoding %s: write, for example, utf-8, windows-1252 or utf-16le", inputerr.Quote(name))
		}
		if e == unicode.UTF8 || e == encoding.Nop {
			return charset{Name: name}, nil
		}
		return charset{Name: name, Decoder: e.NewDecoder()}, nil
	}
	// In UTF-16 every other byte of a text in a Latin script is 0.
	var zeros [2]int
	some := head[:min(len(head), 4096)]
	for i, b := range some {
		if b == 0 {
			zeros[i%2]++
		}
	}
	if most := len(some) / 2; most > 0 {
		switch {
		case 2*zeros[1] > most && 10*zeros[0] < most:
			return utf16(unicode.LittleEndian, 0, true), nil
		case 2*zeros[0] > most && 10*zeros[1] < most:
			return utf16(unicode.BigEndian, 0, true), nil
		}
	}
	valid, multiByte := validUTF8(head, full)
	if valid || multiByte {
		// Invalid bytes in a text that is otherwise UTF-8 are damage.
		return charset{Name: "utf-8"}, nil
	}
	if isCentralEuropean(head) {
		return charset{Name: "windows-1250", Decoder: charmap.Windows1250.NewDecoder(), Guessed: true}, nil
	}
	return charset{Name: "windows-1252", Decoder: charmap.Windows1252.NewDecoder(), Guessed: true}, nil
}

// westernLetters and centralLetters are the letters beside those of English in languages that are written in Windows-1252
// and in Windows-1250, one text for each language.
var (
	westernLetters = []string{"àâçéèêëîïôùûüÿœ", "äöüß", "áéíóúñüªº", "àèéìòùíóú", "áâãàçéêíóôõúü", "ëïéèêöüáóíúç", "åäöéü", "æøåéöäü", "áðéíóúýþæö", "äöåšž", "àçèéíïòóúü·"}
	centralLetters = []string{"ąćęłńóśźż", "áčďéěíňóřšťúůýžöü", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž"}
)

// isCentralEuropean reports whether a text in an 8-bit encoding is likelier in Windows-1250 than in Windows-1252: whether its
// letters are those of one language there, and not here. A sign between letters, such as the ³ of g³owny, is no letter of
// any.
func isCentralEuropean(text []byte) bool {
	western, central := foreignLetters(text, charmap.Windows1252), foreignLetters(text, charmap.Windows1250)
	return leastUncovered(central, centralLetters) < leastUncovered(western, westernLetters)
}

// foreignLetters returns how often each character beyond ASCII occurs in a text as a letter, or as a sign between letters.
func foreignLetters(text []byte, from *charmap.Charmap) map[rune]int {
	isLetter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' || text[i] >= 0x80 && letters.IsLetter(from.DecodeByte(text[i])))
	}
	counts := make(map[rune]int)
	for i, b := range text {
		if r := from.DecodeByte(b); b >= 0x80 && r != 'µ' && (letters.IsLetter(r) || isLetter(i-1) && isLetter(i+1)) {
			counts[letters.ToLower(r)]++
		}
	}
	return counts
}

// leastUncovered returns the number of characters that are no letters of the language which has most of them.
func leastUncovered(counts map[rune]int, languages []string) int {
	least := math.MaxInt
	for _, language := range languages {
		uncovered := 0
		for r, n := range counts {
			if !strings.ContainsRune(language, r) {
				uncovered += n
			}
		}
		least = min(least, uncovered)
	}
	return least
}

// validUTF8 reports whether a text is valid UTF-8, and whether it has multi-byte characters. Unless
// full is set, the text may end within a character.
func validUTF8(text []byte, full bool) (valid, multiByte bool) {
	valid = true
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			if !full && len(text) < utf8.UTFMax && !utf8.FullRune(text) {
				break
			}
			valid = false
		}
		multiByte = multiByte || size > 1
		text = text[size:]
	}
	return valid, multiByte
}

// Decode returns a reader of the text in UTF-8. r must be positioned behind the byte-order mark.
func (c charset) Decode(r io.Reader) io.Reader {
	if c.Decoder == nil {
		return r
	}
	c.Decoder.Reset()
	return transform.NewReader(r, c.Decoder)
}

// DecodeHead returns the beginning of a file in UTF-8, without the byte-order mark. Unless full
// reports that head is the whole file, it drops an incomplete last line.
func (c charset) DecodeHead(head []byte, full bool) []byte {
	text := head[c.ByteOrderMarkLength:]
	if c.Decoder != nil {
		c.Decoder.Reset()
		text, _, _ = transform.Bytes(c.Decoder, text) // reading the whole file reports any error
	}
	if !full {
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	return text
}
