# SPDX-License-Identifier: MIT
# Short names for the commands of README.md and docs/hacking.md; the build itself is Meson's.
.PHONY: help build test quick long demo format install

help:  ## this text
	@sed -n "s/^\([a-z]*\):.*## /\1\t/p" Makefile

build:  ## compile into build/
	[ -f build/build.ninja ] || meson setup build
	ninja -C build

test:  ## install what is needed, build, run every test
	scripts/test

quick:  ## the tests without the build with sanitizers
	scripts/test --quick

long:  ## what takes hours: complete sweeps and damage, fuzzing, soak
	scripts/long

demo:  ## mount the example and look around
	scripts/demo

format:  ## format the source
	scripts/format

install: build  ## install the programs, the library and the man pages
	meson install -C build
