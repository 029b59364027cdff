# lmpipe. `make` builds into bin/, `make demo` tells a story, `make check` runs the tests, `make install` installs.
# For GNU make from 3.81 on and for bmake, so with what both know: lists, and rules that name all their targets.

# All CPUs, unless -j says how many; a make within a make shares the jobs of the first. Each make knows only its own
# lines: the functions of GNU make expand to nothing in bmake, whose targets with a dot are idle in GNU make.
COUNT_CPUS = getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1
JOBS_0 = -j$(shell $(COUNT_CPUS)) --no-print-directory
GIVEN := $(filter j% -j%,$(MAKEFLAGS))
MAKEFLAGS += $(if $(GIVEN),,$(JOBS_$(MAKELEVEL)))
.MAKEFLAGS: ${.MAKE.JOBS:D:U-j${COUNT_CPUS:sh}}
.MAKE.JOB.PREFIX =

# bmake would work in obj/ where there is such a folder.
.OBJDIR: .

CC = cc
# CFLAGS='-O2 -g' for a debugger; compiling then takes a fifth more time.
CFLAGS = -O2
LDFLAGS =
# Installed programs are stripped: STRIP=aarch64-linux-gnu-strip for a cross build, STRIP=: to keep the symbols.
STRIP = strip
PREFIX = /usr/local
DESTDIR =
# Installed names begin with it: PROGRAM_PREFIX=lm- for a system that has another chat or peek.
PROGRAM_PREFIX =
BIN = bin
OBJ = obj
# V=1 prints every command. Otherwise a build prints each folder that it begins and each file that it builds again.
V =
QUIET_ = @
QUIET = $(QUIET_$(V))
# The instruction sets whose kernels are built: one, or all of this architecture.
ISA = every

WARN = -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter
# SYSTEM=posix asks for nothing beyond POSIX; otherwise the system is known to the compiler (lib/base/system.h).
SYSTEM =
SYSTEM_posix = -DSYSTEM_POSIX
# SEGMENTS=files keeps all segments in files, as on a system without shared memory that can be locked and listed.
SEGMENTS =
SEGMENTS_files = -DSEGMENTS_IN_FILES
# AVX512=avx512_emulated makes the backend avx512 of AVX2 instructions (fwd/kernels/isa/avx512_emulated.h).
AVX512 = avx512
# No contraction, no fast math: the arithmetic is the contract.
STD = -std=c11 -D_XOPEN_SOURCE=700 -ffp-contract=off -fno-math-errno -pthread -I.
# The folder of the build is not in what debuggers read, so that it does not matter where the same source is built. The
# shell knows it in every make.
ANYWHERE = "-fdebug-prefix-map=$$PWD=."
ALL = $(STD) $(SYSTEM_$(SYSTEM)) $(SEGMENTS_$(SEGMENTS)) $(WARN) $(ANYWHERE) $(CFLAGS)

# Vectors are written out in the kernels; the compiler's own vectors of the scalar parts only slow them down (Q4_K by a
# fifth). Information for debuggers would take a quarter of the compiler's time.
EXPLICIT = -fno-tree-vectorize -fno-tree-slp-vectorize -g0

PROGRAMS = ask tok chat fwd sample score schema embed near detok peek feed best gen serve kv gguf
BASE = why arena io out visible bytes slurp lines cli cli_exit cli_help cli_rows cli_rules cli_unknown \
	cli_values cli_words guard quote clock progress_line grow slots hash memo sort fmath half space similar \
	llama_options $(SYSTEMS)
SYSTEMS = system system_linux system_darwin system_bsd system_posix
JSON = json json_write json_edit members
STREAM = frame card stop sequences
GGUF = architecture gguf gguf_parse gguf_get gguf_set gguf_hash formats blocks grids
VOCAB = align vocab read keys known pair special merge merges ranks words names prefixes pretok pretok_table unicode \
	unicode_table spm bpe rwkv ugm wpm plamo2 whitespace dna
PROCESS = stage stages find
PICK = rng gumbel topk score positions
SAMPLER = sampler opts row keep order adjust dry drop mirostat
CHAT = chat chat_opts chat_setup chat_template content variant shape
ANSWER = answer call derive derive_call derive_values format known learn literals message pattern place samples tags \
	tools
RULES = rules rules_text rules_values
JINJA = arith braces builtin_bytes builtin_encode builtin_global builtin_html builtin_items builtin_list \
	builtin_number builtin_pprint builtin_str builtin_strftime builtin_text builtin_wrap builtins call dict env \
	eval exec expr format jinja lex number parse percent spell text value
GRAMMAR = grammar node class reader token parse without match state union text kinds mask trie
SCHEMA = schema fail gbnf index types make refer rewrite merge alternatives negate unevaluated exclusive constants \
	array object names members string format pattern regex regex_set language language_write automaton nfa number \
	decimal
SPEC = spec/scalar spec/scalar_product spec/scalar_vector spec/scalar_attend spec/scalar_codes spec/scalar_peaks
KERNELS = kv_type $(SPEC)
# What is compiled once for each instruction set: to nothing on other architectures. The slowest to compile come first.
SIMD = columns columns_wide decode decode_wide bf16 float_rows prompt spans table
FAMILIES = families llama gemma gpt2 mixtures deepseek recurrent rwkv loops grok minimax01 deepseek4 t5 diffusion \
	bert
BUILDER = graph cut wanted place builder tensors products rows open decoder attention latent compressed indexer \
	feed_forward experts adapters lora encoder per_layer pooled
RESIDUAL = residual altup attn_res gated_streams hyper ngrams norm_gates
MIXERS = convolution delta lightning linear linear_gates linear_keep mamba mamba2 product rwkv rwkv6 rwkv7 shift ssm wkv
MODEL = model tensors lora control keys expected layers layers_rope rope encoder diffusion embedder
OPS = embed angles rows product lora prepare store attend compress choose best attend_groups select route experts \
	heads copy logits mean op
SEGMENT = segment shape header ids fork named claim shared scrub recent recurrent object rle saved
FWD = engine fwd_opts own_opts settings supported input input_frames input_card question adapt batch answers \
	embeddings hidden texts chain scores $(MODEL:%=model/%) $(FAMILIES:%=families/%) $(BUILDER:%=builder/%) \
	$(RESIDUAL:%=residual/%) $(MIXERS:%=mixers/%) plan/plan plan/split plan/prefault $(OPS:%=plan/%) \
	$(SEGMENT:%=state/%) state/digest run/pool measure/meter measure/limits measure/profile \
	measure/dump measure/compare measure/report
TOK = main encode document prompts pair
CHAT_PROGRAM = chat chat_settings chat_grammar chat_parse
SAMPLE = main options settings session generation pick output canvas pieces after budget constraint grammars trace
PEEK = peek view view_frames view_tokens top until format_lines format_csv format_text format_bars format_json \
	format_page
EMBED = main settings items prefix embeddings scale output pipeline
NEAR = main settings vectors npy labels queries child search nearest inner rerank results
SCORE = main settings figures tokens perplexity against question items choices scorer progress
BENCH = main timing print random
DESCRIBE = main describe check found
KV = main settings commands save find keep list segment_text
LOOP = loop loop_in loop_back loop_start feed_opts live release cache queue draft guessing replay result
CONVERSATION = conversation commands sampling layout spans messages messages_file convert parser calls console display \
	show alone list
GEN = run generate signals options options_take options_model question mistakes tables arguments hosts pipeline \
	progress report json_line record verify $(LOOP:%=loop/%) $(CONVERSATION:%=conversation/%) \
	$(REQUESTS:%=requests/%)
REQUESTS = requests inbox jobs job model learned fields opts kept prompts choice logprobs parts envelope deltas \
	answers conversions answered
SERVE = http reply failure sampling keys engine service exchange turn openai texts embeddings rerank \
	messages messages_input responses responses_input plain about routes connection
SERVER = address server main
TERM = width wrap keyboard tty view recall typed edit
TESTS = quantise_test blocks_test gguf_test vocab_test merge_test special_test kinds_test pretok_test tokenizers_test \
	frame_test sampler_test stop_test sequences_test segment_test saved_test recurrent_test system_test pool_test \
	rope_test graph_test graph_programs_test plan_test split_test linear_test scan_test product_test vector_test \
	attend_test avx512_test guessing_test hash_test memo_test jinja_test answer_test grammar_test schema_test \
	keywords_test malformed_test spans_test requests_test serve_test
REFERENCE = reference_model reference_keys reference_families reference_math reference_attention reference_mixture \
	reference_state reference_rwkv reference_streams reference_hyper reference_gated reference_residuals \
	reference_compressed reference_encoder reference_embed
MADE = mkweights mkvalues mklayers mkmixers mkcompressed mkstreams mkencoder mkembedders
HELPERS = mkmodel mkadapter reference stream weave answer engine draw dribble under terminal
# What has no list above: the mains of programs that are not the only one in their folder, and what some tests share.
OTHERS = gen/main gen/ask lib/gguf/models lib/gguf/description $(CHAT_PROGRAM:%=tok/%) fwd/main \
	sample/schema detok/main detok/printer detok/stops detok/filter detok/single detok/texts $(PEEK:%=detok/%) \
	gen/loop/main gen/best tests/mkopen tests/mkgguf tests/mkvocab tests/mkfamilies $(MADE:%=tests/%) \
	tests/quantise tests/quantise_few tests/quantise_grid \
	tests/sampler_reference tests/oracle tests/mkschema tests/validator tests/batches $(REFERENCE:%=tests/%) \
	tests/sha256

# models by name, for programs that open one
models_o = $(OBJ)/lib/gguf/models.o $(json_o)
lib_o = $(BASE:%=$(OBJ)/lib/base/%.o) $(STREAM:%=$(OBJ)/lib/stream/%.o) $(GGUF:%=$(OBJ)/lib/gguf/%.o)
json_o = $(JSON:%=$(OBJ)/lib/base/%.o)
term_o = $(TERM:%=$(OBJ)/lib/term/%.o)
process_o = $(PROCESS:%=$(OBJ)/lib/process/%.o)
pick_o = $(PICK:%=$(OBJ)/lib/sampler/%.o)
sampler_o = $(SAMPLER:%=$(OBJ)/lib/sampler/%.o) $(pick_o)
tok_o = $(VOCAB:%=$(OBJ)/lib/vocab/%.o)
answer_o = $(ANSWER:%=$(OBJ)/lib/chat/answer/%.o)
rules_o = $(RULES:%=$(OBJ)/lib/chat/answer/%.o) $(answer_o)
chat_o = $(CHAT:%=$(OBJ)/lib/chat/%.o) $(JINJA:%=$(OBJ)/lib/chat/jinja/%.o) $(json_o)
grammar_o = $(GRAMMAR:%=$(OBJ)/lib/grammar/%.o)
schema_o = $(SCHEMA:%=$(OBJ)/lib/schema/%.o) $(grammar_o)
avx2_o = $(SIMD:%=$(OBJ)/fwd/kernels/avx2/%.o)
avx512_o = $(SIMD:%=$(OBJ)/fwd/kernels/$(AVX512)/%.o) $(OBJ)/fwd/kernels/$(AVX512)/bf16_dot.o \
	$(OBJ)/fwd/kernels/avx512/bf16_tiles.o
neon_o = $(SIMD:%=$(OBJ)/fwd/kernels/neon/%.o)
dotprod_o = $(SIMD:%=$(OBJ)/fwd/kernels/dotprod/%.o)
i8mm_o = $(SIMD:%=$(OBJ)/fwd/kernels/i8mm/%.o)
every_o = $(avx2_o) $(avx512_o) $(neon_o) $(dotprod_o) $(i8mm_o)
# The table of those that are built: an object for each choice.
select_o = $(OBJ)/fwd/kernels/select_$(ISA).o
kernels_o = $(KERNELS:%=$(OBJ)/fwd/kernels/%.o) $(select_o) $($(ISA)_o)
fwd_o = $(FWD:%=$(OBJ)/fwd/%.o) $(kernels_o)
segment_o = $(SEGMENT:%=$(OBJ)/fwd/state/%.o) $(OBJ)/fwd/kernels/kv_type.o
quantise_o = $(OBJ)/tests/quantise.o $(OBJ)/tests/quantise_few.o $(OBJ)/tests/quantise_grid.o
# random models
made_o = $(OBJ)/tests/mkgguf.o $(OBJ)/tests/mkvocab.o $(OBJ)/tests/mkfamilies.o $(MADE:%=$(OBJ)/tests/%.o) $(quantise_o)
gen_o = $(GEN:%=$(OBJ)/gen/%.o) $(OBJ)/fwd/fwd_opts.o $(OBJ)/lib/sampler/opts.o $(OBJ)/lib/sampler/rng.o \
	$(OBJ)/lib/gguf/models.o $(OBJ)/lib/gguf/description.o \
	$(term_o) $(process_o) $(rules_o) $(schema_o) $(chat_o) $(tok_o) $(lib_o)
# The page of serve is a source made of page.html.
page_o = $(OBJ)/gen/serve/page.o
serve_o = $(SERVE:%=$(OBJ)/gen/serve/%.o) $(page_o) $(process_o) $(json_o) $(lib_o)
objects = $(lib_o) $(term_o) $(process_o) $(sampler_o) $(tok_o) $(chat_o) $(rules_o) $(schema_o) \
	$(FWD:%=$(OBJ)/fwd/%.o) $(KERNELS:%=$(OBJ)/fwd/kernels/%.o) $(OBJ)/fwd/kernels/isa.o \
	$(SAMPLE:%=$(OBJ)/sample/%.o) \
	$(SCORE:%=$(OBJ)/sample/score/%.o) $(NEAR:%=$(OBJ)/sample/near/%.o) \
	$(EMBED:%=$(OBJ)/sample/embed/%.o) \
	$(TOK:%=$(OBJ)/tok/%.o) $(GEN:%=$(OBJ)/gen/%.o) $(SERVE:%=$(OBJ)/gen/serve/%.o) \
	$(SERVER:%=$(OBJ)/gen/serve/%.o) $(DESCRIBE:%=$(OBJ)/fwd/gguf/%.o) $(KV:%=$(OBJ)/fwd/kv/%.o) \
	$(BENCH:%=$(OBJ)/tests/bench/%.o) \
	$(TESTS:%=$(OBJ)/tests/%.o) $(HELPERS:%=$(OBJ)/tests/%.o) $(OTHERS:%=$(OBJ)/%.o)
binaries = $(PROGRAMS:%=$(BIN)/%) $(BIN)/bench $(TESTS:%=$(BIN)/tests/%) $(HELPERS:%=$(BIN)/tests/%)

all: $(PROGRAMS:%=$(BIN)/%)

$(BIN)/tok: $(TOK:%=$(OBJ)/tok/%.o) $(models_o) $(tok_o) $(lib_o)
$(BIN)/chat: $(CHAT_PROGRAM:%=$(OBJ)/tok/%.o) $(OBJ)/lib/gguf/models.o $(rules_o) $(schema_o) $(chat_o) $(tok_o) \
	$(lib_o)
$(BIN)/fwd: $(OBJ)/fwd/main.o $(fwd_o) $(models_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/kv: $(KV:%=$(OBJ)/fwd/kv/%.o) $(OBJ)/fwd/state/digest.o $(segment_o) $(models_o) $(tok_o) $(lib_o)
$(BIN)/gguf: $(DESCRIBE:%=$(OBJ)/fwd/gguf/%.o) $(OBJ)/lib/gguf/models.o $(fwd_o) $(pick_o) $(chat_o) $(tok_o) $(lib_o)
$(BIN)/sample: $(SAMPLE:%=$(OBJ)/sample/%.o) $(sampler_o) $(grammar_o) $(models_o) $(tok_o) $(lib_o)
$(BIN)/score: $(SCORE:%=$(OBJ)/sample/score/%.o) $(OBJ)/sample/pieces.o $(models_o) $(pick_o) \
	$(process_o) $(chat_o) $(tok_o) $(lib_o)
$(BIN)/embed: $(EMBED:%=$(OBJ)/sample/embed/%.o) $(OBJ)/lib/gguf/description.o $(process_o) $(models_o) $(lib_o)
$(BIN)/near: $(NEAR:%=$(OBJ)/sample/near/%.o) $(OBJ)/lib/gguf/models.o $(process_o) $(json_o) $(lib_o)
$(BIN)/schema: $(OBJ)/sample/schema.o $(schema_o) $(OBJ)/lib/vocab/unicode_table.o $(json_o) $(lib_o)
$(BIN)/detok: $(OBJ)/detok/main.o $(OBJ)/detok/printer.o $(OBJ)/detok/stops.o $(OBJ)/detok/filter.o \
	$(OBJ)/detok/single.o $(OBJ)/detok/texts.o $(tok_o) $(models_o) $(lib_o)
$(BIN)/peek: $(PEEK:%=$(OBJ)/detok/%.o) $(OBJ)/lib/term/width.o $(models_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/gen: $(OBJ)/gen/main.o $(gen_o)
$(BIN)/ask: $(OBJ)/gen/ask.o $(gen_o)
$(BIN)/serve: $(SERVER:%=$(OBJ)/gen/serve/%.o) $(OBJ)/lib/gguf/models.o $(serve_o)
$(BIN)/feed: $(OBJ)/gen/loop/main.o $(LOOP:%=$(OBJ)/gen/loop/%.o) $(OBJ)/fwd/fwd_opts.o $(process_o) $(lib_o)
$(BIN)/best: $(OBJ)/gen/best.o $(OBJ)/gen/loop/result.o $(lib_o)
$(BIN)/bench: $(BENCH:%=$(OBJ)/tests/bench/%.o) $(fwd_o) $(made_o) $(pick_o) $(tok_o) $(json_o) $(lib_o)

$(BIN)/tests/mkmodel: $(OBJ)/tests/mkmodel.o $(made_o) $(json_o) $(lib_o)
$(BIN)/tests/mkadapter: $(OBJ)/tests/mkadapter.o $(OBJ)/tests/mkgguf.o $(lib_o)
$(BIN)/tests/reference: $(OBJ)/tests/reference.o $(REFERENCE:%=$(OBJ)/tests/%.o) $(lib_o)
$(BIN)/tests/stream: $(OBJ)/tests/stream.o $(lib_o)
$(BIN)/tests/answer: $(OBJ)/tests/answer.o $(lib_o)
$(BIN)/tests/engine: $(OBJ)/tests/engine.o $(json_o) $(lib_o)
$(BIN)/tests/weave: $(OBJ)/tests/weave.o $(lib_o)
$(BIN)/tests/draw: $(OBJ)/tests/draw.o $(OBJ)/tests/validator.o $(grammar_o) $(json_o) $(lib_o)
$(BIN)/tests/dribble: $(OBJ)/tests/dribble.o
$(BIN)/tests/terminal: $(OBJ)/tests/terminal.o $(OBJ)/lib/term/width.o
$(BIN)/tests/under: $(OBJ)/tests/under.o $(lib_o)
$(BIN)/tests/frame_test: $(OBJ)/tests/frame_test.o $(lib_o)
$(BIN)/tests/sampler_test: $(OBJ)/tests/sampler_test.o $(OBJ)/tests/sampler_reference.o $(sampler_o) $(lib_o)
$(BIN)/tests/stop_test: $(OBJ)/tests/stop_test.o $(lib_o)
$(BIN)/tests/spans_test: $(OBJ)/tests/spans_test.o $(OBJ)/gen/conversation/spans.o $(lib_o)
$(BIN)/tests/requests_test: $(OBJ)/tests/requests_test.o $(gen_o)
$(BIN)/tests/serve_test: $(OBJ)/tests/serve_test.o $(serve_o)
$(BIN)/tests/hash_test: $(OBJ)/tests/hash_test.o $(lib_o)
$(BIN)/tests/memo_test: $(OBJ)/tests/memo_test.o $(lib_o)
$(BIN)/tests/sequences_test: $(OBJ)/tests/sequences_test.o $(lib_o)
$(BIN)/tests/segment_test: $(OBJ)/tests/segment_test.o $(segment_o) $(SPEC:%=$(OBJ)/fwd/kernels/%.o) $(pick_o) \
	$(lib_o)
$(BIN)/tests/saved_test: $(OBJ)/tests/saved_test.o $(segment_o) $(lib_o)
$(BIN)/tests/recurrent_test: $(OBJ)/tests/recurrent_test.o $(segment_o) $(OBJ)/lib/sampler/rng.o $(lib_o)
$(BIN)/tests/system_test: $(OBJ)/tests/system_test.o $(OBJ)/lib/base/system.o $(OBJ)/lib/base/system_darwin.o \
	$(OBJ)/lib/base/system_bsd.o $(OBJ)/lib/base/system_posix.o
$(BIN)/tests/pool_test: $(OBJ)/tests/pool_test.o $(OBJ)/fwd/run/pool.o $(lib_o)
$(BIN)/tests/rope_test: $(OBJ)/tests/rope_test.o $(OBJ)/fwd/model/rope.o $(lib_o)
$(BIN)/tests/graph_test: $(OBJ)/tests/graph_test.o $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/graph_programs_test: $(OBJ)/tests/graph_programs_test.o $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/plan_test: $(OBJ)/tests/plan_test.o $(OBJ)/tests/mkopen.o $(made_o) $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/malformed_test: $(OBJ)/tests/malformed_test.o $(OBJ)/tests/mkopen.o $(made_o) $(fwd_o) $(pick_o) \
	$(tok_o) $(lib_o)
$(BIN)/tests/split_test: $(OBJ)/tests/split_test.o $(OBJ)/tests/mkopen.o $(made_o) $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/quantise_test: $(OBJ)/tests/quantise_test.o $(quantise_o) $(lib_o)
$(BIN)/tests/blocks_test: $(OBJ)/tests/blocks_test.o $(lib_o)
$(BIN)/tests/scan_test: $(OBJ)/tests/scan_test.o $(OBJ)/tests/batches.o $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/linear_test: $(OBJ)/tests/linear_test.o $(OBJ)/tests/batches.o $(fwd_o) $(pick_o) $(tok_o) $(lib_o)
$(BIN)/tests/product_test: $(OBJ)/tests/product_test.o $(kernels_o) $(pick_o) $(lib_o)
$(BIN)/tests/vector_test: $(OBJ)/tests/vector_test.o $(kernels_o) $(pick_o) $(lib_o)
$(BIN)/tests/attend_test: $(OBJ)/tests/attend_test.o $(kernels_o) $(pick_o) $(lib_o)
$(BIN)/tests/avx512_test: $(OBJ)/tests/avx512_test.o $(lib_o)
$(BIN)/tests/gguf_test: $(OBJ)/tests/gguf_test.o $(OBJ)/tests/mkgguf.o $(tok_o) $(lib_o)
$(BIN)/tests/guessing_test: $(OBJ)/tests/guessing_test.o $(OBJ)/gen/loop/guessing.o
$(BIN)/tests/answer_test: $(OBJ)/tests/answer_test.o $(rules_o) $(schema_o) $(chat_o) $(tok_o) $(lib_o)
$(BIN)/tests/jinja_test: $(OBJ)/tests/jinja_test.o $(chat_o) $(tok_o) $(lib_o)
$(BIN)/tests/grammar_test: $(OBJ)/tests/grammar_test.o $(OBJ)/tests/oracle.o $(grammar_o) $(json_o) $(lib_o)
$(BIN)/tests/schema_test: $(OBJ)/tests/schema_test.o $(OBJ)/tests/mkschema.o $(OBJ)/tests/validator.o $(schema_o) \
	$(OBJ)/lib/vocab/unicode_table.o $(json_o) $(lib_o)
$(BIN)/tests/keywords_test: $(OBJ)/tests/keywords_test.o $(schema_o) $(OBJ)/lib/vocab/unicode_table.o $(json_o) $(lib_o)
$(BIN)/tests/vocab_test: $(OBJ)/tests/vocab_test.o $(OBJ)/tests/mkgguf.o $(OBJ)/tests/mkvocab.o $(tok_o) $(lib_o)
$(BIN)/tests/merge_test: $(OBJ)/tests/merge_test.o $(OBJ)/tests/mkgguf.o $(OBJ)/tests/mkvocab.o $(tok_o) $(lib_o)
$(BIN)/tests/special_test: $(OBJ)/tests/special_test.o $(OBJ)/tests/mkgguf.o $(tok_o) $(lib_o)
$(BIN)/tests/kinds_test: $(OBJ)/tests/kinds_test.o $(OBJ)/tests/mkgguf.o $(OBJ)/tests/mkvocab.o $(tok_o) $(lib_o)
$(BIN)/tests/pretok_test: $(OBJ)/tests/pretok_test.o $(tok_o) $(lib_o)
$(BIN)/tests/tokenizers_test: $(OBJ)/tests/tokenizers_test.o $(OBJ)/tests/sha256.o $(tok_o) $(lib_o)

# Prints the best instruction set of this CPU.
$(BIN)/isa: $(OBJ)/fwd/kernels/isa.o $(lib_o)

# What a program is made of: $^ in GNU make, $> in bmake.
$(binaries) $(BIN)/isa:
	@mkdir -p $(@D)
	@echo LD $@
	$(QUIET)objects='$^'; $(CC) $(ALL) $(LDFLAGS) -o $@ $${objects:-$>} -lm

# The commands that built what is here. Where they differ from now, everything is built again.
COMMANDS = $(CC) $(ALL) $(EXPLICIT) $(LDFLAGS)
$(OBJ)/flags: force
	@mkdir -p $(@D)
	@echo '$(COMMANDS)' | cmp -s - $@ || echo '$(COMMANDS)' > $@
force:

# How recipes name what they compile: `say FILE WHAT` prints the folder of a file, once; the file, where it is built
# again.
SAY = say() { \
		if [ -e $@ ]; then echo "CC $$1$$2"; return; fi; \
		mkdir -p `dirname $(@D)` && ! mkdir $(@D) 2>/dev/null || echo "CC $${1%/*}$$2"; \
	}; say

# The shell derives the source from the name of the object. The compiler writes beside it which files it depends on, the
# source among them.
$(objects):
	@source=$@; source=$${source#$(OBJ)/}; $(SAY) $${source%.o}.c
	$(QUIET)source=$@; source=$${source#$(OBJ)/}; $(CC) $(ALL) -MMD -MP -c -o $@ $${source%.o}.c

# A file of fwd/kernels/simd for an instruction set: fwd/kernels/isa/NAME.c includes it after the vectors it needs.
$(every_o):
	@isa=$(@D); name=$(@F); $(SAY) fwd/kernels/simd/$${name%.o}.c " for $${isa##*/}"
	$(QUIET)isa=$(@D); isa=$${isa##*/}; name=$(@F); name=$${name%.o}; \
		$(CC) $(ALL) $(EXPLICIT) -DKERNELS="\"fwd/kernels/simd/$$name.c\"" -DKERNELS_$$name -MMD -MP -c -o $@ \
		fwd/kernels/isa/$$isa.c

$(select_o):
	@$(SAY) fwd/kernels/select.c
	$(QUIET)[ $(ISA) = every ] || only=-DKERNELS_ONLY=$(ISA); \
		$(CC) $(ALL) $$only -MMD -MP -c -o $@ fwd/kernels/select.c

# Each line of the page becomes a string.
$(page_o): gen/serve/page.html
	@$(SAY) gen/serve/page.html
	$(QUIET){ \
		echo '#include <stddef.h>'; echo '#include "gen/serve/page.h"'; echo 'const char *const page[] = {'; \
		sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n",/' gen/serve/page.html; echo 'NULL };'; \
	} >$(OBJ)/gen/serve/page.c && $(CC) $(ALL) -c -o $@ $(OBJ)/gen/serve/page.c

$(objects) $(every_o) $(select_o) $(page_o): $(OBJ)/flags

# The table of character classes, from the Unicode Character Database; the result is committed.
UNICODE = UnicodeData.txt
unicode:
	LC_ALL=C awk -f lib/vocab/unicode.awk $(UNICODE) > lib/vocab/unicode_table.c

# A story, soon: from programs in a folder of their own with the kernels of this CPU alone, which take most of the time
# to compile. `make` builds those with all kernels.
STAGES = fwd tok sample detok gen
demo: $(BIN)/isa
	@$(MAKE) BIN=$(BIN)/demo ISA=`$(BIN)/isa` $(STAGES:%=$(BIN)/demo/%)
	@$(MAKE) BIN=$(BIN)/demo story

story:
	@begin='Once upon a time' && \
	text=`$(BIN)/gen -m examples/tales-q8_0.gguf -n 120 --temp 0.6 --top-p 0.9 -s 2 "$$begin"` && \
	echo "$$begin$$text" | fold -s -w 80

# Tokens per second next to the machine's limits: make bench BENCHFLAGS='--shape smol-135m --type Q8_0 -p 512,4096'
BENCHFLAGS =
bench: $(BIN)/bench
	@$(BIN)/bench $(BENCHFLAGS)

BINDIR = $(DESTDIR)$(PREFIX)/bin
MANDIR = $(DESTDIR)$(PREFIX)/share/man
DATADIR = $(DESTDIR)$(PREFIX)/share/lmpipe
# Where the shells look for completions.
BASH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
COMPLETE = sed -e "s/^_lmpipe_prefix=.*/_lmpipe_prefix=$(PROGRAM_PREFIX)/" \
	-e "s/^\(set -g __lmpipe_prefix\) .*/\1 '$(PROGRAM_PREFIX)'/" \
	-e "/^\#compdef/s/ \([a-z]\)/ $(PROGRAM_PREFIX)\1/g"
# The names of programs in a manual page: in .Nm and .Xr, and where a command begins in an example.
RENAME = names=`echo $(PROGRAMS) frame | tr ' ' '|'`; sed -E \
	-e "s/^(\.(Nm|Xr) )($$names)( |\$$)/\1$(PROGRAM_PREFIX)\3\4/" \
	-e "/^\.Bd -literal/,/^\.Ed/s/(^|[|{;(] *|	)($$names) /\1$(PROGRAM_PREFIX)\2 /g" \
	-e "/^\.Dl/s/((\.Dl|[|{;(]|do) )($$names) /\1$(PROGRAM_PREFIX)\3 /g"

install: all
	mkdir -p $(BINDIR) $(DATADIR) $(MANDIR)/man1 $(MANDIR)/man5 $(MANDIR)/man7
	for p in $(PROGRAMS); do \
		cp -f $(BIN)/$$p $(BINDIR)/$(PROGRAM_PREFIX)$$p && $(STRIP) $(BINDIR)/$(PROGRAM_PREFIX)$$p && \
		{ $(RENAME) */$$p.1; } > $(MANDIR)/man1/$(PROGRAM_PREFIX)$$p.1 || exit; \
	done
	{ $(RENAME) lib/stream/frame.5; } > $(MANDIR)/man5/$(PROGRAM_PREFIX)frame.5
	{ $(RENAME) fwd/kv.5; } > $(MANDIR)/man5/$(PROGRAM_PREFIX)kv.5
	{ $(RENAME) lib/lmpipe.7; } > $(MANDIR)/man7/$(PROGRAM_PREFIX)lmpipe.7
	cp examples/tales-q8_0.gguf examples/clerk-q8_0.gguf $(DATADIR)
	mkdir -p $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	$(COMPLETE) lib/completions/lmpipe.zsh > $(ZSH_COMPLETIONS)/_$(PROGRAM_PREFIX)lmpipe
	for p in $(PROGRAMS); do \
		name=$(PROGRAM_PREFIX)$$p; \
		$(COMPLETE) lib/completions/lmpipe.bash > $(BASH_COMPLETIONS)/$$name && \
		$(COMPLETE) lib/completions/lmpipe.fish > $(FISH_COMPLETIONS)/$$name.fish || exit; \
	done

uninstall:
	for p in $(PROGRAMS); do \
		name=$(PROGRAM_PREFIX)$$p; \
		rm -f $(BINDIR)/$$name $(MANDIR)/man1/$$name.1 $(BASH_COMPLETIONS)/$$name \
			$(FISH_COMPLETIONS)/$$name.fish || exit; \
	done
	rm -f $(MANDIR)/man5/$(PROGRAM_PREFIX)frame.5 $(MANDIR)/man5/$(PROGRAM_PREFIX)kv.5 \
		$(MANDIR)/man7/$(PROGRAM_PREFIX)lmpipe.7
	rm -f $(ZSH_COMPLETIONS)/_$(PROGRAM_PREFIX)lmpipe
	rm -f $(DATADIR)/tales-q8_0.gguf $(DATADIR)/clerk-q8_0.gguf
	-rmdir $(DATADIR)

# A Debian package, in the folder DEB; needs dpkg-dev.
DEB = .
deb: all
	@MAKE='$(MAKE)' lib/package/deb $(BIN) "$(PROGRAM_PREFIX)" "$(DEB)"

tests: $(binaries)

# What runs the backend avx512 in AVX2 instructions (AVX512 above).
EMULATED = fwd tests/product_test tests/vector_test tests/attend_test tests/linear_test tests/scan_test
emulated:
	$(MAKE) AVX512=avx512_emulated BIN=$(BIN)/emulated $(EMULATED:%=$(BIN)/emulated/%)

RUN = BIN=$(BIN) MAKE='$(MAKE)' tests/run
check: tests
	@$(RUN)

# What a change can have broken since the tests passed.
check-near: tests
	@$(RUN) --near

# What check leaves out; with avx512, emulated, if the CPU has AVX2 but not AVX-512.
CAN = $(BIN)/fwd examples/tales-q8_0.gguf </dev/null >/dev/null 2>&1 --backend
check-rest: tests
	@if $(CAN) avx2 && ! $(CAN) avx512; then $(MAKE) emulated; fi
	@$(RUN) --rest

check-all:
	@failed=; for part in check check-rest check-san check-cross; do \
		echo "-- $$part"; $(MAKE) $$part || failed="$$failed $$part"; \
	done; [ -z "$$failed" ] || { echo "failed:$$failed"; exit 1; }

# The table of families and how they are tested, from the tests' .ok files.
families: all
	BIN=$(BIN) tests/families >fwd/families/README.md

# The manual pages for browsers, from their sources; needs mandoc.
manual:
	lib/manual/make

# The pictures of sessions, made from what the programs print.
pictures: all
	BIN=$(BIN) examples/pictures/make

check-san:
	@$(MAKE) check BIN=bin-san OBJ=obj-san \
		CFLAGS='-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all'

check-avx512: tests
	$(MAKE) emulated
	@$(RUN) avx512 avx512_test

check-cross: $(BIN)/tests/mkmodel
	@MAKE='$(MAKE)' tests/cross

clean:
	rm -rf bin obj bin-* obj-*

-include $(objects:.o=.d) $(every_o:.o=.d) $(select_o:.o=.d)
.PHONY: force all tests emulated unicode clean demo story deb bench families manual pictures check check-near \
	check-rest check-all check-san check-avx512 check-cross install uninstall
