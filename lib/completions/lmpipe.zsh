#compdef ask tok chat fwd sample score schema embed near detok peek feed best gen serve kv gguf
# zsh: completes the options of lmpipe's programs as they list them, and names of segments; files otherwise.
# Source it after compinit, or let `make install` put it where zsh looks for it.
_lmpipe_prefix=

_lmpipe_segments() {
	local -a names=(${(f)"$(${_lmpipe_prefix}kv list 2>/dev/null | awk 'NR > 1 { print $1 }')"})
	compadd -a names
}

# A specification for _arguments of each option: --NAME[HELP]:ARGUMENT:ACTION.
_lmpipe_options() { # PROGRAM
	"$1" --list-options 2>/dev/null | awk -F'\t' '{
		letter = $1; name = $2; argument = $3; help = $4
		gsub(/\\/, "\\\\\\\\", help); gsub(/\[/, "\\[", help); gsub(/\]/, "\\]", help); gsub(/:/, "\\:", help)
		action = argument ~ /^(FILE|MODEL)$/ ? "_files" : argument == "DIR" ? "_files -/" : " "
		if (name == "--kv") action = "_lmpipe_segments"
		if (argument ~ /[|]/) { gsub(/[|]/, " ", argument); action = "(" argument ")"; argument = "choice" }
		spec = "[" help "]" (argument == "" ? "" : ":" argument ":" action)
		once = name ~ /^--(help|version)$/ ? "" : "*"
		print once name (argument == "" ? "" : "=") spec
		if (letter != "") print once letter (argument == "" ? "" : "+") spec
	}'
}

_lmpipe() {
	local -a options=(${(f)"$(_lmpipe_options $words[1])"}) commands

	if [[ ${words[1]:t} == ${_lmpipe_prefix}kv && $words[CURRENT] != -* ]]; then
		commands=(${(f)"$($words[1] --help | sed -n 's/^usage: [^ ]* //p' | tr '|' '\n' | awk '{ print $1 }')"})
		(( CURRENT == 2 )) && compadd -a commands || _lmpipe_segments
		return
	fi
	_arguments -s : $options '*:file:_files'
}

if [[ $funcstack[1] == _lmpipe ]]; then
	_lmpipe "$@"
else
	compdef _lmpipe ${_lmpipe_prefix}{ask,tok,chat,fwd,sample,score,schema,embed,near,detok,peek,feed,best,gen,serve,kv,gguf}
fi
