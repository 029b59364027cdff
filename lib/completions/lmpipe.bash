# bash: completes the options of lmpipe's programs as they list them, and names of segments; files otherwise.
# Source it, or let `make install` put it where bash-completion looks for it.
_lmpipe_prefix=

_lmpipe_segments() {
	"${_lmpipe_prefix}kv" list 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# The commands of a program whose usage is "list | rm NAME... | ...".
_lmpipe_commands() { # PROGRAM
	"$1" --help 2>/dev/null | sed -n 's/^usage: [^ ]* //p' | tr '|' '\n' | awk '{ print $1 }'
}

_lmpipe() { # PROGRAM WORD BEFORE
	local before=$3 options argument words=

	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	options=$("$1" --list-options 2>/dev/null)
	argument=$(awk -F'\t' -v o="$before" 'o != "" && ($1 == o || $2 == o) { print $3 }' <<<"$options")
	if [[ $before == --kv ]]; then
		words=$(_lmpipe_segments)
	elif [[ $argument == *'|'* ]]; then
		words=${argument//|/ }
	elif [[ -n $argument ]]; then
		:
	elif [[ $2 == -* ]]; then
		words=$(cut -f2 <<<"$options")
	elif [[ ${1##*/} == "${_lmpipe_prefix}kv" && $COMP_CWORD -eq 1 ]]; then
		words=$(_lmpipe_commands "$1")
	elif [[ ${1##*/} == "${_lmpipe_prefix}kv" ]]; then
		words=$(_lmpipe_segments)
	fi
	COMPREPLY=($(compgen -W "$words" -- "${2#=}"))
}

complete -o default -F _lmpipe "$_lmpipe_prefix"{ask,tok,chat,fwd,sample,score,schema,embed,near,detok,peek,feed,best,gen,serve,kv,gguf}
