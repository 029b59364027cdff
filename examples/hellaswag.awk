# Converts HellaSwag from llama-perplexity's format (six lines per item: context, number of the right ending, four
# endings) to that of `score --choices`, which also reads the records of hellaswag_val.jsonl:
#
#	awk -f examples/hellaswag.awk hellaswag_val_full.txt > items
#	score --choices items -m m.gguf
#
# For WinoGrande: examples/winogrande.awk
function quoted(s) {
	gsub(/\\/, "&&", s)
	gsub(/"/, "\\\"", s)
	gsub(/\t/, "\\t", s)
	sub(/\r$/, "", s)
	return "\"" s "\""
}
NR % 6 == 1 { printf "{\"context\": %s, ", quoted($0) }
NR % 6 == 2 { answer = $0 + 0 }
NR % 6 == 3 { printf "\"choices\": [%s", quoted(" " $0) }
NR % 6 > 3 { printf ", %s", quoted(" " $0) }
NR % 6 == 0 { printf ", %s], \"answer\": %d}\n", quoted(" " $0), answer }
