# The targets for users and CI. Every target does its own set-up and needs only Go
# and make. Programs are written in Go, so that they run anywhere.

.PHONY: help demo demo-sharded test nightly fuzz vuln e2e-kube lab soak track-record bench parity ctrl-suites programs upstream generate check lint release-rehearsal
.DEFAULT_GOAL := help

FUZZTIME ?= 3m

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## the main job, end to end, on an embedded real API server
	@echo "building the demo, with an API server and etcd in it (some minutes the first time) ..."
	@cd test/e2e && go run ./demo

demo-sharded: ## replicas of a controller, as processes, share its objects on the same kind of API server: one is killed, one frozen, one stopped
	@echo "building the demo, with an API server and etcd in it (some minutes the first time) ..."
	@cd test/e2e && go run ./demo-sharded

test: ## everything that must pass, with go test's -short; prints the counts last
	@go run ./internal/testall

nightly: ## make test without -short, all of the main module with the race detector, and contrib/controller-runtime also with the oldest controller-runtime: planted bugs, long models, kube-apiserver; then a million random steps of the model of informers, with the race detector; 1,000 objects and 4,000 messages of each kind decoded; the code of 2,000 random APIs compiled and run, and 500 orders of arguments; the definitions of 18 projects imported, and made of their types again; definitions of 2,000 random kinds compared with controller-gen's; 100,000 steps of the model of sharding; a million reconciles of the model of own writes, with the race detector; each benchmark of the runtime once; five bugs of make track-record; make fuzz; make soak without its page; make upstream
	@go run ./internal/testall -long
	@go test -race -timeout 3h ./runtime/internal/conformance -run '^TestModel$$' -model.seeds 1000
	@go test -timeout 3h ./runtime/internal/decode -run '^(TestKinds.*|TestDropEverywhere|TestWires)$$' -objects 1000 -wires 4000
	@go test -timeout 3h ./generators -run '^(TestNames|TestSameBytes)$$' -names 2000 -names-seed 0 -orders 500
	@cd generators/crdtest && go test -timeout 3h . -modules 0
	@cd test/controllergen && go test -timeout 3h . -markers 1000000 -kinds 2000
	@go test -timeout 3h ./sharding -run '^(TestModel|TestPlan)$$' -sharding.seeds 310 -sharding.steps 340 -sharding.plans 300
	@go test -race -timeout 3h ./runtime/ownwrites -run '^(TestModel|TestEchoModel)$$' -model.seeds 420
	@go test -timeout 3h ./runtime/... -run '^$$' -bench . -benchtime 1x
	@go run ./internal/trackrecord -nightly
	@$(MAKE) --no-print-directory fuzz
	@cd test/lab && go test -count=1 -timeout 2h ./load -lab.full
	@$(MAKE) --no-print-directory upstream

fuzz: ## each fuzz target for FUZZTIME, 3m by default
	@go run ./internal/testall -fuzz $(FUZZTIME)

vuln: ## known vulnerabilities in the modules' dependencies, by govulncheck; needs its database, https://vuln.go.dev
	@go run ./internal/testall -vuln

e2e-kube: ## the clients of k8s.io/api, and our informers beside client-go's, against a real kube-apiserver with faults (ten minutes the first time); keys that wait for their own writes behind a proxy that delays watches; replicas of a sharded controller, which are killed and frozen (45 minutes)
	@cd test/e2e && go test -v -count=1 -timeout 45m ./kube
	@cd test/ctrlsuites && go test -v -race -count=1 -timeout 45m ./ownwrites -run '^TestKube$$' -ownwrites.rounds 10000
	@cd test/e2e && go test -v -count=1 -timeout 60m ./sharded -run '^TestKube$$' -sharded.objects 20000 -sharded.rounds 60
	@cd test/e2e && go test -v -count=1 -timeout 20m ./sharded -run '^TestKube$$' -sharded.objects 20000 -sharded.rounds 3 -sharded.lease 15s -sharded.renew 10s -sharded.retry 2s
	@cd test/e2e && go test -v -count=1 -timeout 60m ./sharded -run '^TestEmbedded' -sharded.objects 20000 -sharded.rounds 10

lab: ## informers behind a proxy that injects faults, in memory and with real API servers; writes docs/reliability.md (25 minutes)
	@cd test/lab && go run .

soak: ## an informer with 20 handlers, one of them blocked, for 20 minutes at 2,000 changes a second, and for as long at the highest rate of the embedded API server; writes a section of docs/reliability.md (45 minutes)
	@cd test/lab && go run . -parts soak

track-record: ## plants 30 bugs that client-go and others really had, one at a time, and has the models, the lab and the comparisons with client-go find them; writes a section of docs/reliability.md (five minutes). RECORD='-only queue' runs some
	@go run ./internal/trackrecord $(RECORD)

bench: ## our benchmarks beside the incumbents'; writes docs/benchmarks.md. BENCH='-parts wire -bench SyncPods' runs only some
	@cd test/bench && go run . $(BENCH)

parity: ## regenerate client-go and real API repositories with our generators, compare; and the definitions of 18 repositories with controller-gen's, and with those of their import
	@cd test/controllergen && go run . -server -makefiles
	@cd generators/crdtest && go test -count=1 -timeout 1h . -run '^TestBack$$' -crds-dir ../../.cache/controllergen
	@cd test/parity && go run . $(PARITY)

ctrl-suites: ## controller-runtime's own tests with our caches and queues, and without (ten minutes)
	@cd test/ctrlsuites && go run . $(SUITES)

programs: ## public programs pass the same tests before and after kubewright move, and come back; what some cost once started; writes docs/programs.md (hours). PROGRAMS='-only lasso,kro' runs some, '-parts started' only starts them
	@cd test/dropin/programs && go run . $(PROGRAMS)

upstream: ## build and test a copy of this repository with the k8s.io modules of upstream/versions: the newest release, and the next minor. UPSTREAM='-versions v0.38 -only build' runs a part
	@go run ./internal/upstream $(UPSTREAM)

generate: ## write the generated code of examples/
	@go run ./cmd/kubewright generate ./examples/apis/... --output-dir examples/generated --metadata-informers --read-only-views

check: ## fail with a diff if the generated code of examples/ is not current
	@go run ./cmd/kubewright check ./examples/apis/... --output-dir examples/generated --metadata-informers --read-only-views

lint: ## gofmt, go vet, staticcheck
	@go run ./internal/testall -only gofmt && go run ./internal/testall -only vet && go run ./internal/testall -only staticcheck

release-rehearsal: ## install and compile what VERSION=v0.37.0 would give users, from a module proxy in a folder
	@go run ./internal/release -version "$(VERSION)"
