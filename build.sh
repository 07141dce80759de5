#!/usr/bin/env bash
# The one command for people: builds, shows and tests svcrelay on a Debian or Ubuntu machine (amd64 or arm64).
set -euo pipefail
cd "$(dirname "$0")"
export CGO_ENABLED=0

usage() {
	cat <<'TEXT'
usage: ./build.sh [build | demo | test [all | SUITE...] | equiv [-ops N] [-seed S] [-config C]]

  build  (default) make the command and both libraries in dist/
  demo   boot a small virtual machine, compare a guest without PRoot, under PRoot, and under PRoot with svcrelay,
         print one table and write out/demo.json
  test   run the tests, those in the virtual machine included, but not the few that take long; "test all" runs these,
         too; with names of folders in tests/ only those: "test abi" (every kernel, processor and C library, one line
         each, and out/abi.json), "test programs" (real programs, one line each, and out/programs.json)
  equiv  compare PRoot with PRoot and svcrelay over N generated operations and the hand-written ones, and write
         out/equiv.json; a difference is printed as a small test. Configurations: plain, bindings, root-id, change-id,
         link2symlink, proot-distro

What is missing on the machine is installed with apt. Downloads and built guests are kept in
${SVCRELAY_CACHE:-${XDG_CACHE_HOME:-~/.cache}/svcrelay}; removing that directory is safe.
TEXT
}

say() { printf 'build.sh: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# as_root runs a command with the rights to install packages.
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		fail "packages are missing and this is neither root nor has sudo; run as root: $*"
	fi
}

# need names the package that has a program, if the program is not there: need PROGRAM PACKAGE
missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); }

# install_missing gets everything that building, the virtual machine and the tests use, Go itself excepted.
install_missing() {
	command -v go >/dev/null || [ ! -x /usr/local/go/bin/go ] || PATH=$PATH:/usr/local/go/bin
	command -v go >/dev/null || fail "Go is missing: install Go $(sed -n 's/^go //p' go.mod) or newer and put its bin directory on PATH"
	need aarch64-linux-gnu-ld binutils-aarch64-linux-gnu
	if [ "${1:-}" = vm ]; then
		case $(uname -m) in
			aarch64)
				need aarch64-linux-gnu-gcc gcc
				need aarch64-linux-gnu-g++ g++
				;;
			*)
				need aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
				need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
				;;
		esac
		need qemu-system-aarch64 qemu-system-arm
		need qemu-aarch64 qemu-user
		need make make
		need xz xz-utils
		need zstd zstd
		[ -e /usr/share/keyrings/debian-archive-keyring.gpg ] || missing+=(debian-archive-keyring)
		grep -qs '^ID="\?debian' /etc/os-release || [ -e /usr/share/debootstrap ] || missing+=(debootstrap)
	fi
	[ ${#missing[@]} -gt 0 ] || return 0
	command -v apt-get >/dev/null || fail "missing, and this machine has no apt to install it with: ${missing[*]}"
	say "installing ${missing[*]}"
	as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# link_library makes a library from an object that the generator wrote: link_library NAME OBJECT [OPTION...]
link_library() {
	local name=$1 object=$2
	shift 2
	aarch64-linux-gnu-ld -shared -soname "$name.so" -L ldscripts -T "$name.ld" --hash-style=gnu --build-id=sha1 \
		--eh-frame-hdr -z max-page-size=65536 -z noexecstack -z text -z nodelete --orphan-handling=error \
		--strip-debug "$@" -o "dist/$name.so.new" "$object"
	chmod 644 "dist/$name.so.new"
	mv "dist/$name.so.new" "dist/$name.so"
}

build() {
	mkdir -p dist
	go build -trimpath -o dist/svcrelay ./cmd/svcrelay
	GOOS=linux GOARCH=arm64 go build -trimpath -o dist/svcrelay-arm64 ./cmd/svcrelay
	link_library libsvcrelay relay/libsvcrelay.o --no-undefined
	link_library libsvcrelay-tracer tracer/libsvcrelay-tracer.o
	say "built dist/: svcrelay (this machine), svcrelay-arm64, libsvcrelay.so, libsvcrelay-tracer.so"
}

# check_generated makes sure that the committed objects are what the sources give.
check_generated() {
	local objects=(relay/libsvcrelay.o relay/libsvcrelay.json tracer/libsvcrelay-tracer.o tracer/libsvcrelay-tracer.json) before
	before=$(sha256sum "${objects[@]}")
	go generate ./relay ./tracer
	[ "$before" = "$(sha256sum "${objects[@]}")" ] ||
		fail "the objects in relay/ and tracer/ were not what their sources give; they are now: commit them"
}

# run_suites runs the tests in folders of tests/ and shows what they say.
run_suites() {
	local folders=() name
	for name in "$@"; do
		[ -d "tests/$name" ] || fail "there is no suite '$name': there are $(cd tests && echo *)"
		folders+=("./tests/$name/...")
	done
	build
	say "go test ${folders[*]}"
	SVCRELAY_LONG=1 SVCRELAY_VM=1 go test -count=1 -v -timeout 40m "${folders[@]}"
}

# watch says once a minute that something is still going on, until the process that it watches for ends.
watch() {
	local minutes=0
	while sleep 60 >/dev/null 2>&1 && kill -0 "$1" 2>/dev/null; do
		minutes=$((minutes + 1))
		say "still testing ($minutes min)"
	done
}

# run_tests runs all tests but those that take long: run_tests [all]
run_tests() {
	say "go vet"
	go vet ./...
	say "go generate"
	check_generated
	build
	say "fetching what the virtual machine needs"
	go run ./tests/rig/cmd/vmrun --prepare
	go run ./tests/rig/cmd/vmrun --prepare --guest programs
	if [ "${1:-}" = all ]; then
		export SVCRELAY_LONG=1
	else
		say "leaving out what takes long: the faults of equiv, the large numbers of abi, gdb and guarded control stacks; \"./build.sh test all\" runs them, too"
	fi
	say "go test"
	watch $$ &
	local watcher=$! status=0
	# One package more than processors: those that wait for the VM do nothing meanwhile.
	SVCRELAY_VM=1 go test -count=1 -p $(($(nproc) + 1)) -timeout 60m ./... || status=$?
	kill "$watcher" 2>/dev/null || true
	return "$status"
}

command=${1:-build}
[ $# -le 1 ] || [ "$command" = equiv ] || [ "$command" = test ] || { usage >&2; exit 2; }
case $command in
	build)
		install_missing
		build
		;;
	demo)
		install_missing vm
		build
		go run ./tests/demo
		;;
	test)
		shift || true
		install_missing vm
		case ${1:-} in '' | all) run_tests "$@" ;; *) run_suites "$@" ;; esac
		;;
	equiv)
		shift
		install_missing vm
		build
		go run ./tests/equiv "$@"
		;;
	-h | --help | help) usage ;;
	bench | release)
		say "there is no '$command' in this version of svcrelay; there are build, demo, test and equiv"
		exit 2
		;;
	*)
		say "there is no '$command'"
		usage >&2
		exit 2
		;;
esac
