package parts

import (
	"os"
	"testing"

	"github.com/kubewright/kubewright/internal/wirebench"
)

func TestMain(m *testing.M) {
	wirebench.Child(nil)
	os.Exit(m.Run())
}

// BenchmarkPart measures one replica with the ranges that it has if there are 1, 2, 4 or 8.
func BenchmarkPart(b *testing.B) { wirebench.Parts(b, wirebench.Setting("WIREBENCH_OBJECTS", 200_000)) }

// TestPart checks what doesn't depend on the machine: bytes and memory are within 15% of the part's share.
func TestPart(t *testing.T) { wirebench.CheckParts(t, 8000, 1.15) }
