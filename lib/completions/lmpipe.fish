# fish: completes the options of lmpipe's programs as they list them, and names of segments; files otherwise.
# Source it, or let `make install` put it where fish looks for it.
set -g __lmpipe_prefix ''

function __lmpipe_segments
	command "$__lmpipe_prefix"kv list 2>/dev/null | awk 'NR > 1 { print $1 }'
end

# The options of a program, with the first line of what --help says of each.
function __lmpipe_options -a program
	command $program --list-options 2>/dev/null | cut -f2,4
end

# What the option before the cursor takes, where that is one of several words.
function __lmpipe_choices -a program
	set -l before (commandline -opc)[-1]
	command $program --list-options 2>/dev/null | awk -F'\t' -v o="$before" '$2 == o && $3 ~ /[|]/ { print $3 }' |
		tr '|' '\n'
end

# Whether the argument of --kv comes now.
function __lmpipe_after_kv
	contains -- (commandline -opc)[-1] --kv
end

function __lmpipe_commands -a program
	command $program --help 2>/dev/null | sed -n 's/^usage: [^ ]* //p' | tr '|' '\n' | awk '{ print $1 }'
end

for program in $__lmpipe_prefix{ask,tok,chat,fwd,sample,score,schema,embed,near,detok,peek,feed,best,gen,serve,kv,gguf}
	complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a "(__lmpipe_options $program)"
	complete -c $program -n __lmpipe_after_kv -f -a '(__lmpipe_segments)'
	complete -c $program -n "count (__lmpipe_choices $program) >/dev/null" -f -a "(__lmpipe_choices $program)"
end
complete -c "$__lmpipe_prefix"kv -n 'test (count (commandline -opc)) -eq 1' -f \
	-a "(__lmpipe_commands "$__lmpipe_prefix"kv)"
complete -c "$__lmpipe_prefix"kv -n 'test (count (commandline -opc)) -gt 1' -f -a '(__lmpipe_segments)'
