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

// bucketStore is a [run.Store] whose files are objects in an S3 bucket.
type bucketStore struct {
	location   string // location as passed to [Open]
	client     *minio.Client
	bucketName string // name of the bucket
	prefix     string // beginning of the names of all objects; empty, or ends with a slash
	writerID   string // random text stored with every object that this store creates, so that the store recognises its own objects

	maxPages     int // largest number of pages of a listing; tests set it lower
	maxPageBytes int // largest number of bytes of a page of a listing; tests set it lower
}

// writerMetadataKey is the key in an object's metadata whose value identifies the store that wrote
// the object.
const writerMetadataKey = "Kir-Writer"

// IsBucket reports whether a location names an S3 bucket: whether it begins with "s3://".
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
	return &bucketStore{location: location, client: client, bucketName: at.Host, prefix: prefix, writerID: rand.Text(), maxPages: maxListingPages, maxPageBytes: maxListingPageBytes}, nil
}

// A LocationError is returned for an invalid location of a run.
type LocationError struct{ Message string }

func (e *LocationError) Error() string { return e.Message }

// Location returns the location passed to [Open].
func (b *bucketStore) Location() string { return b.location }

// Path returns the address of an object.
func (b *bucketStore) Path(name string) string { return "s3://" + b.bucketName + "/" + b.prefix + name }

// wrapError wraps an error of the S3 client in an [fs.PathError]. If the error says that the object
// exists or does not exist, the result wraps fs.ErrExist or fs.ErrNotExist.
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

// Create puts an object, on the condition that no object has the name. If the server's response is
// lost, the client puts the object again and finds that it exists. Then Create recognises by the
// metadata that this store wrote the object, and succeeds.
func (b *bucketStore) Create(ctx context.Context, name string, data []byte) error {
	o := minio.PutObjectOptions{UserMetadata: map[string]string{writerMetadataKey: b.writerID}, DisableMultipart: true}
	o.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.bucketName, b.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	if err == nil {
		return nil
	}
	err = b.wrapError("create", name, err)
	is, missing := b.client.StatObject(ctx, b.bucketName, b.prefix+name, minio.StatObjectOptions{})
	if missing == nil && is.Metadata.Get("X-Amz-Meta-"+writerMetadataKey) == b.writerID && is.Size == int64(len(data)) {
		return nil
	}
	return err
}

// Replace puts an object, and overwrites an existing object of that name.
func (b *bucketStore) Replace(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, b.bucketName, b.prefix+name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{DisableMultipart: true})
	if err != nil {
		return b.wrapError("write", name, err)
	}
	return nil
}

// Read gets length bytes of an object from an offset on, or fewer where the object ends. If length
// is negative, it gets everything from the offset on.
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
	object, err := b.client.GetObject(ctx, b.bucketName, b.prefix+name, o)
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
	for o := range b.client.ListObjectsIter(ctx, b.bucketName, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		name := strings.TrimPrefix(o.Key, b.prefix)
		switch {
		case o.Err != nil:
			if context.Cause(ctx) == errEndlessListing {
				o.Err = errEndlessListing
			}
			return nil, b.wrapError("list", prefix, o.Err)
		case len(files) == maxListedObjects || len(files) > 0 && name == files[0].Name:
			return nil, b.wrapError("list", prefix, errEndlessListing)
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
	err := b.client.RemoveObject(ctx, b.bucketName, b.prefix+name, minio.RemoveObjectOptions{})
	if err != nil {
		return b.wrapError("remove", name, err)
	}
	return nil
}
