// Package samples keeps the packages of the guides in go.mod; the samples are written beside it.
package samples

import (
	_ "github.com/openai/openai-go/v3"
)
