#!/bin/bash
# corpus.sh NAME [SCRATCH_ROOT]
# Runs a set of generators for one row of corpus.tsv in a scratch module, builds the
# result and reports. Environment:
#   BIN       directory of client-gen, lister-gen, informer-gen, applyconfiguration-gen
#   RUNTIME   the checkout of kubewright, when the generated code links its runtime
#   TYPECHECK=prog  uses PROG (a go/packages type-checker, see .work/tc) instead of `go build`
#   NOBUILD=1 skips `go build`;  KEEPMOD=1 reuses an existing scratch go.mod/go.sum
#   TSV       the corpus table (default: corpus.tsv beside this script)
# Output: SCRATCH_ROOT/NAME/{clientset/<name>,listers,informers,applyconfiguration[s]},
# SCRATCH_ROOT/NAME/.run/{times.tsv,result.txt,*.log}
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
TSV=${TSV:-$HERE/corpus.tsv}; NAME=${1:?row name}; ROOT=${2:-$HERE/scratch}
BIN=${BIN:?folder of upstream's client-gen, lister-gen, informer-gen, applyconfiguration-gen}
ROW=$(awk -F'\t' -v n="$NAME" '$1==n' "$TSV" | tr '\t' '\037'); [ -n "$ROW" ] || { echo "no row $NAME" >&2; exit 2; }
# (unit separator: read keeps empty fields)
IFS=$'\037' read -r _ MODULE VERSION APIS _cs _ls _inf _ac FLAGS _rest <<<"$ROW"
flag() { local t; for t in $FLAGS; do case $t in "$1") echo 1; return;; "$1="*) echo "${t#*=}"; return;; esac; done; }
CSNAME=$(flag clientset-name); CSNAME=${CSNAME:-versioned}
PLURAL=$(flag plural-exceptions); EXT=$(flag ac-externals); EXTRA=$(flag ac-extra)
ACDIR=$(basename "${_ac:-applyconfiguration}") # import aliases follow the directory name
D=$ROOT/$NAME; P=corpus.example/$NAME; R=$D/.run
mkdir -p "$R"; cd "$D" || exit 2
export GOFLAGS=-mod=mod GOWORK=off
: >"$R/hdr.txt"; : >"$R/times.tsv"
fail() { echo "$1" | tee "$R/result.txt"; exit 1; }

# 1. scratch module whose requirements make the types load
if [ -z "${KEEPMOD:-}" ] || [ ! -f go.sum ]; then
  rm -f go.mod go.sum
  { echo "module $P"; echo; echo "go 1.26.0"; echo
    # flag k8s-native: the module's own versions of k8s.io/* (and its replace lines), for types which do not load beside v0.37.2
    [ -z "$(flag k8s-native)" ] && for m in k8s.io/api k8s.io/apimachinery k8s.io/client-go; do [ "$m" = "$MODULE" ] || echo "require $m v0.37.2"; done
    [ -n "${RUNTIME:-}" ] && { echo "require github.com/kubewright/kubewright v0.0.0"; echo "replace github.com/kubewright/kubewright => $RUNTIME"; }
    r=$(flag modpath); echo "require ${r:-$MODULE} $VERSION"
    # common low-level dependencies, the same in every scratch module, so that compiled packages are shared
    [ -z "$(flag k8s-native)" ] && [ -f "$HERE/pins.txt" ] && sed 's/^/require /' "$HERE/pins.txt"
    for m in $(flag require | tr ',' ' '); do echo "require ${m%@*} ${m#*@}"; done
    for m in $(flag replace | tr ',' ' '); do echo "replace ${m%%=>*} => $(echo "${m#*=>}" | tr '@' ' ')"; done
    [ -n "$(flag k8s-native)" ] && go mod download -json "$MODULE@$VERSION" | sed -n 's/.*"GoMod": "\(.*\)",/\1/p' | xargs grep -hE '=> *[a-z0-9.-]+\.[a-z]+/[^ ]+ v' | sed -E 's/^[[:space:]]*(replace )?/replace /'
  } >go.mod
fi
mkdir -p deps
{ echo "// Package deps pins what the generated code imports."; echo "package deps"; echo; echo "import ("
  MORE="k8s.io/client-go/gentype k8s.io/client-go/features k8s.io/client-go/util/watchlist k8s.io/client-go/util/apply sigs.k8s.io/structured-merge-diff/v6/typed"
  [ -n "$(flag k8s-native)" ] && MORE=
  [ -n "${RUNTIME:-}" ] && for r in version client client/fake lister informer factory; do MORE="$MORE github.com/kubewright/kubewright/runtime/$r"; done
  for p in $APIS $(echo $EXTRA | tr ',' ' ') $MORE k8s.io/apimachinery/pkg/util/managedfields k8s.io/client-go/discovery/fake \
    k8s.io/client-go/testing k8s.io/client-go/rest k8s.io/client-go/tools/cache k8s.io/client-go/applyconfigurations/meta/v1; do echo "	_ \"$p\""; done; echo ")"; } >deps/deps.go
go list -deps ./deps >/dev/null 2>"$R/load.log" || fail "LOAD-FAIL: $(grep -vE '^go: (downloading|finding|found|added|upgraded)' "$R/load.log" | sed -E 's#https?://[^ ]*##g' | head -2 | tr '\n' ' ')"
sed -i -E 's#https?://[^ ]*##g' "$R/load.log"
MODDIR=$(go list -m -f '{{.Dir}}' "$(r=$(flag modpath); echo "${r:-$MODULE}")")

# 2. generators
rm -rf clientset listers informers applyconfiguration applyconfigurations
SCHEMA=; s=$(flag openapi-run); [ -n "$s" ] && { go run "$s" >"$R/schema.json" 2>"$R/schema.log" && SCHEMA=$R/schema.json; }
s=$(flag openapi-file); [ -n "$s" ] && SCHEMA=$MODDIR/$s
# times.tsv: generator, wall seconds, exit status, user seconds, system seconds, peak RSS in KiB
t() { local tag=$1 rc; shift; /usr/bin/time -q -o "$R/t" -f '%e %U %S %M' "$@" >"$R/$tag.log" 2>&1; rc=$?
  read -r e u y m < <(tail -1 "$R/t"); printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$tag" "$e" "$rc" "$u" "$y" "$m" >>"$R/times.tsv"; return $rc; }
BAD=; AC=
# all four always run; "no-applyconfig" (none checked in) only means that client-gen is not told of them
[ -z "$(flag no-applyconfig)" ] && AC=$P/$ACDIR
t applyconfiguration-gen "$BIN/applyconfiguration-gen" --go-header-file "$R/hdr.txt" --output-dir $ACDIR --output-pkg $P/$ACDIR \
    --external-applyconfigurations "$EXT" --openapi-schema "$SCHEMA" $APIS $(echo $EXTRA | tr ',' ' ') || { BAD="$BAD applyconfiguration-gen"; }
# hub packages (no version element) go to an internal clientset, the others to the versioned one
IN=(); HUB=(); for p in $APIS; do case $(basename $p) in v[0-9]*) IN+=(--input "$p");; *) HUB+=(--input "$p/");; esac; done
cg() { local tag=$1 name=$2; shift 2; t $tag "$BIN/client-gen" --go-header-file "$R/hdr.txt" --output-dir clientset --output-pkg $P/clientset --clientset-name $name \
  --input-base "" --plural-exceptions "$PLURAL" $([ -n "$(flag prefers-protobuf)" ] && echo --prefers-protobuf) "$@" || BAD="$BAD $tag"; }
cg client-gen "$CSNAME" --apply-configuration-package "$AC" "${IN[@]}"
CF=(--versioned-clientset-package $P/clientset/$CSNAME)
[ ${#HUB[@]} -gt 0 ] && { cg client-gen-internal internalversion "${HUB[@]}"; CF+=(--internal-clientset-package $P/clientset/internalversion); }
t lister-gen "$BIN/lister-gen" --go-header-file "$R/hdr.txt" --output-dir listers --output-pkg $P/listers --plural-exceptions "$PLURAL" $APIS || BAD="$BAD lister-gen"
t informer-gen "$BIN/informer-gen" --go-header-file "$R/hdr.txt" --output-dir informers --output-pkg $P/informers "${CF[@]}" \
    --listers-package $P/listers --plural-exceptions "$PLURAL" $([ -n "$(flag single-directory)" ] && echo --single-directory) $APIS || BAD="$BAD informer-gen"
TOT=$(awk -F'\t' '{s+=$2}END{printf "%.2f",s}' "$R/times.tsv"); N=$(grep -rlE '^// Code generated by' --include=*.go . | wc -l)
[ -n "$BAD" ] && fail "GEN-FAIL:$BAD: $(for b in $BAD; do grep -vE '^\s*$' "$R/$b.log" | tail -1; done | sed "s#$ROOT##g" | cut -c1-300 | tr '\n\t' '  ') [files=$N total=$TOT]"
# 3. build
[ -n "${NOBUILD:-}" ] && { echo "GEN-OK [files=$N total=$TOT]" | tee "$R/result.txt"; exit 0; }
[ -n "$(flag k8s-native)" ] && { echo "GEN-OK-NATIVE (generated on the module's own k8s.io versions; not compiled, v0.37.2 output needs client-go v0.37) [files=$N total=$TOT]" | tee "$R/result.txt"; exit 0; }
OUTS=$(for d in clientset listers informers $ACDIR; do [ -d $d ] && echo ./$d/...; done)
if [ -n "${TYPECHECK:-}" ]; then
  if "$TYPECHECK" $OUTS >"$R/build.log" 2>&1; then echo "OK-TYPES [files=$N total=$TOT]" | tee "$R/result.txt"; exit 0
  else fail "TYPES-FAIL: $(grep '^GEN' "$R/build.log" | head -1 | sed "s#$ROOT##g" | cut -c1-260) ($(grep -c ^GEN "$R/build.log") errors in generated packages, $(grep -c ^DEP "$R/build.log") in others) [files=$N total=$TOT]"; fi
fi
if go build -p 2 $OUTS >"$R/build.log" 2>&1; then echo "OK [files=$N total=$TOT]" | tee "$R/result.txt"
else sed -i -E 's#https?://[^ ]*##g' "$R/build.log"; fail "BUILD-FAIL: $(grep -vE '^(#|go: )' "$R/build.log" | head -1 | cut -c1-260) (packages: $(grep '^# ' "$R/build.log" | cut -c3- | sed "s#$P/##" | head -6 | tr '\n' ' '); $(grep -cE '^\S+\.go:' "$R/build.log") lines) [files=$N total=$TOT]"; fi
