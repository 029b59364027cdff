#!/bin/sh
# Texts for many prompts, one per line, JOBS at a time on this machine, each on one thread: prompt i becomes i.txt. All
# processes share the weights, which are mapped.
# usage: xargs.sh JOBS MODEL < prompts
awk '{ print NR; print }' | tr '\n' '\0' |
	xargs -0 -n 2 -P "$1" sh -c 'gen -m "$0" -t 1 -s "$1" -n 200 -- "$2" > "$1.txt"' "$2"
