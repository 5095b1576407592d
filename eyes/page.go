package eyes

import (
	"crypto/sha256"
	_ "embed" // page.html
	"encoding/base64"
	"strings"
	"sync"
)

// page is all that a browser loads. It shows the JSON of its own address, so it works under any path.
//
//go:embed page.html
var page string

// policy allows the page its own script and style, by their hashes, and requests to where it is from.
var policy = sync.OnceValue(func() string {
	return "default-src 'none'; connect-src 'self'; img-src data:; script-src " + hashOf("script") +
		"; style-src " + hashOf("style") + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
})

// hashOf returns the hash of the content of the page's one element of a name.
func hashOf(element string) string {
	_, content, _ := strings.Cut(page, "<"+element+">")
	content, _, _ = strings.Cut(content, "</"+element+">")
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
