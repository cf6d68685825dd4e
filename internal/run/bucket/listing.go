package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// The limits of a listing, far beyond any run: the number of objects, the number of pages, and the
// bytes of a page. A page has up to 1,000 names of up to 1,024 bytes each.
const (
	maxObjects   = 2_000_000
	maxPages     = 4_000
	maxPageBytes = 16 << 20
)

// errEndless is the error of a listing that exceeds the limits or repeats itself.
var errEndless = errors.New("the list of its objects does not end: the server at this address is not a usable bucket")

// A listing is the state of a listing of objects that is in progress.
type listing struct {
	cancel                 context.CancelCauseFunc
	pagesRequested         int // number of pages requested so far
	maxPages, maxPageBytes int
}

// listingContextKey is the context key under which a request holds its [listing].
type listingContextKey struct{}

// listingLimiter is a transport that stops listings that would not end. The client requests page
// after page, even if pages are empty, and reads each page to its end.
type listingLimiter struct{ http.RoundTripper }

// RoundTrip sends a request. If the request belongs to a listing, RoundTrip counts its pages and
// limits the size of the page.
func (t listingLimiter) RoundTrip(r *http.Request) (*http.Response, error) {
	l, ok := r.Context().Value(listingContextKey{}).(*listing)
	if !ok {
		return t.RoundTripper.RoundTrip(r)
	}
	if l.pagesRequested++; l.pagesRequested > l.maxPages {
		l.cancel(errEndless)
		return nil, errEndless
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &limitedPage{answer.Body, l, l.maxPageBytes}
	}
	return answer, err
}

// A limitedPage is the body of a page of a listing, with a limit on the bytes that may still be read.
type limitedPage struct {
	io.ReadCloser
	listing   *listing
	bytesLeft int
}

func (p *limitedPage) Read(data []byte) (int, error) {
	n, err := p.ReadCloser.Read(data)
	if p.bytesLeft -= n; p.bytesLeft < 0 {
		p.listing.cancel(errEndless)
		return 0, errEndless
	}
	return n, err
}
