package bucket

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Limits on a listing of objects, far beyond what any run has: the number of objects, the number of
// pages, and the bytes of a page. A page has up to 1,000 names of up to 1,024 bytes each.
const (
	maxListedObjects    = 2_000_000
	maxListingPages     = 4_000
	maxListingPageBytes = 16 << 20
)

// errEndlessListing is the error of a listing of objects that exceeds its limits or begins again.
var errEndlessListing = errors.New("the list of its objects does not end: the server at this address is not a usable bucket")

// A listing is a listing of a bucket's objects that is in progress. It arrives in pages.
type listing struct {
	cancel         context.CancelCauseFunc // ends the listing with an error
	pagesRequested int                     // number of pages requested so far
	maxPages       int                     // largest number of pages
	maxPageBytes   int                     // largest number of bytes of a page
}

// listingContextKey is the key of the [listing] in the context of a request.
type listingContextKey struct{}

// listingLimiter is an HTTP transport that stops listings of objects that exceed their limits. The
// S3 client sets no limits itself: it requests page after page, even if pages are empty, and reads
// each page to its end.
type listingLimiter struct{ http.RoundTripper }

// RoundTrip sends a request. If the request asks for a page of a listing, RoundTrip counts the page
// and limits its size.
func (t listingLimiter) RoundTrip(r *http.Request) (*http.Response, error) {
	l, ok := r.Context().Value(listingContextKey{}).(*listing)
	if !ok {
		return t.RoundTripper.RoundTrip(r)
	}
	if l.pagesRequested++; l.pagesRequested > l.maxPages {
		l.cancel(errEndlessListing)
		return nil, errEndlessListing
	}
	answer, err := t.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = &limitedPage{answer.Body, l, l.maxPageBytes}
	}
	return answer, err
}

// A limitedPage is the body of a response with a page of a listing. Reading it fails after a
// limited number of bytes.
type limitedPage struct {
	io.ReadCloser
	listing   *listing
	bytesLeft int // number of bytes that may still be read
}

func (p *limitedPage) Read(data []byte) (int, error) {
	n, err := p.ReadCloser.Read(data)
	if p.bytesLeft -= n; p.bytesLeft < 0 {
		p.listing.cancel(errEndlessListing)
		return 0, errEndlessListing
	}
	return n, err
}
