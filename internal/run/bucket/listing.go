package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// What a list of objects may be at most, far more than a run has: objects, pages of up to 1,000,
// and bytes of a page, whose names have up to 1,024 each.
const (
	mostObjects = 2_000_000
	mostPages   = 4_000
	mostPage    = 16 << 20
)

// errEndless is the error of a list that goes on beyond that, or begins again.
var errEndless = errors.New("the list of its objects does not end: the server at this address is not a usable bucket")

// A listing is a list of objects that is being asked for.
type listing struct {
	end                 context.CancelCauseFunc
	pages               int // asked for, one after the other
	mostPages, mostPage int
}

// listingKey is where the context of a request has its listing.
type listingKey struct{}

// boundListings ends listings that do not end by themselves. The client asks for page after page,
// also where they are empty, and takes in each to its end.
type boundListings struct{ http.RoundTripper }

// RoundTrip sends a request.
func (t boundListings) RoundTrip(r *http.Request) (*http.Response, error) {
	l, ok := r.Context().Value(listingKey{}).(*listing)
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

// A boundPage is the body of a page, of which so many bytes may still come.
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
