package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// govulncheck is pinned, as all tools are. It isn't in go.tool.mod because tests never need it.
const govulncheck = "golang.org/x/vuln/cmd/govulncheck@v1.9.0"

// vulnerabilities returns the steps of make vuln: govulncheck for each module, if its database can be
// reached.
func vulnerabilities() ([]step, error) {
	database := cmp.Or(os.Getenv("GOVULNDB"), "https://vuln.go.dev")
	if strings.HasPrefix(database, "http") {
		if err := reach(database + "/index/db.json"); err != nil {
			return nil, fmt.Errorf("nothing was checked: the database of vulnerabilities can't be reached;"+
				" set GOVULNDB to a copy of it: %w", err)
		}
	}
	modules, err := findModules(".")
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, m := range modules {
		check := command(m, "go", "run", govulncheck, "-db", database, "./...")
		steps = append(steps, step{name: "govulncheck " + m, run: check})
	}
	return steps, nil
}

func reach(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, resp.Status)
	}
	return nil
}
