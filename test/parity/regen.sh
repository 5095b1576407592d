#!/usr/bin/env bash
# Regenerates the clientset, listers, informers and apply configurations of
# k8s.io/client-go with a given set of generators, and compares the result
# with the release.
#
#   regen.sh BIN_DIR WORK_DIR [MODULE=DIR ...]
#
# BIN_DIR     holds client-gen, lister-gen, informer-gen, applyconfiguration-gen
# WORK_DIR    becomes: orig/ client-go/ (the regenerated copy) schema.json logs/
# MODULE=DIR  modules that generated code imports: each is required and replaced
#             in the copy's go.mod (example.com/runtime=../runtime)
#
# Environment:
#   CLIENT_GO_VERSION  release to regenerate (default v0.37.2)
#   SCHEMA             OpenAPI JSON file to use instead of making one
#   STEPS              which steps to run (default all, in this order):
#                      "generate build vet apidiff probe test"; also "measure",
#                      only when named
#   BASELINE           tests expected to pass (default client-go.expected)
#   WRITE_BASELINE=1   write BASELINE instead of comparing with it
#   MEASURE_COPIES     which copies to measure (default "orig client-go")
#   JOBS               parallel builds and tests (default 2)
#   TIMEOUT            limit of one test binary (default 4m)
#   CLIENT_GEN_ARGS, LISTER_GEN_ARGS, INFORMER_GEN_ARGS,
#   APPLYCONFIGURATION_GEN_ARGS  appended to that generator's arguments
#
# Prints a line 'check NAME: N of M' for each check; exits 1 if any N != M,
# byte identity excepted.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"
usage() { sed -n '2,/^set/{/^set/!p}' "${BASH_SOURCE[0]}" | sed 's/^# \{0,1\}//' >&2; exit 2; }
[ $# -ge 2 ] || usage
bin=$(abspath "$1"); mkdir -p "$2"; work=$(abspath "$2"); shift 2
pairs=(); for pair in "$@"; do case $pair in *=*) pairs+=("${pair%%=*}=$(abspath "${pair#*=}")");; *) usage;; esac; done
version=${CLIENT_GO_VERSION:-v0.37.2}
jobs=${JOBS:-2}; timeout=${TIMEOUT:-4m}
steps=" ${STEPS:-generate build vet apidiff probe test} "
baseline=$(abspath "${BASELINE:-$here/client-go.expected}")
mod=k8s.io/client-go
dirs="kubernetes listers informers applyconfigurations"
orig=$work/orig; new=$work/client-go; log=$work/logs
mkdir -p "$log"
export GOWORK=off
failed=0
started=$(date +%s); last=$started
want() { case $steps in *" $1 "*) return 0;; esac; return 1; }
lap() { local now; now=$(date +%s); note "$1 took $(( now - last )) s"; last=$now; }
check() { # NAME N M [remark]
	printf 'check %s: %d of %d%s\n' "$1" "$2" "$3" "${4:+ ($4)}"
	[ "$2" -eq "$3" ] && [ "$3" -gt 0 ] || failed=1
}
generated() { # the generated files under the four folders, sorted
	(cd "$1" && find $dirs -name '*.go' -exec grep -lE '^// Code generated .* DO NOT EDIT\.$' {} + | sort)
}
in_new() { (cd "$new" && if [ ${#pairs[@]} -gt 0 ]; then export GOFLAGS="${GOFLAGS:-} -mod=mod"; fi; "$@"); }

build_tools "$work"
if want generate || [ ! -d "$orig" ]; then fresh_copy "$mod@$version" "$orig"; fi
generated "$orig" > "$work/deleted.txt"
total=$(wc -l < "$work/deleted.txt")
lap "preparation"

if want generate; then
	fresh_copy "$mod@$version" "$new"
	(cd "$new" && xargs rm -f < "$work/deleted.txt" && find $dirs -type d -empty -delete)
	for pair in ${pairs[@]+"${pairs[@]}"}; do
		(cd "$new" && go mod edit -require "${pair%%=*}@v0.0.0" -replace "${pair%%=*}=${pair#*=}")
	done

	# The API packages, as upstream finds them: every folder with a types.go.
	api=$(cd "$orig" && go list -m -f '{{.Dir}}' k8s.io/api)
	[ -n "$api" ] || api=$(module_dir "k8s.io/api@$version")
	mapfile -t apis < <(cd "$api" && find . -name types.go | sed 's,^\./,k8s.io/api/,; s,/types\.go$,,' | sort)

	# Group versions that are served, in upstream's order, which the scheme shows.
	mapfile -t served < <(awk '
		match($0, /^\t[a-z0-9]+ "k8s\.io\/api\/[^"]+"/) { split($0, f, "\""); sub(/^\t/, ""); sub(/ .*/, ""); path[$0] = substr(f[2], 12) }
		/^\t[a-z0-9]+\.AddToScheme,$/ { sub(/^\t/, ""); sub(/\..*/, ""); print path[$0] }' "$orig/kubernetes/scheme/register.go")
	inputs=(); for gv in "${served[@]}"; do inputs+=(--input "$gv"); done
	note "${#apis[@]} API packages, ${#served[@]} served"

	if [ -n "${SCHEMA:-}" ]; then
		[ "$SCHEMA" -ef "$work/schema.json" ] || cp "$SCHEMA" "$work/schema.json"
	else
		rm -rf "$work/schema"; cp -R "$here/testdata/schema" "$work/schema"
		(
			cd "$work/schema"
			if [ "$(go list -m -f '{{.Version}}' k8s.io/api)" != "$version" ]; then
				go get "k8s.io/api@$version" "k8s.io/apimachinery@$version"
			fi
			models=("${apis[@]}"); readonly=()
			for p in api/resource apis/meta/v1 apis/meta/v1beta1 runtime util/intstr version; do models+=("k8s.io/apimachinery/pkg/$p"); done
			for p in "${models[@]}"; do readonly+=(--readonly-pkg "$p"); done
			go build -p "$jobs" -o "$work/bin/openapi-gen" k8s.io/kube-openapi/cmd/openapi-gen
			"$work/bin/openapi-gen" --go-header-file "$here/header.txt" --output-dir models --output-pkg regen/schema/models \
				--output-file models.go --output-model-name-file zz_generated.model_name.go \
				--report-filename violations.txt "${readonly[@]}" "${models[@]}"
			go run -p "$jobs" . > "$work/schema.json"
		) > "$log/schema.log" 2>&1 || { tail -20 "$log/schema.log" >&2; exit 2; }
		lap "the OpenAPI schema"
	fi

	run() { # TOOL ARGS...
		local tool=$1 t0 t1 ok=1; shift
		t0=$(date +%s%N)
		in_new "$bin/$tool" "$@" > "$log/$tool.log" 2>&1 || ok=0
		t1=$(date +%s%N)
		note "$tool: $(( (t1 - t0) / 1000000 )) ms"
		[ $ok = 1 ] || tail -5 "$log/$tool.log" | sed 's/^/  /'
		ran=$(( ran + ok ))
	}
	ran=0
	plurals=(--plural-exceptions Endpoints:Endpoints)
	# shellcheck disable=SC2086
	{
	run applyconfiguration-gen --go-header-file "$here/header.txt" --openapi-schema "$work/schema.json" \
		--output-dir applyconfigurations --output-pkg $mod/applyconfigurations \
		"${apis[@]}" k8s.io/apimachinery/pkg/apis/meta/v1 ${APPLYCONFIGURATION_GEN_ARGS:-}
	run client-gen --go-header-file "$here/header.txt" --output-dir . --output-pkg $mod --clientset-name kubernetes \
		--input-base k8s.io/api "${plurals[@]}" --apply-configuration-package $mod/applyconfigurations --prefers-protobuf \
		"${inputs[@]}" ${CLIENT_GEN_ARGS:-}
	run lister-gen --go-header-file "$here/header.txt" --output-dir listers --output-pkg $mod/listers "${plurals[@]}" \
		"${apis[@]}" ${LISTER_GEN_ARGS:-}
	run informer-gen --go-header-file "$here/header.txt" --output-dir informers --output-pkg $mod/informers --single-directory \
		--versioned-clientset-package $mod/kubernetes --listers-package $mod/listers "${plurals[@]}" \
		"${apis[@]}" ${INFORMER_GEN_ARGS:-}
	}
	check "generators succeed" "$ran" 4
	if [ ${#pairs[@]} -gt 0 ]; then
		in_new go mod tidy > "$log/tidy.log" 2>&1 || { note "go mod tidy failed:"; tail -5 "$log/tidy.log"; }
	fi
	lap "generation"

	generated "$new" > "$work/generated.txt"
	same=0; : > "$work/different.txt"
	while read -r f; do
		if cmp -s "$orig/$f" "$new/$f"; then same=$(( same + 1 )); else echo "$f" >> "$work/different.txt"; fi
	done < "$work/deleted.txt"
	# Not a requirement, so not counted as a failure.
	printf 'check byte-identical files: %d of %d (%d generated; %d of the original files absent, %d new)\n' "$same" "$total" \
		"$(wc -l < "$work/generated.txt")" "$(comm -23 "$work/deleted.txt" "$work/generated.txt" | wc -l)" "$(comm -13 "$work/deleted.txt" "$work/generated.txt" | wc -l)"
	unformatted=$(cd "$new" && xargs gofmt -l < "$work/generated.txt" 2>&1 | wc -l)
	n=$(wc -l < "$work/generated.txt"); check "files as gofmt has them" $(( n - unformatted )) "$n"
	for d in $dirs; do
		for copy in orig client-go; do
			(cd "$work/$copy" && find "$d" -name '*.go' -exec grep -lE '^// Code generated .* DO NOT EDIT\.$' {} + | xargs cat | wc | awk -v d="$d" -v c="$copy" '{printf "# generated code in %s (%s): %d lines, %d bytes\n", d, c, $1, $3}')
		done
	done

	(cd "$orig" && go list -m -f '{{if not .Main}}{{.Path}} {{.Version}}{{end}}' all) | sort > "$work/modules.orig"
	in_new go list -m -f '{{if not .Main}}{{.Path}} {{.Version}}{{end}}' all 2> "$log/modules.err" | sort > "$work/modules.new" || true
	check "module versions unchanged" "$(comm -12 "$work/modules.orig" "$work/modules.new" | wc -l)" "$(wc -l < "$work/modules.orig")"
	lap "comparing files"
fi

packages() { go list -e -f '{{if .GoFiles}}{{.ImportPath}}{{end}}' ./... | sort; }
(cd "$orig" && packages) > "$work/packages.orig"

if want build; then
	in_new go list -e -p "$jobs" -export -f '{{if and .GoFiles .Export}}{{.ImportPath}}{{end}}' ./... 2> "$log/build.err" | sort > "$work/packages.built" || true
	grep -v '^#' "$log/build.err" | head -20 | sed 's/^/  /' || true
	check "packages build" "$(comm -12 "$work/packages.orig" "$work/packages.built" | wc -l)" "$(wc -l < "$work/packages.orig")"
	lap "building"
fi

if want vet; then
	# The release has findings of its own; those in unchanged files do not count,
	# unless they say that a file does not type-check.
	in_new go vet -p "$jobs" ./... > "$log/vet.log" 2>&1 && ok=1 || ok=0
	own=0; parsed=0; : > "$work/vet.bad"
	while IFS= read -r line; do
		f=$(sed -nE 's/^(vet: )?(\.\/)?([^:# ]+\.go):[0-9]+.*/\3/p' <<< "$line")
		[ -n "$f" ] || continue
		parsed=$(( parsed + 1 ))
		case $line in vet:*) ;; *) if cmp -s "$orig/$f" "$new/$f"; then own=$(( own + 1 )); continue; fi;; esac
		printf '  %s\n' "$line"
		echo "$mod/$(dirname "$f")" >> "$work/vet.bad"
	done < "$log/vet.log"
	n=$(sort -u "$work/vet.bad" | comm -23 "$work/packages.orig" - | wc -l); m=$(wc -l < "$work/packages.orig")
	if [ $ok = 0 ] && [ $parsed = 0 ]; then n=0; tail -5 "$log/vet.log" | sed 's/^/  /'; fi
	check "packages vet" "$n" "$m" "$own findings of the release itself ignored"
	lap "vetting"
fi

if want apidiff; then
	in_new "$work/bin/apidiff" -old "$orig" -new "$new" ./... > "$log/apidiff.log" 2>&1 || failed=1
	grep -vE '^(apidiff|struct tags):' "$log/apidiff.log" | head -40 || true
	grep -E '^(apidiff|struct tags):' "$log/apidiff.log" | sed 's/^/check /' || { echo "check apidiff: 0 of 1"; failed=1; }
	lap "apidiff, with building the original"
fi

if want probe; then
	# What the code does, seen from outside: see probe/main.go.
	for copy in orig client-go; do
		dir=$work/$copy/applyconfigurations/zz_probe
		rm -rf "$dir"; cp -R "$here/testdata/probe" "$dir"
		if [ $copy = orig ]; then (cd "$orig" && go build -p "$jobs" -o "$work/bin/probe-$copy" ./applyconfigurations/zz_probe) > "$log/probe-$copy.log" 2>&1 || true
		else in_new go build -p "$jobs" -o "$work/bin/probe-$copy" ./applyconfigurations/zz_probe > "$log/probe-$copy.log" 2>&1 || true; fi
		rm -rf "$dir"
		"$work/bin/probe-$copy" 2>> "$log/probe-$copy.log" | sort > "$work/probe-$copy.txt" || { note "the probe fails on $copy:"; tail -3 "$log/probe-$copy.log"; }
		rm -f "$work/bin/probe-$copy"
	done
	comm -23 "$work/probe-orig.txt" "$work/probe-client-go.txt" | head -10 | cut -c1-300 | sed 's/^/  < /' || true
	comm -13 "$work/probe-orig.txt" "$work/probe-client-go.txt" | head -10 | cut -c1-300 | sed 's/^/  > /' || true
	check "observed behaviours unchanged" "$(comm -12 "$work/probe-orig.txt" "$work/probe-client-go.txt" | wc -l)" "$(wc -l < "$work/probe-orig.txt")"
	lap "the probe"
fi

if want test; then
	tests="./kubernetes/... ./kubernetes_test/... ./listers/... ./informers/... ./applyconfigurations/... ./dynamic/... ./metadata/... ./tools/leaderelection/... ./testing/... ./examples/... ."
	# shellcheck disable=SC2086
	pkgs=$(cd "$orig" && go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' $tests)
	# shellcheck disable=SC2086
	in_new go test -p "$jobs" -timeout "$timeout" -json $pkgs > "$log/test.json" 2> "$log/test.err" || true
	if [ "${WRITE_BASELINE:-}" = 1 ]; then
		"$work/bin/testcmp" -write "$baseline" "$log/test.json"
	else
		"$work/bin/testcmp" -expected "$baseline" -title "check client-go's own tests" "$log/test.json" || failed=1
	fi
	lap "client-go's own tests"
fi

if want measure; then
	# Build first, so that dependencies are warm; then again with a flag that
	# changes nothing but the cache key of packages below the four folders.
	patterns=(); for d in $dirs; do patterns+=("./$d/..."); done
	for copy in ${MEASURE_COPIES:-orig client-go}; do
		copy=$work/$copy
		cd_in() { if [ "$copy" = "$new" ]; then in_new "$@"; else (cd "$copy" && "$@"); fi; }
		cd_in go build -p "$jobs" "${patterns[@]}"
		for d in all $dirs; do
			flags=(); targets=()
			for e in $dirs; do
				[ $d = all ] || [ $d = "$e" ] || continue
				flags+=("-gcflags=$mod/$e/...=-D nonce$$$(date +%s%N)"); targets+=("./$e/...")
			done
			t0=$(date +%s%N); cd_in go build -p "$jobs" "${flags[@]}" "${targets[@]}"; t1=$(date +%s%N)
			note "cold compile of $d ($(basename "$copy")): $(( (t1 - t0) / 1000000 )) ms"
		done
		mkdir -p "$copy/zz_podlist"
		cat > "$copy/zz_podlist/main.go" <<'GO'
package main

import (
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func main() {
	c, err := kubernetes.NewForConfig(&rest.Config{Host: os.Args[1]})
	if err != nil {
		panic(err)
	}
	l, err := c.CoreV1().Pods("").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(l.Items))
}
GO
		cd_in go build -p "$jobs" -o "$work/podlist" ./zz_podlist; a=$(wc -c < "$work/podlist")
		cd_in go build -p "$jobs" -ldflags '-s -w' -o "$work/podlist" ./zz_podlist; b=$(wc -c < "$work/podlist")
		note "binary that lists Pods ($(basename "$copy")): $a bytes, $b stripped"
		rm -rf "$copy/zz_podlist" "$work/podlist"
	done
	lap "measuring"
fi

note "$(( $(date +%s) - started )) s in all"
[ $failed = 0 ] && echo "all checks pass" || echo "some checks FAIL"
exit $failed
