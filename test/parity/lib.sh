# Sourced by regen.sh; $here is the folder of these scripts.

abspath() { # of a file or folder that may not exist yet
	case $1 in /*) printf '%s\n' "$1";; *) printf '%s/%s\n' "$PWD" "$1";; esac
}

note() { printf '# %s\n' "$*"; }

# module_dir MODULE@VERSION: its folder in the module cache, downloaded if needed.
module_dir() {
	(cd / && GOFLAGS='' go mod download -json "$1") | sed -n 's/^[[:space:]]*"Dir": "\(.*\)",*$/\1/p'
}

# fresh_copy MODULE@VERSION DIR
fresh_copy() {
	local src; src=$(module_dir "$1")
	[ -d "$src" ] || { echo "cannot download $1" >&2; return 1; }
	rm -rf "$2"; mkdir -p "$(dirname "$2")"
	cp -R "$src" "$2"; chmod -R u+w "$2"
}

# placeholder_version DIR MODULE: the version DIR/go.mod requires of MODULE.
placeholder_version() {
	local v; v=$(cd "$1" && GOFLAGS=-mod=mod go list -m -f '{{.Version}}' "$2" 2>/dev/null) || v=
	printf '%s\n' "${v:-v0.0.0}"
}

# build_tools WORK: apidiff and testcmp into WORK/bin.
build_tools() {
	mkdir -p "$1/bin"
	(cd "$here" && GOWORK=off go build -p "${JOBS:-2}" -o "$1/bin/" ./apidiff ./testcmp)
}
