/* The options of drawing. Their defaults are sampler_defaults()'s. */
#include "opts.h"

#include <stddef.h>

const struct opt sampler_opts[] = {
	{ OPT_GREEDY, "greedy", NULL, "take the largest logit; the same as --temp 0" },
	{ OPT_PRESET, "preset", "NAME", "creative, balanced, focused or deterministic: see sample(1)" },
	{ OPT_NUMBER, "temp", "T", "temperature (default: 0.8)" },
	{ OPT_NUMBER, "top-k", "K", "keep the K largest logits; 0: all (default: 40)" },
	{ OPT_NUMBER, "top-p", "P", "keep the likeliest ids that make up P; 1: all (default: 0.95)" },
	{ OPT_NUMBER, "min-p", "P", "keep ids at least P times as likely as the likeliest; 0: all (default: 0.05)" },
	{ OPT_NUMBER, "top-nsigma", "N", "keep logits within N standard deviations of the largest; 0, -1: all (default: -1)" },
	{ OPT_NUMBER, "typical", "P", "keep the ids of most typical surprise that make up P; 1: all (default: 1)" },
	{ OPT_NUMBER, "xtc-probability", "P", "how often to drop the likeliest (default: 0)" },
	{ OPT_NUMBER, "xtc-threshold", "P", "which: all but one of those that have at least P (default: 0.1)" },
	{ OPT_NUMBER, "dynatemp-range", "R", "temperature between T - R and T + R, by entropy (default: 0)" },
	{ OPT_NUMBER, "dynatemp-exp", "E", "how the entropy counts: to the power of E (default: 1)" },
	{ OPT_NUMBER, "repeat-penalty", "R", "divide logits of recent ids by R, multiply negative ones; 1: off (default: 1)" },
	{ OPT_NUMBER, "frequency-penalty", "F", "take F from the logit of a recent id for each time (default: 0)" },
	{ OPT_NUMBER, "presence-penalty", "P", "take P from the logit of a recent id once (default: 0)" },
	{ OPT_NUMBER, "repeat-last-n", "N", "how many ids are recent; -1: all (default: 64)" },
	{ OPT_DRY, "dry-multiplier", "M", "take M times base^(n - allowed) from what would repeat n ids (default: 0)" },
	{ OPT_NUMBER, "dry-base", "B", "the base (default: 1.75)" },
	{ OPT_NUMBER, "dry-allowed-length", "N", "repetitions of fewer ids are free (default: 2)" },
	{ OPT_NUMBER, "dry-penalty-last-n", "N", "how many ids dry looks back; -1: all (default: -1)" },
	{ OPT_BREAKER, "dry-sequence-breaker", "TEXT", "no repetition goes beyond this text; repeatable; none: no such text\n(default: \\n : \" *, with a model)" },
	{ OPT_BREAKER_ID, "dry-sequence-breaker-id", "ID", "nor beyond this id; repeatable" },
	{ OPT_NUMBER, "mirostat", "N", "1 or 2: temperature and mirostat in place of the chain (default: 0)" },
	{ OPT_NUMBER, "mirostat-ent", "S", "surprise to steer for, in bits (default: 5)" },
	{ OPT_NUMBER, "mirostat-lr", "R", "how fast (default: 0.1)" },
	{ OPT_SAMPLERS, "samplers", "NAMES", "the chain's order (default: \"penalties;dry;top_n_sigma;top_k;typ_p;top_p;\nmin_p;xtc;temperature\")" },
	{ OPT_LETTERS, "sampler-seq", "LETTERS", "the same by letters (default: edskypmxt)" },
	{ OPT_GUMBEL, "gumbel", NULL, "draw by the largest of logit/T + noise of (seed, position, id); drops\nnobody unless told to" },
	{ 'l', "logit-bias", "ID+B", "add B to the logit of ID, or ID-B, or ID-inf: never; may be repeated" },
	{ OPT_IGNORE_EOS, "ignore-eos", NULL, "never draw an end-of-generation id" },
	{ OPT_NUMBER, "min-tokens", "N", "nor a stop id, before N others (default: 0)" },
	{ OPT_STOP_ID, "stop-id", "ID", "stop after this id; repeatable" },
	{ OPT_GRAMMAR, "grammar", "TEXT", "draw only what this GBNF grammar allows" },
	{ OPT_GRAMMAR, "grammar-file", "FILE", "the same from a file" },
	{ OPT_GRAMMAR, "json-schema", "TEXT", "draw only JSON of this schema" },
	{ OPT_GRAMMAR, "json-schema-file", "FILE", "the same from a file" },
	{ OPT_TRACE, "trace", NULL, "who is left after each sampler, on stderr" },
	{ 0 }
};

int sampler_opt_of_text(const struct opt *o)
{
	return o->letter == OPT_DRY || o->letter == OPT_BREAKER || o->letter == OPT_GRAMMAR || o->letter == OPT_TRACE;
}
