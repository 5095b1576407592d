//go:build unix

package gentools

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// kubernetes are the packages of k8s.io/api that have types with a client.
func kubernetes(b *testing.B) []string {
	b.Helper()
	out, err := newSandbox().Run("go", "list", "-f", "{{.Dir}} {{.ImportPath}}", "k8s.io/api/...")
	if err != nil {
		b.Fatal(err)
	}
	var packages []string
	for line := range strings.Lines(out) {
		dir, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		text, err := os.ReadFile(filepath.Join(dir, "types.go"))
		if err == nil && strings.Contains(string(text), "+genclient\n") {
			packages = append(packages, path)
		}
	}
	return packages
}

// BenchmarkGenerate measures the time and the memory that the built commands need: one of ours, four of
// upstream's. They generate everything, including fakes and apply configurations, for one group version, for
// all of k8s.io/api, and for all of it once more, when all files exist. The first two write into new folders
// on the disk, which the commands don't sync.
func BenchmarkGenerate(b *testing.B) {
	all, batch := kubernetes(b), []string{"k8s.io/api/batch/v1"}
	for _, c := range []struct {
		name, folder string
		packages     []string
		again        bool
	}{{"batch", "batch", batch, false}, {"all", "all", all, false}, {"unchanged", "all", all, true}} {
		for _, flavour := range flavours {
			b.Run(c.name+"/"+flavour, func(b *testing.B) {
				s := newSandbox()
				if c.again {
					s.generate(flavour, c.folder, c.packages...)
				}
				var sum cost
				for b.Loop() {
					before, folder := time.Now(), c.folder
					if !c.again {
						folder = s.fresh(c.folder)
					}
					sum.add(s.generate(flavour, folder, c.packages...))
					if c.again && flavour == ours {
						s.files(b, flavour, c.folder, func(path string, info fs.FileInfo) {
							if info.ModTime().After(before) {
								b.Errorf("%s was touched", path)
							}
						})
					}
				}
				report(b, sum.wall.Seconds()/float64(b.N), "s")
				b.ReportMetric(float64(sum.peak)/1e6, "peak-MB")
			})
		}
	}
}

// report reports a metric in place of the time of an operation.
func report(b *testing.B, value float64, unit string) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(value, unit)
}

// BenchmarkLines counts the lines of the code generated for k8s.io/api that are neither blank nor a comment.
// Text in string literals is counted separately: most of it is the schema, which ours derives from Go types
// and upstream leaves empty unless it is given an OpenAPI document.
func BenchmarkLines(b *testing.B) {
	packages := kubernetes(b)
	for _, flavour := range flavours {
		b.Run(flavour, func(b *testing.B) {
			s := newSandbox()
			code, text := 0, 0
			for b.Loop() {
				s.generate(flavour, "all", packages...)
				code, text = 0, 0
				s.files(b, flavour, "all", func(path string, _ fs.FileInfo) {
					c, t := countLines(b, path)
					code, text = code+c, text+t
				})
			}
			report(b, float64(code), "lines")
			b.ReportMetric(float64(text), "lines-of-text")
		})
	}
}

// countLines counts the lines that hold a token, and separately the further lines of tokens that span
// several, which are raw strings.
func countLines(b *testing.B, path string) (code, text int) {
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	fset := token.NewFileSet()
	file := fset.AddFile(path, -1, len(content))
	var scan scanner.Scanner
	scan.Init(file, content, nil, 0)
	last := 0
	for {
		pos, tok, literal := scan.Scan()
		if tok == token.EOF {
			return code, text
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue // the end of a line isn't a token
		}
		if line := file.Line(pos); line != last {
			code++
			last = line
		}
		if more := strings.Count(literal, "\n"); more > 0 {
			text += more
			last += more
		}
	}
}

const program = `package main

import (
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"PACKAGE/clientset/versioned"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		panic(err)
	}
	client := versioned.NewForConfigOrDie(config)
	bakeries, err := client.ShopV1beta1().Bakeries("").List(context.Background(), metav1.ListOptions{})
	fmt.Println(bakeries, err)
}
`

// BenchmarkBinary measures the size of a program that lists one custom resource: with each flavour's complete
// clientset, and with ours made by --lean.
func BenchmarkBinary(b *testing.B) {
	for _, folder := range []string{"full", "lean"} {
		for _, flavour := range flavours {
			b.Run(folder+"/"+flavour, func(b *testing.B) {
				s := newSandbox()
				var size int64
				for b.Loop() {
					size = s.program(b, flavour, folder)
				}
				report(b, float64(size)/1e6, "MB")
			})
		}
	}
}

// program builds the program on the code generated into a folder and returns its size.
func (s *sandbox) program(b *testing.B, flavour, folder string) int64 {
	s.lean = folder == "lean"
	defer func() { s.lean = false }()
	s.generate(flavour, folder, "github.com/kubewright/kubewright/examples/apis/shop/v1beta1")
	main := filepath.Join(flavour, folder+"-program")
	s.write(filepath.Join(main, "main.go"),
		strings.Replace(program, "PACKAGE", module+"/"+flavour+"/"+folder, 1))
	binary := s.bin(flavour + "-" + folder)
	s.must("go", "build", "-ldflags=", "-o", binary, "./"+main) // with symbols, as by default
	info, err := os.Stat(binary)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// BenchmarkCompile measures the time to compile the code generated for five group versions, a quarter of all,
// with all dependencies compiled before. Upstream's clients of apps/v1 need the apply configurations of
// autoscaling/v1.
func BenchmarkCompile(b *testing.B) {
	packages := []string{"k8s.io/api/apps/v1", "k8s.io/api/autoscaling/v1", "k8s.io/api/batch/v1",
		"k8s.io/api/core/v1", "k8s.io/api/networking/v1"}
	for _, flavour := range flavours {
		b.Run(flavour, func(b *testing.B) {
			s := newSandbox()
			s.generate(flavour, "compile", packages...)
			pattern := module + "/" + flavour + "/compile/..."
			s.must("go", "build", pattern)
			var sum cost
			for i := 0; b.Loop(); i++ {
				// A flag that only changes the packages' cache key.
				nonce := fmt.Sprintf("-gcflags=%s=-D nonce%d-%d", pattern, time.Now().UnixNano(), i)
				sum.add(s.must("go", "build", nonce, pattern))
			}
			report(b, sum.wall.Seconds()/float64(b.N), "s")
		})
	}
}
