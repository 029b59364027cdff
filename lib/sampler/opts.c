/* The sampling options. The defaults named here are set by sampler_defaults(). */
#include "opts.h"

#include <stddef.h>

const struct opt sampler_opts[] = {
	{ OPT_GREEDY, "greedy", NULL, "take the largest logit: --temp 0, even if --samplers omits temperature" },
	{ OPT_PRESET, "preset", "creative|balanced|focused|deterministic",
		"set several of these options at once: see sample(1)" },
	{ OPT_NUMBER, "temp", "T", "temperature (default: 0.8)" },
	{ OPT_NUMBER, "top-k", "K", "keep the K largest logits; 0: all (default: 40)" },
	{ OPT_NUMBER, "top-p", "P", "keep the most likely tokens that add up to P; 1: all (default: 0.95)" },
	{ OPT_NUMBER, "min-p", "P", "keep tokens at least P times as likely as the best; 0: all (default: 0.05)" },
	{ OPT_NUMBER, "top-nsigma", "N",
		"keep logits within N standard deviations of the largest; 0, -1: all (default: -1)" },
	{ OPT_NUMBER, "typical", "P", "keep tokens of most typical surprise that add up to P; 1: all (default: 1)" },
	{ OPT_NUMBER, "xtc-probability", "P", "probability of dropping the most likely tokens (default: 0)" },
	{ OPT_NUMBER, "xtc-threshold", "P",
		"xtc drops tokens of probability P or more, except the least likely (default: 0.1)" },
	{ OPT_NUMBER, "dynatemp-range", "R",
		"vary the temperature between T - R and T + R with the entropy (default: 0)" },
	{ OPT_NUMBER, "dynatemp-exp", "E", "exponent of the entropy in --dynatemp-range (default: 1)" },
	{ OPT_NUMBER, "mirostat", "N", "1 or 2: replace the chain by temperature and mirostat (default: 0)" },
	{ OPT_NUMBER, "mirostat-ent", "S", "target surprise of mirostat, in bits (default: 5)" },
	{ OPT_NUMBER, "mirostat-lr", "R", "learning rate of mirostat (default: 0.1)" },
	{ OPT_SAMPLERS, "samplers", "NAMES", "samplers of the chain, in order,\n"
		"with semicolons between the names (default: see sample(1))" },
	{ OPT_LETTERS, "sampler-seq", "LETTERS", "samplers of the chain, as letters (default: edskypmxt)" },
	{ OPT_GUMBEL, "gumbel", NULL, "take the largest of logit/T + noise of (seed, position, id); top-k, top-p\n"
		"and min-p are off unless given" },
	{ 'l', "logit-bias", "ID+B", "add B to the logit of ID; ID-B subtracts, ID-inf excludes it; repeatable" },
	{ OPT_TRACE, "trace", NULL, "print the candidates after each sampler to stderr" },
	{ .help = "Repetition" },
	{ OPT_NUMBER, "repeat-penalty", "R",
		"divide positive logits of recent tokens by R, multiply negative ones;\n1: off (default: 1)" },
	{ OPT_NUMBER, "frequency-penalty", "F",
		"subtract F from a recent token's logit for each occurrence (default: 0)" },
	{ OPT_NUMBER, "presence-penalty", "P", "subtract P from a recent token's logit once (default: 0)" },
	{ OPT_NUMBER, "repeat-last-n", "N", "recent tokens that the penalties consider; -1: all (default: 64)" },
	{ OPT_DRY, "dry-multiplier", "M",
		"subtract M times base^(n - allowed) from a token that would repeat n tokens\n(default: 0)" },
	{ OPT_NUMBER, "dry-base", "B", "base of the dry penalty (default: 1.75)" },
	{ OPT_NUMBER, "dry-allowed-length", "N", "length of repetition from which dry applies (default: 2)" },
	{ OPT_NUMBER, "dry-penalty-last-n", "N", "recent tokens that dry considers; -1: all (default: -1)" },
	{ OPT_BREAKER, "dry-sequence-breaker", "TEXT",
		"text that ends a repetition (dry); repeatable; none: no such text\n"
		"(default: \\n : \" *, with a model)" },
	{ OPT_BREAKER_ID, "dry-sequence-breaker-id", "ID", "token id that ends a repetition (dry); repeatable" },
	{ .help = "End of generation" },
	{ OPT_IGNORE_EOS, "ignore-eos", NULL, "never draw an end-of-generation token" },
	{ OPT_NUMBER, "min-tokens", "N",
		"draw at least N tokens before an end-of-generation token or a stop id (default: 0)" },
	{ OPT_STOP_ID, "stop-id", "ID", "stop after this token id; repeatable" },
	{ .help = "Diffusion models" },
	{ OPT_NUMBER, "diffusion-steps", "N",
		"fill in a diffusion model's text in about N steps; 0: one for each token (default: 0)" },
	{ OPT_NUMBER, "diffusion-block-length", "N", "block length for diffusion (default: 32)" },
	{ OPT_CERTAINTY, "diffusion-algorithm", "confidence|margin|entropy|random",
		"which tokens of a diffusion step are kept (default: confidence)" },
	{ .help = "Reasoning" },
	{ OPT_BUDGET, "think-budget", "N", "close the reasoning after N tokens of it; 0: at once" },
	{ OPT_THINK_MESSAGE, "think-message", "TEXT", "what comes before the text that --think-budget closes it with" },
	{ OPT_THINK_OPEN, "think-open", "TEXT", "what opens reasoning, for --think-budget; repeatable\n"
		"(default: <think>, or what the chat template shows)" },
	{ OPT_THINK_CLOSE, "think-close", "TEXT", "what closes it\n"
		"(default: \\n</think>\\n\\n, or what the chat template shows)" },
	{ .help = "Constraints" },
	{ OPT_GRAMMAR, "grammar", "TEXT", "draw only what this GBNF grammar allows" },
	{ OPT_GRAMMAR, "grammar-file", "FILE", "draw only what the GBNF grammar in FILE allows" },
	{ OPT_AFTER, "grammar-after", "TEXT", "apply the grammar only from this text on; repeatable" },
	{ 0 }
};

int sampler_opt_of_text(const struct opt *o)
{
	return o->letter == OPT_DRY || o->letter == OPT_BREAKER || o->letter == OPT_GRAMMAR || o->letter == OPT_AFTER
		|| o->letter == OPT_TRACE || o->letter == OPT_BUDGET;
}
