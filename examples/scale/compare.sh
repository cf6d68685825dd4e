#!/usr/bin/env bash
# Fails unless two runs have the same draws, and the same summary, to the last digit. The
# time, the list of files of draws and the checksum, which covers both, may differ.
#
#   examples/scale/compare.sh RUN OTHER
set -euo pipefail
kir=${KIR:-kir}
strip() { sed '/^  "parts": \[/,/^  \]/d; /^  "timing": {/,/^  }/d; /^  "checksum": /d'; }
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
of() {
  "$kir" draws "$1" | sha256sum >"$files/draws.$2"
  "$kir" show "$1" --json | strip >"$files/summary.$2"
}
of "$1" a
of "$2" b
for what in draws summary; do
  diff "$files/$what.a" "$files/$what.b" >&2 || { echo "$1 has another $what than $2" >&2; exit 1; }
done
