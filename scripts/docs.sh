#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# Makes the documentation: docs.sh api|guide [OUTPUT]. The reference of the public headers by Doxygen,
# the guide by Sphinx; warnings are errors. OUTPUT is build/docs if nothing else is said.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
OUT=${2:-$TOP/build/docs}

# The headers that are installed, and no others.
headers() {
	grep -o "'pagepool[a-z_]*\.h'" "$TOP/lib/pagepool/meson.build" | tr -d "'" |
		sed "s|^|$TOP/lib/pagepool/|"
}

api() {
	mkdir -p "$OUT/api"
	{
		cat "$TOP/doc/Doxyfile"
		echo "INPUT = $(headers | tr '\n' ' ')"
		echo "STRIP_FROM_PATH = $TOP"
		echo "OUTPUT_DIRECTORY = $OUT/api"
	} | doxygen -
}

guide() {
	sphinx-build -W --keep-going -q -b html -d "$OUT/guide.tmp" "$TOP/doc" "$OUT/guide"
}

case ${1:-} in
api | guide) "$1" ;;
*)
	echo "Usage: $0 api|guide [OUTPUT]" >&2
	exit 2
	;;
esac
