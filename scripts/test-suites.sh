#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the pagepool authors
#
# The suites of test.sh, but for those that have files of their own (compat, dpdk). Sourced by
# test.sh. Each counts its tests and goes on after a failure.

# t_configure FOLDER MESON_OPTION...: configures once, with the driver headers of $PP_BUILD, and
# builds; false and counted if that fails.
t_configure() {
	local build=$1 sdk
	shift
	sdk=$(cat "$PP_BUILD/.driver-sdk")
	if [ ! -f "$build/build.ninja" ] || [ "$(cat "$build/.driver-sdk" 2>/dev/null)" != "$sdk" ]; then
		rm -rf "$build"
		t_exec 120 "$T_DIR/setup.log" meson setup "$build" "$PP_TOP" "-Ddriver_sdk=$sdk" "$@" || {
			t_fail "meson setup $*" "$(t_why $?)" "$T_DIR/setup.log"
			return 1
		}
		printf '%s\n' "$sdk" >"$build/.driver-sdk"
	fi
	t_exec 600 "$T_DIR/compile.log" ninja -C "$build" ${PP_JOBS:+-j "$PP_JOBS"} || {
		t_fail "compile in ${build#"$PP_TOP/"}" "$(t_why $?)" "$T_DIR/compile.log"
		return 1
	}
}

# t_meson_suite BUILD SUITE SECONDS...: a suite without tests is told, not passed over.
t_meson_suite() {
	t_meson "$@"
	[ "$T_COUNT" -gt 0 ] || t_skip "$2" "this tree has no tests of suite '$2'"
}

suite_build() {
	local log=$PP_BUILD/whole-build.log
	if [ -f "$log" ]; then
		# All of it has just been compiled, a minute ago.
		if grep -q 'warning:' "$log"; then
			t_fail "no warning" "there are some" "$log"
		else
			t_pass "no warning"
		fi
		return 0
	fi
	# From nothing: a warning in a file that was compiled before would not be seen again.
	rm -rf "$PP_BUILD/werror"
	if t_configure "$PP_BUILD/werror" --buildtype=release -Dwerror=true; then
		t_pass "no warning"
	fi
	rm -rf "$PP_BUILD/werror"
}

suite_docs() {
	local part tool
	for part in api:doxygen guide:myst-anchors; do
		tool=${part#*:}
		if pp_have "$tool"; then
			t_run "${part%:*}" 120 "$PP_TOP/scripts/docs.sh" "${part%:*}" "$PP_BUILD/docs" || true
		else
			t_skip "${part%:*}" "$tool is missing and could not be installed"
		fi
	done
}

# The files of the project that match, with paths from the top. Without git: a release archive.
t_files() {
	if git -C "$PP_TOP" rev-parse --git-dir >/dev/null 2>&1; then
		git -C "$PP_TOP" ls-files -- "$@"
	else
		(cd "$PP_TOP" && find . -path ./build -prune -o -type f -print | sed 's|^\./||') |
			while read -r file; do
				local pattern
				for pattern; do
					# shellcheck disable=SC2053  # a pattern is meant
					if [[ $file == $pattern ]]; then
						echo "$file"
						break
					fi
				done
			done
	fi
}

t_scripts() {
	t_files '*' | while read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*.*) ;;
		*) ! head -n 1 "$PP_TOP/$file" | grep -qa '^#!.*sh' || echo "$file" ;;
		esac
	done
	t_files '.ci/*'
}

suite_format() {
	local files missing version
	mapfile -t files < <(t_files '*.c' '*.h')
	version=$(clang-format --version 2>/dev/null | grep -o '[0-9]*' | head -n 1) || true
	if [ -z "$version" ]; then
		t_skip clang-format "it is missing and could not be installed"
	elif [ "$version" != 14 ]; then
		t_skip clang-format "other versions than 14 format differently, this is $version"
	else
		t_run "clang-format of ${#files[@]} files" 60 \
			env -C "$PP_TOP" clang-format --dry-run -Werror "${files[@]}" || true
	fi
	mapfile -t files < <(t_scripts | sort -u)
	if pp_have shellcheck; then
		t_run "shellcheck of ${#files[@]} scripts" 120 \
			env -C "$PP_TOP" shellcheck -x "${files[@]}" || true
	else
		t_skip shellcheck "it is missing and could not be installed"
	fi
	mapfile -t files < <({
		t_files '*.c' '*.h' '*.py' '*.pml' '*meson.build' 'meson_options.txt'
		t_scripts
	} | sort -u)
	# Status 1: no file lacks it.
	missing=$(env -C "$PP_TOP" grep -L 'SPDX-License-Identifier: BSD-3-Clause' "${files[@]}") || true
	if [ -z "$missing" ]; then
		t_pass "licence line of ${#files[@]} files"
	else
		echo "$missing" >"$T_DIR/spdx.log"
		t_fail "licence line" "missing in these files" "$T_DIR/spdx.log"
	fi
}

# The headers themselves are tried in suite unit.
suite_sdk() {
	t_meson_suite "$PP_BUILD" sdk 3600
	[ -x "$PP_BUILD/tests/sdk/sdk-driver" ] ||
		t_skip driver_headers "there are none, so that drivers/net is left out"
}

suite_unit() {
	t_meson_suite "$PP_BUILD" unit 900
}

suite_stress() {
	t_meson_suite "$PP_BUILD" stress 900
}

# t_sanitized NAME SANITIZERS: the sanitizers' own options are in tests/meson.build.
t_sanitized() {
	local build=$PP_BUILD/$1 sanitizers=$2
	# The compiler's own libraries, which the sanitizers need, are not in the link of a plugin.
	# Lines of what they report are all that is needed of debug information, and most of the time goes by
	# with compiling.
	# The ops rely on jumps where they name the site of who calls them.
	t_configure "$build" --buildtype=plain -Doptimization=1 \
		"-Dc_args=-g1 -foptimize-sibling-calls" -Dwerror=true "-Db_sanitize=$sanitizers" \
		-Db_lundef=false -Dprograms=false || return 0
	# Each of its programs has one thread that works, and starts slowly here.
	t_meson_suite "$build" unit 1200 --timeout-multiplier 5 --num-processes 2
	t_meson_suite "$build" stress 1200 --timeout-multiplier 5
}

suite_asan() {
	t_sanitized asan address,undefined
}

# shellcheck disable=SC2034  # T_LAUNCH is for t_meson
suite_tsan() {
	# Newer kernels place programs where this sanitizer's own memory is; without randomisation
	# they do not.
	if ! setarch -R true 2>/dev/null; then
		t_skip tsan "address randomisation cannot be switched off here"
		return 0
	fi
	T_LAUNCH=(setarch -R)
	t_sanitized tsan thread
	T_LAUNCH=()
}

suite_secondary() {
	if [ "$PP_HUGE" != 1 ]; then
		t_skip secondary "processes share huge pages only: $PP_HUGE_WHY"
	elif ! t_plugin; then
		t_skip secondary "$T_PLUGIN_WHY"
	else
		PP_PLUGIN_FILE=$T_PLUGIN PP_FILE_PREFIX=$T_PREFIX t_meson_suite "$PP_BUILD" secondary 600
	fi
}

suite_examples() {
	t_meson_suite "$PP_BUILD" examples 300
}

suite_apps() {
	t_meson_suite "$PP_BUILD" apps 300
}

suite_hotplug() {
	if [ "$PP_HUGE" = 1 ]; then
		t_meson_suite "$PP_BUILD" hotplug 300
	else
		t_skip hotplug "$PP_HUGE_WHY"
	fi
}

suite_run() {
	local report=$PP_BUILD/run/report.json
	t_meson_suite "$PP_BUILD" run 120
	if [ ! -x "$PP_TOP/run.sh" ]; then
		t_fail run.sh "it is not there"
		return 0
	fi
	rm -f "$report"
	t_run run.sh 300 "$PP_TOP/run.sh" || return 0
	if jq -es 'length > 0' "$report" >"$T_DIR/report.log" 2>&1; then
		t_pass "report.json is JSON"
	else
		t_fail "report.json is JSON" "it is not" "$T_DIR/report.log"
	fi
}

suite_vm() {
	local scenarios
	t_run judge 60 python3 -B "$PP_TOP/tests/vm/lab/judge_test.py" || true
	# Once for all of them: what cannot be had takes its time to fail.
	t_run prepare 300 "$PP_TOP/tests/vm/run" --prepare || return 0
	# A guest waits for its devices as often as it computes, and that of icount has one thread.
	mapfile -t scenarios < <(cd "$PP_TOP/tests/vm/scenarios" && printf '%s\n' *)
	t_run_pairs 300 "$PP_TOP/tests/vm/run" "${scenarios[@]}"
}

suite_perf_smoke() {
	local json=$T_DIR/perf.json perf=$PP_BUILD/app/pagepool-perf/pagepool-perf eal=()
	if [ ! -x "$perf" ]; then
		t_fail pagepool-perf "it is not built"
		return 0
	fi
	[ "$PP_HUGE" = 1 ] || eal+=(--no-huge -m 1024)
	t_run pagepool-perf 300 "$perf" "${eal[@]}" --no-pci "--file-prefix=$T_PREFIX" -- \
		--runs 1 --time 0.005 --json "$json" || return 0
	# shellcheck disable=SC2016  # jq's variables
	if jq -es 'length > 0 and all(.[]; has("bench") and has("pool") and (.cycles | .min <= .median
		and .median <= .max) and .tsc_hz > 0)' "$json" >"$T_DIR/json.log" 2>&1; then
		t_pass "$(wc -l <"$json") results as JSON"
	else
		t_fail "results as JSON" "fields are missing" "$json"
	fi
}

# The headers in a C++ program that asks for every warning; DPDK's own are not clean.
install_cxx() {
	local flags
	pp_have c++ || {
		t_skip "compile as C++" "there is no C++ compiler"
		return 0
	}
	flags=$(PKG_CONFIG_PATH=$T_DIR/pc pkg-config --cflags pagepool)
	# Ours stay what they are, since a folder given as both is a system folder.
	flags+=" $(pkg-config --cflags libdpdk | sed 's/-I *\//-isystem \//g')"
	cp "$T_DIR/user.c" "$T_DIR/user.cc"
	# shellcheck disable=SC2086  # flags are words
	t_run "compile as C++" 60 c++ -Wall -Wextra -Wpedantic -Wno-missing-field-initializers \
		-std=c++20 -Werror -c -o "$T_DIR/user.o" "$T_DIR/user.cc" $flags || true
}

# Program and plugin must have the same library, also when static ones are asked for.
install_static() {
	local build=$PP_BUILD/static file
	rm -rf "$build"
	t_configure "$build" -Ddefault_library=static -Dtests=false --buildtype=plain || return 0
	for file in app/testpmd-pp/testpmd-pp drivers/mempool/pagepool/librte_mempool_pagepool.so; do
		t_run "${file##*/} of a static build" 60 sh -c \
			"readelf --dynamic '$build/$file' | grep 'NEEDED.*libpagepool.so'" || true
	done
	rm -rf "$build"
}

# install_found ROOT: does pkg-config find what is installed without being told where? Other
# distributions' does not look below /usr/local, whatever the libdir.
install_found() {
	local root=$1 folder
	pp_is_debian || return 0
	folder=$(dirname "$(find "$root" -name pagepool.pc)")
	folder=${folder#"$root"}
	if [[ :$(pkg-config --variable pc_path pkg-config): == *":$folder:"* ]]; then
		t_pass "pkg-config looks where it was installed" "" "$folder"
	else
		t_fail "pkg-config looks where it was installed" "not in $folder; configured without dpkg-dev?"
	fi
}

# What a user does with an installation, with one that lies elsewhere than where it was made for.
suite_install() {
	local root=$PP_BUILD/install prefix eal=(--no-huge -m 64) flags
	rm -rf "$root"
	t_run "meson install" 120 meson install -C "$PP_BUILD" --no-rebuild --destdir "$root" ||
		return 0
	prefix=$root$(meson introspect --buildoptions "$PP_BUILD" |
		jq -r '.[] | select(.name == "prefix") | .value')
	install_found "$root"
	mkdir -p "$T_DIR/pc"
	find "$root" -name pagepool.pc -exec sed "s|^prefix=.*|prefix=$prefix|" {} \; \
		>"$T_DIR/pc/pagepool.pc"
	cat >"$T_DIR/user.c" <<-'END'
		#include <errno.h>
		#include <pagepool.h>
		#include <pagepool_dma.h>
		#include <rte_eal.h>

		int
		main(int argc, char **argv)
		{
			struct pagepool_params params = {.name = "p", .nb_pages = 100, .page_size = 2048};
			struct pagepool *pool;
			void *page;

			if (rte_eal_init(argc, argv) < 0 || (pool = pagepool_create(&params)) == NULL)
				return 1;
			page = pagepool_alloc(pool);
			if (page == NULL || pagepool_in_use_count(pool) != 1)
				return 1;
			if (pagepool_dma_attach(pool, NULL) != -EINVAL)
				return 1;
			pagepool_put(pool, page);
			return pagepool_destroy(pool) != 0;
		}
	END
	flags=$(PKG_CONFIG_PATH=$T_DIR/pc pkg-config --cflags --libs pagepool) || {
		t_fail pkg-config "it does not know pagepool"
		return 0
	}
	# shellcheck disable=SC2086  # flags are words
	t_run "compile with pkg-config" 60 cc -Wall -Wextra -Werror -o "$T_DIR/user" "$T_DIR/user.c" \
		$flags || return 0
	LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libpagepool.so.0')") t_run "run it" 60 \
		"$T_DIR/user" --no-pci --no-telemetry "--file-prefix=$T_PREFIX" "${eal[@]}" || return 0
	install_cxx
	install_static
}
