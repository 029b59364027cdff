# Converts WinoGrande from llama-perplexity's format (one line per item: number,sentence with a _,first,second,1 or 2)
# to that of `score --choices`; see hellaswag.awk. A sentence in quotes may contain commas.
function quoted(s) {
	gsub(/\\/, "&&", s)
	gsub(/"/, "\\\"", s)
	gsub(/\t/, "\\t", s)
	return "\"" s "\""
}
{
	sub(/\r$/, "")
	line = $0
	sub(/^[^,]*,/, "", line)
	if (line ~ /^"/) {
		sentence = substr(line, 2, index(line, "\",") - 2)
		line = substr(line, index(line, "\",") + 2)
	} else {
		sentence = substr(line, 1, index(line, ",") - 1)
		line = substr(line, index(line, ",") + 1)
	}
	split(line, field, ",")
	gap = index(sentence, "_")
	printf "{\"context\": %s, \"choices\": [%s, %s], \"after\": %s, \"answer\": %d}\n",
		quoted(substr(sentence, 1, gap - 1)), quoted(field[1]), quoted(field[2]),
		quoted(substr(sentence, gap + 1)), field[3] - 1
}
