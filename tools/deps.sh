#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Installs the Debian packages that are missing.	tools/deps.sh [build | test | bench]
set -eu

# for `make` and `make demo`
build="make gcc g++ clang bpftool libbpf-dev libelf-dev libdw-dev zlib1g-dev libzstd-dev libdeflate-dev libjson-c-dev libsqlite3-dev"
# and for `make check`: other compilers, other readers of the same points and traces
test="$build python3 python3-dev zstd libasio-dev libboost-dev graphviz libomp-14-dev libtbb-dev libboost-fiber-dev libboost-context-dev libstarpu-dev pkg-config golang-go openjdk-17-jdk-headless libcmocka-dev protobuf-compiler bpftrace gcc-aarch64-linux-gnu g++-aarch64-linux-gnu"

# what `make bench` measures beside the tracer, each if it is there
peers="bpftrace linux-perf lttng-tools liblttng-ust-dev uftrace"

case "${1:-build}" in
build) wanted=$build ;;
test) wanted=$test ;;
bench) wanted="$build python3 $peers" ;;
*)
	echo "usage: tools/deps.sh [build | test | bench]" >&2
	exit 2
	;;
esac

if ! command -v dpkg-query >/dev/null; then
	echo "tools/deps.sh: not a Debian; these must be there under their names here: $wanted" >&2
	exit 0
fi
missing=
for package in $wanted; do
	case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || :)" in
	*"ok installed") ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

echo "tools/deps.sh: installing$missing" >&2
as_root=
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "tools/deps.sh: run as root: apt-get install$missing" >&2
		exit 1
	fi
	as_root=sudo
fi
$as_root apt-get update -q >&2
if [ "${1:-build}" = bench ]; then
	# apt-get refuses all for one that it does not know
	for package in $missing; do
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
			"$package" >&2 || echo "tools/deps.sh: $package cannot be installed" >&2
	done
	exit 0
fi
# shellcheck disable=SC2086
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
