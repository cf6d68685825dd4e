// Package docs has the documents of kir as files, for programs that show them.
package docs

import "embed"

// Files has the documents about the use of kir, one a topic, such as start.md.
//
//go:embed campaign.md conditions.md mcp.md problem.md properties.md report.md rules.md start.md tables.md tradeoff.md
var Files embed.FS
