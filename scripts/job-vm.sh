#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The main job on emulated hardware, ./run.sh --vm: scenario `job` of the VM lab, and its report.
# Exit status 77: this machine cannot run it, the last line says why.
set -euo pipefail

# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

report=$PP_BUILD/vm/job/ours.json
pp_say "Forwarding between two NICs of a virtual machine, emulated: what is right shows, not what is fast"
"$PP_TOP/tests/vm/run" job || exit
printf '\nPool %s after the run\n' "$(jq -r '.pools[0].name' "$report")"
jq -r '.pools[0] | to_entries[] | select((.value | type == "number") and .value > 0)
	| "  \(.key) \(.value * 1000 | round / 1000)"' "$report"
printf 'Report: %s\n' "$report"
