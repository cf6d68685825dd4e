// Package bucket keeps runs in S3 buckets, for machines that share no directory.
package bucket

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"kir/internal/run"
)

// bucketStore is a [run.Store] in an S3 bucket, below a prefix.
type bucketStore struct {
	location string
	client   *minio.Client
	name     string
	prefix   string // prefix of the names of all objects; empty, or ends with a slash
	writerID string // random identifier of this store, by which it recognises the objects that it wrote

	maxPages, maxPageBytes int // limits on the pages of a listing and on the bytes of a page; tests set lower limits
}

// writerKey is the metadata key under which an object names the store that wrote it.
const writerKey = "Kir-Writer"

// IsBucket reports whether a location is in an S3 bucket.
func IsBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

// Open returns the store at s3://bucket/prefix?endpoint=URL&region=NAME. The default endpoint is
// Amazon's. Any other endpoint must speak S3 with conditional writes (If-None-Match: *), over http
// or https.
//
// Credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), from
// ~/.aws/credentials, or from the machine's role. Any other parameter in the location is an error:
// locations are displayed, so they must not contain keys.
//
// Each run must open a store of its own, so that the store can tell apart the objects of two runs
// that work on the same chains.
func Open(location string) (run.Store, error) {
	bad := func(format string, args ...any) (run.Store, error) {
		return nil, &LocationError{fmt.Sprintf(format, args...)}
	}
	at, err := url.Parse(location)
	if err != nil || at.Scheme != "s3" || at.Host == "" || at.User != nil || at.Fragment != "" {
		return bad("%q is no location in a bucket: write s3://bucket/prefix?endpoint=https://host", location)
	}
	query, err := url.ParseQuery(at.RawQuery)
	if err != nil {
		return bad("the location in a bucket cannot be read: %v", err)
	}
	for key, values := range query {
		if key != "endpoint" && key != "region" || len(values) != 1 {
			return bad("a location in a bucket has no %q: it has an endpoint and a region, each once", key)
		}
	}
	endpoint := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	if text := query.Get("endpoint"); text != "" {
		endpoint, err = url.Parse(text)
		if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" || strings.Trim(endpoint.Path, "/") != "" {
			return bad("%q is no endpoint: write https://host or http://host:port", text)
		}
	}
	secure := endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return bad("%v", err)
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Transport: listingLimiter{transport},
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure: secure,
		Region: query.Get("region"),
	})
	if err != nil {
		return bad("%v", err)
	}
	prefix := strings.Trim(at.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &bucketStore{location: location, client: client, name: at.Host, prefix: prefix, writerID: rand.Text(), maxPages: maxPages, maxPageBytes: maxPageBytes}, nil
}

// A LocationError is returned for an invalid location of a run.
type LocationError struct{ Message string }

func (e *LocationError) Error() string { return e.Message }

// Location returns the location passed to [Open].
func (b *bucketStore) Location() string { return b.location }

// Path returns the address of an object.
func (b *bucketStore) Path(name string) string { return "s3://" + b.name + "/" + b.prefix + name }

// wrapError turns an error of the S3 client into an [fs.PathError] that wraps fs.ErrExist or
// fs.ErrNotExist where one of these applies.
func (b *bucketStore) wrapError(op, name string, err error) error {
	var answer minio.ErrorResponse
	errors.As(err, &answer)
	switch {
	case answer.StatusCode == http.StatusPreconditionFailed || answer.Code == minio.PreconditionFailed:
		err = fs.ErrExist
	case answer.Code == minio.NoSuchKey || answer.StatusCode == http.StatusNotFound && answer.Code != minio.NoSuchBucket:
		err = fs.ErrNotExist
	}
	return &fs.PathError{Op: op, Path: b.Path(name), Err: err}
}

// Create puts an object on the condition that there is no object of that name. A response may be
// lost and the client may put the object again. Then the object exists already, and its metadata
// show that this store wrote it, which counts as success.
func (b *bucketStore) Create(ctx context.Context, name string, data []byte) error {
	o := minio.PutObjectOptions{UserMetadata: map[string]string{writerKey: b.writerID}, DisableMultipart: true}
	o.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	if err == nil {
		return nil
	}
	err = b.wrapError("create", name, err)
	is, missing := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if missing == nil && is.Metadata.Get("X-Amz-Meta-"+writerKey) == b.writerID && is.Size == int64(len(data)) {
		return nil
	}
	return err
}

// Replace puts an object, and overwrites an existing object of that name.
func (b *bucketStore) Replace(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{DisableMultipart: true})
	if err != nil {
		return b.wrapError("write", name, err)
	}
	return nil
}

// Read gets an object, or a range of its bytes.
func (b *bucketStore) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	var o minio.GetObjectOptions
	if length == 0 {
		return nil, nil
	}
	if offset > 0 || length > 0 {
		last := int64(0) // to its end
		if length > 0 {
			last = offset + length - 1
		}
		if err := o.SetRange(offset, last); err != nil {
			return nil, b.wrapError("read", name, err)
		}
	}
	object, err := b.client.GetObject(ctx, b.name, b.prefix+name, o)
	if err != nil {
		return nil, b.wrapError("read", name, err)
	}
	data, err := io.ReadAll(object)
	if err = errors.Join(err, object.Close()); err != nil {
		return nil, b.wrapError("read", name, err)
	}
	return data, nil
}

// List lists the objects whose names begin with the store's prefix and the given prefix.
func (b *bucketStore) List(ctx context.Context, prefix string) (files []run.File, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx = context.WithValue(ctx, listingContextKey{}, &listing{cancel: end, maxPages: b.maxPages, maxPageBytes: b.maxPageBytes})
	for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		name := strings.TrimPrefix(o.Key, b.prefix)
		switch {
		case o.Err != nil:
			if context.Cause(ctx) == errEndless {
				o.Err = errEndless
			}
			return nil, b.wrapError("list", prefix, o.Err)
		case len(files) == maxObjects || len(files) > 0 && name == files[0].Name:
			return nil, b.wrapError("list", prefix, errEndless)
		}
		files = append(files, run.File{Name: name, Size: o.Size})
	}
	if ctx.Err() != nil { // the client ends its list as if it were whole
		return nil, b.wrapError("list", prefix, context.Cause(ctx))
	}
	return files, nil
}

// Remove removes an object.
func (b *bucketStore) Remove(ctx context.Context, name string) error {
	err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
	if err != nil {
		return b.wrapError("remove", name, err)
	}
	return nil
}
