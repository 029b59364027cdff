/* layers: reads the hyperparameters that layers have in most families. A family's read() then changes what differs. */
#ifndef LAYERS_H
#define LAYERS_H

#include "keys.h"

/* Upper bounds of the elements of a head, of a feed-forward layer's width, and of positions. Real models stay far
 * below. */
enum { DIM_MAX = 1 << 12, FF_MAX = 1 << 24, CTX_MAX = 1 << 26 };

/* Reads sizes, RoPE and experts of all layers into m->layer. */
int layers_read(struct model *m, struct why *w);

/* Reads RoPE's parameters into m->rope; dim_k is the smallest head size of all layers. Called by layers_read(). */
int layers_read_rope(struct model *m, size_t dim_k, struct why *w);

/* ---- for families ---- */

/* Gives the window attention.sliding_window to the layers that attention.sliding_window_pattern names: by a flag for
 * each layer, or by a period p (default: `period`), where layer il has the window if il mod p < p − 1. Period 0: all
 * layers. */
int layers_slide(struct model *m, size_t period, struct why *w);

/* The same, but with a period layer il has the window unless il mod p = 0. */
int layers_slide_late(struct model *m, size_t period, struct why *w);

/* For models whose rows see both ways: halves the windows on each side, so that a window of n positions shows n / 2
 * before a row and n / 2 after it. */
void layers_center_windows(struct model *m);

/* llama.cpp's base where a file has no rope.freq_base_swa; some families take rope.freq_base instead. */
#define SLIDING_BASE 10000

/* Gives the layers with a window a separate RoPE, with base rope.freq_base_swa (default: `base`) and no scaling except
 * the magnitude. */
int layers_sliding_rope(struct model *m, double base, struct why *w);

/* The same as layers_slide(), with RoPE in the layers with a window unscaled, also in magnitude. All layers have the
 * same base: rope.freq_base_swa is ignored. */
int layers_slide_unscaled(struct model *m, size_t period, struct why *w);

/* Gives the layers with a window or chunks the base rope.freq_base_swa, if the file has that key. RoPE scaling stays,
 * and rope.scaling.factor applies to these layers even if rope.scaling.type is none, as in llama.cpp. */
int layers_sliding_base(struct model *m, struct why *w);

/* Read rope.dimension_count_swa. layers_sliding_rot(): for the layers with a window; call it after
 * layers_sliding_rope() or layers_sliding_base(). layers_rot_of_first(): for all layers if the first one has a window,
 * as in llama.cpp. */
int layers_sliding_rot(struct model *m, struct why *w);
int layers_rot_of_first(struct model *m, struct why *w);

/* Sets RoPE to this base, without scaling or factors, whatever the keys say. */
void layers_plain_rope(struct model *m, double base);

/* Reads rope.dimension_sections of models that also read images. Sections divide RoPE's pairs among the coordinates of
 * an image; pairs of a coordinate that text lacks have angle 0. Returns 1 if there are sections, 0 if not, -1 on
 * error. */
int layers_sections(struct model *m, int interleaved, struct why *w);

/* Turns RoPE off in the layers without a window. */
void layers_unrotate_full(struct model *m);

/* Reads YaRN's rope.scaling.yarn_beta_fast and _slow. Like llama.cpp, most families ignore these keys. */
int layers_betas(struct model *m, struct why *w);

/* Reads attention.temperature_scale for all layers, with this length (see struct temperature). */
int layers_temper(struct model *m, size_t length, struct why *w);

/* Layers that have attn_gate get gates of attention's result: one for each head if attn_gate has n_head rows, else one
 * for each element. */
void layers_find_gates(struct model *m);

/* Reads SwiGLU's limits, swiglu_clamp_shexp and swiglu_clamp_exp, which apply to silu(gate) and to up. */
int layers_limit(struct model *m, struct why *w);

/* Reads swiglu_clamp_exp (default: `otherwise`; 0: none), which applies to the gate itself and to up. */
int layers_limit_gates(struct model *m, float otherwise, struct why *w);

/* The same, and swiglu_clamp_shexp for the shared expert (default: the limits of the others). */
int layers_limit_all_gates(struct model *m, struct why *w);

/* Ignores tensors of layer il (model_ignore()). names: "attn_gate.weight" and so on, up to NULL. */
void layers_ignore(struct model *m, size_t il, const char *const *names);

/* Returns -1 unless keys and values have the same head size. Needed where keys are also values, where attn_q makes the
 * gates, and where attn_gate makes one gate per element. */
int layers_check_dims(const struct model *m, struct why *w);

/* ALiBi (Press et al. 2022) with slopes that fall geometrically from head to head, to 2^-most for the last. `most` is
 * attention.max_alibi_bias, usually 8. */
int layers_alibi(struct model *m, float most, struct why *w);

#endif
