/* layers: the hyperparameters of a model's layers, as most families have them. A family's read() changes what is
 * different. */
#ifndef LAYERS_H
#define LAYERS_H

#include "keys.h"

/* The most elements of a head, elements inside a feed-forward part, and positions: no model comes near these. */
enum { DIM_MAX = 1 << 12, FF_MAX = 1 << 24, CTX_MAX = 1 << 26 };

/* Sizes, RoPE and experts of all layers into m->layer. */
int layers_read(struct model *m, struct why *w);

/* Its part for RoPE, into m->rope; dim_k: the fewest elements of a head in any layer. */
int layers_read_rope(struct model *m, size_t dim_k, struct why *w);

/* ---- for families ---- */

/* attention.sliding_window for the layers that attention.sliding_window_pattern names: a flag for each layer, or a
 * period p, by default this one: layer il slides where il mod p < p − 1. Period 0: all slide. */
int layers_slide(struct model *m, size_t period, struct why *w);

/* The same where layer il slides unless il mod p = 0. */
int layers_slide_late(struct model *m, size_t period, struct why *w);

/* RoPE of the layers that slide: base rope.freq_base_swa, by default this one, without scaling but of magnitude. */
int layers_sliding_rope(struct model *m, double base, struct why *w);

/* Base rope.freq_base_swa, where the file has one, of the layers that slide or see chunks; else as in the others. Where
 * rope.scaling.type is none, rope.scaling.factor still stretches these, as in llama.cpp. */
int layers_sliding_base(struct model *m, struct why *w);

/* rope.dimension_count_swa of those, after either; or of all layers, if the first one slides, as in llama.cpp. */
int layers_sliding_rot(struct model *m, struct why *w);
int layers_rot_of_first(struct model *m, struct why *w);

/* This base, and neither scaling nor factors, whatever the keys say. */
void layers_plain_rope(struct model *m, double base);

/* rope.dimension_sections of models that see images, too: pairs that turn with a coordinate of an image which texts do
 * not have keep an angle of 0. Returns whether there are sections, or -1. */
int layers_sections(struct model *m, int interleaved, struct why *w);

/* No RoPE in the layers that do not slide. */
void layers_unrotate_full(struct model *m);

/* YaRN's rope.scaling.yarn_beta_fast and _slow. In most families they do not count, as in llama.cpp. */
int layers_betas(struct model *m, struct why *w);

/* attention.temperature_scale, with this length, for all layers. */
int layers_temper(struct model *m, size_t length, struct why *w);

/* Gates of attention's result where a layer has attn_gate: one for each head if it has a row for each, else one for
 * each element. */
void layers_find_gates(struct model *m);

/* swiglu_clamp_shexp and swiglu_clamp_exp: limits of SiLU of the gate, and of the other factor. */
int layers_limit(struct model *m, struct why *w);

/* swiglu_clamp_exp as the limit of the gate itself, and of the other factor; without the key: this one, 0 for none. */
int layers_limit_gates(struct model *m, float otherwise, struct why *w);

/* The same of the shared expert, too: swiglu_clamp_shexp, by default those of the others. */
int layers_limit_all_gates(struct model *m, struct why *w);

/* The indexer of sparse attention, whose keys and queries rotate like those of attention, from their first element on.
 * Every layer is to choose, until the family says otherwise. */
int layers_index(struct model *m, struct why *w);

/* Tensors of layer il, "attn_gate.weight" and so on up to NULL, are not needed. */
void layers_ignore(struct model *m, size_t il, const char *const *names);

/* 0 if keys and values have heads of the same size. They must where keys are values, where attn_q makes gates beside q,
 * and where attn_gate makes one for each element. */
int layers_check_dims(const struct model *m, struct why *w);

/* Hyper-connections with a matrix of the streams. */
int layers_mix_streams(struct model *m, struct why *w);

/* ALiBi (Press et al. 2022) with this greatest bias: slopes that halve from head to head. */
int layers_alibi(struct model *m, float most, struct why *w);

#endif
