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

// bucket is a store in an S3 bucket, below a prefix.
type bucket struct {
	location string
	client   *minio.Client
	name     string
	prefix   string // empty, or ends with a slash
	writer   string // tells what this process wrote from what others did

	mostPages, mostPage int // of a list: those of the constants but in tests
}

// writerKey is the metadata key that identifies the process that wrote an object.
const writerKey = "Kir-Writer"

// IsBucket reports whether a location is in a bucket.
func IsBucket(location string) bool { return strings.HasPrefix(location, "s3://") }

// Open returns the store at s3://bucket/prefix?endpoint=URL&region=NAME. The default endpoint is
// Amazon's. Any other must speak S3 with conditional writes (If-None-Match: *), over http or https.
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
		Transport: boundListings{transport},
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
	return &bucket{location: location, client: client, name: at.Host, prefix: prefix, writer: rand.Text(), mostPages: mostPages, mostPage: mostPage}, nil
}

// A LocationError is returned for an invalid location of a run.
type LocationError struct{ Message string }

func (e *LocationError) Error() string { return e.Message }

// Location returns the location passed to [Open].
func (b *bucket) Location() string { return b.location }

// Path returns the address of an object.
func (b *bucket) Path(name string) string { return "s3://" + b.name + "/" + b.prefix + name }

// wrapError makes an error one of a file, as for directories.
func (b *bucket) wrapError(op, name string, err error) error {
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

// Create puts an object on the condition that there is none. If a response was lost and the client
// put the object again, the object exists already, and its metadata show that this process wrote
// it.
func (b *bucket) Create(ctx context.Context, name string, data []byte) error {
	o := minio.PutObjectOptions{UserMetadata: map[string]string{writerKey: b.writer}, DisableMultipart: true}
	o.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	if err == nil {
		return nil
	}
	err = b.wrapError("create", name, err)
	is, missing := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	if missing == nil && is.Metadata.Get("X-Amz-Meta-"+writerKey) == b.writer && is.Size == int64(len(data)) {
		return nil
	}
	return err
}

// Replace puts an object, and overwrites an existing one.
func (b *bucket) Replace(ctx context.Context, name string, data []byte) error {
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), minio.PutObjectOptions{DisableMultipart: true})
	if err != nil {
		return b.wrapError("write", name, err)
	}
	return nil
}

// Read gets an object or a range of it.
func (b *bucket) Read(ctx context.Context, name string, offset, length int64) ([]byte, error) {
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

// List lists the objects below the prefix.
func (b *bucket) List(ctx context.Context, prefix string) (files []run.File, err error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx = context.WithValue(ctx, listingContextKey{}, &listing{end: end, mostPages: b.mostPages, mostPage: b.mostPage})
	for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}) {
		name := strings.TrimPrefix(o.Key, b.prefix)
		switch {
		case o.Err != nil:
			if context.Cause(ctx) == errEndless {
				o.Err = errEndless
			}
			return nil, b.wrapError("list", prefix, o.Err)
		case len(files) == mostObjects || len(files) > 0 && name == files[0].Name:
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
func (b *bucket) Remove(ctx context.Context, name string) error {
	err := b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{})
	if err != nil {
		return b.wrapError("remove", name, err)
	}
	return nil
}
