#!/bin/sh
# Texts for many prompts, one per line, on many hosts: GNU parallel runs gen for each prompt, one at a time on a host.
# Prompt i has seed i, so that a text does not depend on its host. The texts come in the order of the prompts, each with
# a newline after it.
# usage: parallel.sh HOSTS MODEL [gen's options] < prompts > texts
#        HOSTS as in --sshlogin: a,b,user@c; ":" is this machine. Each has gen in its PATH and the model at that path.
hosts=$1 model=$2
shift 2
exec parallel --quote --keep-order --jobs 1 --sshlogin "$hosts" \
	sh -c 'gen "$@" && echo' gen -m "$model" -s '{#}' "$@" -- '{}'
