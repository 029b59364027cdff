# fish: completes the options of lmpipe's programs as their --help lists them, and names of segments; files otherwise.
# Source it, or let `make install` put it where fish looks for it.
set -g __lmpipe_prefix ''

function __lmpipe_segments
	command "$__lmpipe_prefix"kv list 2>/dev/null | awk 'NR > 1 { print $1 }'
end

# The options of a program, with the first line of what --help says of each.
function __lmpipe_options -a program
	command $program --help 2>/dev/null |
		sed -nE 's/^ +(-., )?(--[a-z0-9-]+)( [A-Z][^ ]*)?( +(.*))?$/\2\t\5/p'
	printf '%s\t%s\n' --help 'print the options' --version 'print the version'
end

# Whether an option stands before the cursor whose argument comes now.
function __lmpipe_after
	contains -- (commandline -opc)[-1] $argv
end

function __lmpipe_commands -a program
	command $program --help 2>/dev/null | sed -n 's/^usage: [^ ]* //p' | tr '|' '\n' | awk '{ print $1 }'
end

for program in $__lmpipe_prefix{tok,chat,fwd,sample,score,schema,detok,peek,feed,best,gen,kv,gguf}
	complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -a "(__lmpipe_options $program)"
	complete -c $program -n '__lmpipe_after --kv' -f -a '(__lmpipe_segments)'
	complete -c $program -n '__lmpipe_after --kv-type' -f -a 'f16 f32 q8_0 auto'
	complete -c $program -n '__lmpipe_after --backend' -f -a 'multicore simd scalar auto'
	complete -c $program -n '__lmpipe_after --preset' -f -a 'creative balanced focused deterministic'
end
complete -c "$__lmpipe_prefix"kv -n 'test (count (commandline -opc)) -eq 1' -f \
	-a "(__lmpipe_commands "$__lmpipe_prefix"kv)"
complete -c "$__lmpipe_prefix"kv -n 'test (count (commandline -opc)) -gt 1' -f -a '(__lmpipe_segments)'
