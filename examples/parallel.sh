#!/bin/sh
# Texts for many prompts, one a line, on many hosts: GNU parallel starts a gen for each prompt, one at a time on a host.
# Prompt i is drawn with seed i, so that a text does not depend on the host that drew it. They come in order.
# usage: parallel.sh HOSTS MODEL [gen's options] < prompts > texts
#        HOSTS as in --sshlogin: a,b,user@c; ":" is this machine. Each has gen in its PATH and the model at that path.
hosts=$1 model=$2
shift 2
exec parallel --quote --keep-order --jobs 1 --sshlogin "$hosts" gen -m "$model" -s '{#}' "$@" '{}'
