//go:build tools

// Package tools pins the programs that the interop tests run, so that go.sum knows their bytes.
package tools

import (
	_ "github.com/fullstorydev/grpcurl/cmd/grpcurl"
	_ "github.com/summerwind/h2spec/cmd/h2spec"
)
