#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# with-plugin.sh PLUGIN COMMAND...: runs the command with the plugin's path in PP_PLUGIN_FILE,
# unless it is there already.
PP_PLUGIN_FILE=${PP_PLUGIN_FILE:-$1}
export PP_PLUGIN_FILE
shift
exec "$@"
