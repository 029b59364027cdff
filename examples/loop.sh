#!/bin/sh
# The generation loop in plain shell: a FIFO carries the sampler's ids back to fwd.
# usage: loop.sh MODEL [sample's options] < prompt > text
model=$1
shift
dir=$(mktemp -d) || exit
trap 'rm -r "$dir"' EXIT
mkfifo "$dir/ids" || exit

tok "$model" | feed "$dir/ids" | fwd "$model" | sample "$@" | tee "$dir/ids" | detok "$model"
