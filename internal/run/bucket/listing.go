package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// The limits of a listing, far beyond any run: objects, pages of up to 1,000, and bytes of a page,
// whose names have up to 1,024 bytes each.
const (
	mostObjects = 2_000_000
	mostPages   = 4_000
	mostPage    = 16 << 20
)

// errEndless is the error of a listing that exceeds the limits or repeats.
var errEndless = errors.New("the list of its objects does not end: the server at this address is not a usable bucket")

// A listing is a listing of objects in progress.
type listing struct {
	end                 context.CancelCauseFunc
	pages               int // asked for, one after the other
	mostPages, mostPage int
}

// listingContextKey is the context key under which a request has its listing.
type listingContextKey struct{}

// boundListings stops listings that would not end. The client requests page after page, even empty
// ones, and reads each to its end.
type boundListings struct{ http.RoundTripper }

// RoundTrip sends a request.
func (t boundListings) RoundTrip(r *http.Request) (*http.Response, error) {
	l, ok := r.Context().Value(listingContextKey{}).(*listing)
	if !ok {
		return t.RoundTripper.RoundTrip(r)
	}
	if l.pages++; l.pages > l.mostPages {
		l.end(errEndless)
		return nil, errEndless
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &boundPage{answer.Body, l, l.mostPage}
	}
	return answer, err
}

// A boundPage is the body of a page with a limit on the remaining bytes.
type boundPage struct {
	io.ReadCloser
	of   *listing
	left int
}

func (p *boundPage) Read(data []byte) (int, error) {
	n, err := p.ReadCloser.Read(data)
	if p.left -= n; p.left < 0 {
		p.of.end(errEndless)
		return 0, errEndless
	}
	return n, err
}
