package definitions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubewright/kubewright/runtime/internal/served"
)

// timeout is how long an answer may take.
const timeout = 10 * time.Second

// maxAnswer is the largest answer that is read. The discovery of a server with thousands of kinds has a few
// megabytes.
const maxAnswer = 256 << 20

// response is an answer of the server. Its status is 200, 304 or 404.
type response struct {
	status int
	body   []byte
	etag   string
}

// fetch sends GET. Any other answer is an error.
func (s *Set) fetch(ctx context.Context, path, accept, etag string) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(path).String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	request.Header.Set("User-Agent", s.config.UserAgent)
	if etag != "" {
		request.Header.Set("If-None-Match", etag)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w", path, err)
	case answer.StatusCode == http.StatusOK, answer.StatusCode == http.StatusNotFound,
		answer.StatusCode == http.StatusNotModified && etag != "":
		return &response{answer.StatusCode, body, answer.Header.Get("ETag")}, nil
	default:
		return nil, fmt.Errorf("GET %s: the server answers %s", path, answer.Status)
	}
}

// pathOf returns the path of a group and version.
func pathOf(version schema.GroupVersion) string {
	if version.Group == "" {
		return "/api/" + version.Version
	}
	return "/apis/" + version.Group + "/" + version.Version
}

// resources returns the resources that a group and version serves, none if the answer is 404.
func (s *Set) resources(ctx context.Context, version schema.GroupVersion) (names []string, err error) {
	path := pathOf(version)
	answer, err := s.fetch(ctx, path, "application/json", "")
	if err != nil || answer.status == http.StatusNotFound {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(answer.body, &list); err != nil {
		return nil, fmt.Errorf("GET %s: %w", path, err)
	}
	if list.Kind != "APIResourceList" {
		return nil, fmt.Errorf("GET %s: the server sent no list of resources", path)
	}
	for _, resource := range list.APIResources {
		names = append(names, resource.Name)
	}
	return names, nil
}

// ask sends GET for a group and version, and tells the answer to all of its kinds.
func (r *run) ask(ctx context.Context, version schema.GroupVersion) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-r.slots }()
	names, err := r.set.resources(ctx, version)
	if ctx.Err() != nil {
		return
	}
	r.mu.Lock()
	defer r.unlock()
	delete(r.asking, version)
	defer r.awake()
	for _, k := range r.kinds {
		if k.resource.GroupVersion() != version {
			continue
		}
		answer, failure := served.Serves, err
		switch {
		case err != nil:
			answer = served.Unclear
		case !slices.Contains(names, k.resource.Resource):
			answer = served.Lacks
			failure = errors.New("GET " + pathOf(version) + " doesn't serve " + k.resource.Resource +
				", and it isn't known yet whether another answer will")
		}
		if failure != nil {
			k.failed(failure)
		}
		r.tellLocked(k, func(m *served.Kind, now time.Time) { m.Got(now, answer) })
	}
}
