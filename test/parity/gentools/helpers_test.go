//go:build unix

package gentools

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// copyOfAPI makes a writable copy of the module k8s.io/api and returns its folder.
func (s *sandbox) copyOfAPI(b *testing.B, name string) string {
	b.Helper()
	out, err := s.Run("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api")
	if err != nil {
		b.Fatal(err)
	}
	from, to := strings.TrimSpace(out), filepath.Join(s.Dir, name)
	err = filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
	if err != nil {
		b.Fatal(err)
	}
	return to
}

const deepCopies = "zz_generated.deepcopy.go"

// BenchmarkDeepCopy measures the time and the memory that the built deepcopy-gen needs for all of k8s.io/api.
func BenchmarkDeepCopy(b *testing.B) {
	for _, flavour := range flavours {
		b.Run(flavour, func(b *testing.B) {
			s := newSandbox()
			dir := s.copyOfAPI(b, "api-"+flavour)
			var sum cost
			for b.Loop() {
				removeDeepCopies(b, dir)
				sum.add(s.mustIn(dir, s.bin(flavour, "deepcopy-gen"), "--output-file", deepCopies, "./..."))
			}
			if files := removeDeepCopies(b, dir); files != 60 {
				b.Errorf("%d files", files)
			}
			report(b, sum.wall.Seconds()/float64(b.N), "s")
			b.ReportMetric(float64(sum.peak)/1e6, "peak-MB")
		})
	}
}

// BenchmarkEverything measures what the owner of an API runs: deep copies, registration, clients, listers and
// informers, for one group and for all of k8s.io/api. Ours is one command, upstream's are six.
func BenchmarkEverything(b *testing.B) {
	for _, c := range []struct {
		name     string
		packages []string
	}{{"batch", []string{"k8s.io/api/batch/v1"}}, {"all", kubernetes(b)}} {
		for _, flavour := range flavours {
			b.Run(c.name+"/"+flavour, func(b *testing.B) {
				s := newSandbox()
				dir := s.copyOfAPI(b, "everything-"+flavour)
				var folders []string
				for _, p := range c.packages {
					folders = append(folders, filepath.Join(dir, strings.TrimPrefix(p, "k8s.io/api/")))
				}
				var sum cost
				for b.Loop() {
					removeDeepCopies(b, folders...)
					client := s.fresh("client")
					if flavour == ours {
						sum.add(s.mustIn(dir, s.bin(ours, "kubewright"), slices.Concat([]string{"generate",
							"--with-applyconfig", "--plural-exceptions", "Endpoints:Endpoints",
							"--output-dir", client}, c.packages)...))
						continue
					}
					sum.add(s.mustIn(dir, s.bin(upstream, "deepcopy-gen"),
						append([]string{"--output-file", deepCopies}, c.packages...)...))
					sum.add(s.mustIn(dir, s.bin(upstream, "register-gen"), c.packages...))
					sum.add(s.upstreamIn(dir, client, "k8s.io/api/"+client, c.packages...))
				}
				if files := removeDeepCopies(b, folders...); files != len(c.packages) {
					b.Errorf("%d files with deep copies for %d packages", files, len(c.packages))
				}
				report(b, sum.wall.Seconds()/float64(b.N), "s")
				b.ReportMetric(float64(sum.peak)/1e6, "peak-MB")
			})
		}
	}
}

// removeDeepCopies removes the deep copies of the packages below the folders, and returns the number of files
// removed.
func removeDeepCopies(b *testing.B, folders ...string) (files int) {
	b.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != deepCopies {
				return err
			}
			files++
			return os.Remove(path)
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return files
}
