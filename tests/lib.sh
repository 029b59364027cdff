# What the .test files share; each begins with `. "$TESTS/lib.sh"`.

# A test that is ended early also does what it does at the end, such as removing segments.
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# make_model FILE OPTIONS: a random model (see mkmodel --help); -o is put in.
make_model() {
	file=$1
	shift
	"$HELP/mkmodel" "$@" -o "$file"
}

# The families that tests are about; `mkmodel --families` and `--recurrent` print all of them. What concerns only the
# keys or tensors of some families is in the test of these.
plain="qwen2 qwen3 gpt2"

# A family for each kind of recurrent state.
recurrent="lfm2 granitehybrid falcon-h1 nemotron_h mamba jamba plamo2 rwkv7 rwkv6 qwen35 qwen3next qwen4exp berrylm
	kimi-linear bailingmoe3 kimi-k3 minimax-01 glm5next"

# A family for each kind of state that several sequences of a stream must not share.
apart="llama gemma2 gpt-oss qwen35 kimi-linear lfm2 mamba jamba rwkv7 deepseek2 gemma3n falcon-h1 hy_v4 kimi-k3
	minimax-01 deepseek4 graniteswitch"

# A family for each kind of feature: windows, caps and norms after branches; sinks, YaRN and experts with biases; groups
# of experts and a bias for their choice; a shared expert with a gate; weighted inputs and chunks; a router of the
# layer's input; ALiBi; clamps; parallel parts and layers without RoPE; a norm for each head; one of all heads;
# temperatures; xIELU; scales; mixers other than attention; several streams, shared K and V, experts beside a dense
# part; latent attention in two forms; layers of uneven sizes; decays that have a least; PLaMo 2's Mamba; experts of a
# layer's input; rows carried from layer to layer; stacks of layers run in turn; hyper-connections;
# attention residuals; lightning attention; compressed attention; adjugate experts;
# latent attention that slides in some layers and chooses positions in others; streams with gates of all elements, and
# embeddings of n-grams; adapters that ids switch on; gates of norms; decays by key in delta nets, and gated attention
# residuals; latent attention without rotation to groups of positions.
features="gemma2 gpt-oss bailingmoe2 qwen2moe llama4 smallthinker refact dbrx cohere2 stablelm minimax-m2 mistral3
	apertus granite lfm2 granitehybrid falcon-h1 nemotron_h nemotron_h_moe mamba2 mamba jamba rwkv7 qwen35 qwen3next
	gemma3n gemma4 gemma4-moe deepseek2 deepseek2-kvb openelm deci kimi-linear step35 arwkv7-nog rwkv6 rwkv6qwen2
	bailingmoe3 plamo2 arctic talkie hrm_text hy_v4 kimi-k3 minimax-01 deepseek4 glm-dsa grovemoe-few dots3note
	qwen4exp graniteswitch axk2 berrylm glm5next"

# skip WHAT: what cannot be tested here, and why: "no python3 (3 cases)". Goes to tests/run's list, not to the .ok.
skip() {
	echo "skip $*"
}

# takes: whether to run the next case: always or, with EVERY=n in the environment, one time in n. left_out prints how
# many that left out.
cases=0 left_out=0
takes() {
	cases=$((cases + 1))
	[ $((cases % ${EVERY:-1})) -eq 0 ] || ! left_out=$((left_out + 1))
}
left_out() {
	[ $left_out -eq 0 ] || skip "one case in $EVERY ($left_out cases)"
}

# need_models N: ends the test, which has N cases, unless the shared reference models are there.
need_models() {
	[ -d "$models" ] || { skip "no $models ($1 cases)"; exit 77; }
}

# A prompt of 20 ids, for any of our models' vocabularies (259 entries and more).
ids="17 255 3 90 90 12 200 45 1 130 77 258 64 31 99 180 7 222 150 42"

# numbers N: those from 0 on below it. squares N M: those of these, modulo M: ids that do not repeat soon.
numbers() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print i }'
}
squares() {
	awk -v n="$1" -v m="$2" 'BEGIN { for (i = 0; i < n; i++) print i * i % m }'
}

# kill_after THOUSANDTHS COMMAND...: kills it after this share of the time in ./took, where `under time took` put it.
kill_after() {
	share=$1
	shift
	"$HELP/under" kill 9 $(($(cat took) * share / 1000)) "$@"
}

# logits MODEL OPTIONS < ids: the raw logits of decimal ids, through fwd.
logits() {
	"$HELP/stream" make | "$BIN/fwd" "$@" | "$HELP/stream" rows
}

# expect STATUS COMMAND...: runs it with its stderr in ./caught, and says what is wrong unless it ends with that status
# and, where that is not 0, with one line on stderr that begins with the program's name, where it is 0, without any.
# Complaints go to the test's stdout, wherever the command's goes; returns 0 if all is well.
exec 9>&1
expect() {
	want=$1
	shift
	"$@" 2>caught 9>&-
	got=$?
	lines=$(wc -l <caught)
	if [ "$got" -ne "$want" ]; then
		echo "$*: status $got, not $want: $(head -n 3 caught)" >&9
	elif [ "$want" -ne 0 ] && { [ "$lines" -ne 1 ] || ! grep -q "^${1##*/}: ." caught; }; then
		echo "$*: not one line in its name: $(head -n 3 caught)" >&9
	elif [ "$want" -eq 0 ] && [ -s caught ]; then
		echo "$*: should say nothing: $(head -n 3 caught)" >&9
	else
		return 0
	fi
	return 1
}

# each_type COMMAND...: runs it with the name of each tensor type, with ./m.gguf a model of such matrices.
each_type() {
	"$HELP/mkmodel" --types >types
	[ -s types ] || echo "no types"
	while read -r type shape; do
		make_model m.gguf --shape $shape --type $type
		"$@" $type
	done <types
}

# backends: the names of those that this machine runs, the specification first. If fwd --list-options names none, those
# that must not be missing are tried, and the test says so.
backends() {
	names=$("$BIN/fwd" --list-options | sed -n 's/.*--backend.*scalar|\(.*\)|auto.*/\1/p' | tr '|' ' ')
	for b in scalar ${names:-avx2 neon}; do
		"$BIN/fwd" --backend $b "$1" </dev/null >/dev/null 2>&1 && echo $b || continue
		[ $b = scalar ] || [ "$names" ] || echo "backends: $b runs, but fwd --list-options does not name it" >&9
	done
}

# same MODEL WHAT [OPTIONS of fwd]: every way to the logits of the ids in ./ids gives the same bytes; says which does
# not.
same() {
	differs=0
	model=$1
	what=$2
	shift 2
	logits "$model" "$@" --all -t 1 <ids >whole
	[ -s whole ] || differs=1
	for b in $(backends "$model"); do
		logits "$model" "$@" --all --backend $b -t 2 <ids >other
		way "$what: backend $b" whole other
	done
	for t in 2 3; do
		logits "$model" "$@" --all -t $t <ids >other
		way "$what: $t threads" whole other
	done
	for split in 1 7; do
		"$HELP/stream" make -s $split <ids | "$BIN/fwd" "$model" "$@" --all | "$HELP/stream" rows >other
		way "$what: frames of $split" whole other
	done
	for b in 1 5; do
		logits "$model" "$@" --all -b $b <ids >other
		way "$what: batches of $b" whole other
	done
	"$HELP/stream" make -s 1 <ids | "$BIN/fwd" "$model" "$@" | "$HELP/stream" rows >other
	way "$what: the last row of each frame" whole other

	logits "$model" "$@" <ids >last
	tail -c "$(wc -c <last)" whole >other
	way "$what: the default's row and the last of --all" last other
	logits "$model" "$@" -b 5 <ids >other
	way "$what: the last row in batches of 5" last other
	segment=test-same-$$
	tr -s ' ' '\n' <ids | head -n $(($(wc -w <ids) - 8)) | logits "$model" "$@" --kv $segment >/dev/null
	logits "$model" "$@" --kv $segment <ids >other
	way "$what: onto a named segment" last other
	logits "$model" "$@" --kv $segment <ids >other
	way "$what: all from a named segment" last other
	{ echo 5 6 7 8 9 | "$HELP/stream" make -p 3; "$HELP/stream" make <ids; } |
		"$BIN/fwd" "$model" "$@" --kv $segment | "$HELP/stream" rows |
		tail -c "$(wc -c <last)" >other
	way "$what: cut back and evaluated again" last other
	"$BIN/kv" rm $segment
	[ $differs -eq 0 ] && echo "$what ok"
}

# Whether the programs are built with sanitizers, which handle signals of their own and take far more stack and memory.
sanitized() {
	grep -q __asan_init "$BIN/kv"
}

# segment_file NAME: where a segment without a slash in its name lies.
segment_file() {
	for directory in /dev/shm "${TMPDIR:-/tmp}/lmpipe-$(id -u)"; do
		[ -f "$directory/lmpipe-$1" ] && echo "$directory/lmpipe-$1"
	done
}

# another MODEL WHOLE N [OPTIONS of fwd]: whether one of four other ways, the N-th, to the logits of the ids in ./ids
# gives the bytes of WHOLE, which are those of --all, or their end.
another() {
	model=$1 whole=$2
	n=$3
	shift 3
	case $((n % 4)) in
	0) logits "$model" "$@" --all -t 1 -b 1 <ids >other ;;
	1) logits "$model" "$@" --all --backend scalar -t 3 -b 7 <ids >other ;;
	2)      # a diffusion model: later ids change earlier rows
		"$BIN/gguf" "$model" | grep -q 'attention.causal.*false' && frames=1000 || frames=3
		"$HELP/stream" make -s $frames <ids | "$BIN/fwd" "$model" "$@" --all -t 2 -b 2 |
			"$HELP/stream" rows >other ;;
	3)
		segment=test-another-$$
		tr -s ' ' '\n' <ids | head -n $(($(wc -w <ids) / 2)) | logits "$model" "$@" --kv $segment >/dev/null
		"$BIN/kv" fork $segment $segment-fork
		"$BIN/kv" rm $segment
		logits "$model" "$@" --kv $segment-fork <ids >other
		"$BIN/kv" rm $segment-fork
		tail -c "$(wc -c <other)" "$whole" >end
		whole=end ;;
	esac
	[ -s other ] && cmp -s "$whole" other
}

way() { # WHAT A B
	if [ ! -s "$3" ] || ! cmp -s "$2" "$3"; then
		echo "$1: not the same"
		differs=1
	fi
}
