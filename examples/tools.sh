#!/bin/sh
# An answer with tools: PROGRAM runs for each call that the model makes. Its argument is the name of the tool, its
# standard input has the arguments as JSON, and what it prints is the result, until the model answers without a call.
# It is ask --tool-command in plain shell, without the questions: PROGRAM must expect any arguments.
# usage: tools.sh MODEL TOOLS PROGRAM QUESTION [gen's options] > answer
model=$1 tools=$2 program=$3 question=$4
shift 4
dir=$(mktemp -d) || exit
trap 'rm -r "$dir"' EXIT
jq -cn --arg question "$question" '{role: "user", content: $question}' > "$dir/messages" || exit

for round in 1 2 3 4 5 6 7 8; do
	# the conversation as text, the text that follows, and that as a message
	chat --tools "$tools" "$model" < "$dir/messages" > "$dir/prompt" &&
	gen --no-bos --special -m "$model" "$@" -f "$dir/prompt" > "$dir/text" &&
	chat --parse --tools "$tools" --messages "$dir/messages" "$model" < "$dir/text" > "$dir/answer" || exit
	cat "$dir/answer" >> "$dir/messages"
	jq -e .tool_calls "$dir/answer" > "$dir/calls" || { jq -r .content "$dir/answer"; exit; }
	jq -c '.[]' "$dir/calls" | while IFS= read -r call; do
		of() { printf '%s\n' "$call" | jq "$@"; }
		name=$(of -r .function.name)
		if jq -e --arg name "$name" 'any(.[]; .function.name == $name)' "$tools" > "$dir/known"; then
			of -r .function.arguments | "$program" "$name" > "$dir/result" ||
				echo "error: $name: exit status $?" > "$dir/result"
		else
			echo "error: there is no such tool" > "$dir/result"
		fi
		of -c --rawfile result "$dir/result" '{role: "tool", tool_call_id: .id, name: .function.name,
			content: ($result | rtrimstr("\n"))}' >> "$dir/messages"
	done
done
echo "tools.sh: $round answers in a row have calls" >&2
exit 1
