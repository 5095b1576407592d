// Command release rehearses a release: it makes a module proxy in a folder from the files that git tracks,
// and installs and uses from there what users would get.
//
//	go run ./internal/release -version v0.37.0
//
// The working directory must be the root of the repository. Nothing is tagged or sent anywhere.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	version := flag.String("version", "", "the version to rehearse, v0.37.0 for example")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := rehearse(ctx, ".", *version, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
