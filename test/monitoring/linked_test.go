package monitoring

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/kubewright/kubewright/contrib/prometheus/eyesmetrics"
	"github.com/kubewright/kubewright/contrib/prometheus/shardingmetrics"
	"github.com/kubewright/kubewright/eyes"
	"github.com/kubewright/kubewright/sharding"
)

// member is a member that only has an identity.
type member struct{}

func (member) Identity() string        { return "anna" }
func (member) Status() sharding.Status { return sharding.Status{} }

var described = regexp.MustCompile(`fqName: "(\w+)"`)

// exportedNames returns the names of the metrics of the collectors.
func exportedNames() (names []string) {
	for _, c := range []prometheus.Collector{
		eyesmetrics.New(eyes.New(eyes.Options{})), shardingmetrics.New("bakers", member{}),
	} {
		descs := make(chan *prometheus.Desc)
		go func() {
			defer close(descs)
			c.Describe(descs)
		}()
		for desc := range descs {
			names = append(names, described.FindStringSubmatch(desc.String())[1])
		}
	}
	return names
}

// TestLinked checks that the tests link the engine of Prometheus, and neither its database nor the evaluation
// of rules, nor the SDKs of clouds.
func TestLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-test", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	const prefix = "github.com/prometheus/prometheus/"
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, prefix+"promql") {
		t.Errorf("%d packages, without the engine", len(linked))
	}
	clouds := regexp.MustCompile(`^(github\.com/(aws|Azure)/|cloud\.google\.com/|google\.golang\.org/grpc)`)
	ofTSDB := []string{"tsdb/chunkenc", "tsdb/chunks", "tsdb/fileutil"}
	for _, p := range linked {
		ours := strings.TrimPrefix(p, prefix)
		part, _, _ := strings.Cut(ours, "/")
		if slices.Contains([]string{"rules", "tsdb", "discovery"}, part) && !slices.Contains(ofTSDB, ours) ||
			clouds.MatchString(p) {
			t.Errorf("%s is linked", p)
		}
	}
}
