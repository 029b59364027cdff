# bash: completes the options of lmpipe's programs as their --help lists them, and names of segments; files otherwise.
# Source it, or let `make install` put it where bash-completion looks for it.
_lmpipe_prefix=

_lmpipe_segments() {
	"${_lmpipe_prefix}kv" list 2>/dev/null | awk 'NR > 1 { print $1 }'
}

# -LETTER:--NAME:ARGUMENT of each option.
_lmpipe_options() { # PROGRAM
	"$1" --help 2>/dev/null | sed -nE 's/^ +(-(.), )?--([a-z0-9-]+)( ([A-Z][^ ]*))?(  .*)?$/-\2:--\3:\5/p'
}

# The commands of a program whose usage is "list | rm NAME... | ...".
_lmpipe_commands() { # PROGRAM
	"$1" --help 2>/dev/null | sed -n 's/^usage: [^ ]* //p' | tr '|' '\n' | awk '{ print $1 }'
}

_lmpipe() { # PROGRAM WORD BEFORE
	local before=$3 options argument words=

	[[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
	options=$(_lmpipe_options "$1")
	argument=$(awk -F: -v o="$before" '$1 == o || $2 == o { print $3 }' <<<"$options")
	case $before:$argument in
	--kv:*) words=$(_lmpipe_segments) ;;
	--kv-type:*) words="f16 f32 q8_0 auto" ;;
	--backend:*) words="multicore simd scalar auto" ;;
	--preset:*) words="creative balanced focused deterministic" ;;
	*:?*) ;;
	*)
		if [[ $2 == -* ]]; then
			words="$(cut -d: -f2 <<<"$options") --help --version"
		elif [[ ${1##*/} == "${_lmpipe_prefix}kv" && $COMP_CWORD -eq 1 ]]; then
			words=$(_lmpipe_commands "$1")
		elif [[ ${1##*/} == "${_lmpipe_prefix}kv" ]]; then
			words=$(_lmpipe_segments)
		fi ;;
	esac
	COMPREPLY=($(compgen -W "$words" -- "${2#=}"))
}

complete -o default -F _lmpipe "$_lmpipe_prefix"{tok,chat,fwd,sample,score,schema,detok,peek,feed,best,gen,kv,gguf}
