#!/usr/bin/env bash
# Runs a test with an S3 server on this machine; the test keeps its runs there:
#
#   examples/scale/with-s3.sh examples/scale/test-slurm.sh
#
# The server is Versity's gateway. If it is not in the PATH, Go builds it, which takes some
# minutes the first time. The command finds the server in S3_ENDPOINT, and the keys of the
# bucket "bucket" in the environment.
set -euo pipefail
s3=$(mktemp -d)
gateway=""
trap '[ -z "$gateway" ] || kill "$gateway" 2>/dev/null; rm -rf "$s3"' EXIT
if ! command -v versitygw >/dev/null; then
  GOBIN="$s3" go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
fi
mkdir "$s3/data" "$s3/data/bucket"
port=$((24000 + RANDOM % 8000))
export AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret S3_ENDPOINT="http://127.0.0.1:$port"
ROOT_ACCESS_KEY=key ROOT_SECRET_KEY=secret PATH="$s3:$PATH" versitygw --port "127.0.0.1:$port" posix "$s3/data" >"$s3/log" 2>&1 &
gateway=$!
for _ in $(seq 100); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.1
done
"$@"
