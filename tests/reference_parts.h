/* reference_parts: what the files of the reference share. n is the number of positions throughout. The caller frees
 * what a function returns. A failure ends the program. */
#ifndef REFERENCE_PARTS_H
#define REFERENCE_PARTS_H

#include <stdint.h>

#include "reference_model.h"

extern struct reference m;

/* ---- reference_math.c ---- */

/* part() returns "blk.LAYER.WHAT", valid until the next call; has() says whether the file has WHAT.weight in that
 * layer. */
const char *part(size_t layer, const char *what);
int has(size_t layer, const char *what);

/* y[n][rows] = x[n][cols] · W[rows][cols] (+ bias) */
void product(double *y, const float *weight, const float *bias, const double *x, size_t n, size_t cols, size_t rows);

/* The same with the tensors PREFIX.weight and, if there is one, PREFIX.bias; W is multiplied by the number
 * PREFIX.scale, if there is one. */
double *linear(const char *prefix, const double *x, size_t n, size_t cols, size_t rows);

/* y[n][rows] += the low-rank delta of each row's adapter, by PREFIX.lora_a and PREFIX.lora_b, applied to x[n][cols]. */
void add_delta(const char *prefix, double *y, const double *x, size_t n, size_t cols, size_t rows);

/* Norms the rows of x[n][width] in place. weight and bias, which may be NULL, have `sets` rows; row i uses row i mod
 * sets. */
void norm_rows(double *x, size_t n, size_t width, const float *weight, const float *bias, size_t sets);

/* The same without weights. */
void bare_norm_rows(double *x, size_t n, size_t width);

/* The same with the tensors PREFIX.weight and PREFIX.bias, whichever exist. */
void norm_in_place(const char *prefix, double *x, size_t n, size_t width);

/* The same for x[n][n_embd], the result of a branch of layer il. */
void norm_branch(size_t il, const char *name, double *x, size_t n);

double *copy(const double *x, size_t n);

/* Returns columns [from, from + width) of x[n][stride] as a new matrix. */
double *columns(const double *x, size_t n, size_t stride, size_t from, size_t width);

/* x[n][n_embd] += branch · residual_scale. Frees branch. */
void add(double *x, double *branch, size_t n);

/* x[n][heads][d], the first n_rot elements of each head rotated in place: row i is position i */
void rope(const struct reference_layer *l, double *x, size_t n, size_t heads, size_t d);

/* The n values of blk.LAYER.WHAT. If there is no such tensor, the program ends. */
float *needed(size_t layer, const char *what, size_t n);

double sigmoid(double x);
double gelu(double x);
double activation(const double *xielu, double x);       /* the family's activation */
double gated(double gate, double up, double limit);      /* limit 0: none */
size_t greatest(const double *x, size_t n);             /* index of the largest */
void softmax(double *x, size_t n);

/* ---- reference_streams.c: Gemma 3n and 4 ---- */

/* Returns the per-layer inputs [n][n_layer][n_per_layer] of ids whose embeddings are x. */
double *layer_inputs(const int *ids, const double *x, size_t n);

/* Returns the branch, [n][n_embd], that layer il makes from its per-layer input and x[n][n_embd]. */
double *own_input_part(size_t il, const double *inputs, const double *x, size_t n);

/* streams_of() makes [n_streams][n][n_embd] from x[n][n_embd]; united() makes x from the streams. */
double *streams_of(const double *x, size_t n);
double *united(double *streams, size_t n);

/* Runs layer il on all streams, in place. */
void streams_layer(size_t il, double *streams, const double *inputs, size_t n);

/* ---- reference_hyper.c: hyper-connections; streams[n_streams][n][n_embd] ---- */

double *hyper_streams(const double *x, size_t n);
void hyper_layer(size_t il, double *streams, size_t n);
double *hyper_united(double *streams, size_t n);

/* ---- reference_gated.c: hyper-connections with a gate for each element; embeddings of n-grams ---- */

void gated_layer(size_t il, double *streams, size_t n);
double *gated_united(double *streams, size_t n);

/* ---- reference_encoder.c: an encoder and a decoder ---- */

/* The position of the last row that the encoder reads, which is the decoder's first; 0 if there is no encoder. */
size_t text_end(const int *ids, size_t n);

/* Returns x of the decoder's rows, [n - text_end(ids, n)][n_embd], after this many of its layers. */
double *decoded(const int *ids, size_t n, size_t layers);

/* Returns x[n][n_embd] of all rows of an encoder without a decoder, after this many of its layers. */
double *encoded(const int *ids, size_t n, size_t layers);

/* ---- reference_embed.c ---- */

/* Makes an embedding, or several, of the rows x[n][n_embd] of a text: [*rows][*cols]. Frees x. */
double *embedding(double *x, size_t n, uint32_t pooling, size_t *rows, size_t *cols);

/* ---- reference.c ---- */

/* Returns x[n][n_embd], the embeddings of the ids at positions 0 to n - 1. */
double *embedded(const int *ids, size_t n);

/* ---- reference_residuals.c: attention residuals ---- */

/* recalled() returns what a branch or the head reads, a weighted sum by scores from tensor SCORE; residuals_layer()
 * runs layer il on x, in place. */
double *recalled(const char *score, const double *x, size_t n);
void residuals_layer(size_t il, double *x, size_t n);

/* Gated residuals, before layer il: x += gate · (recalled - x). */
void recall_blocks(size_t il, double *x, size_t n);

/* ---- parts of layer il: each returns a branch [n][n_embd] made from x[n][n_embd] ---- */

double *feed_forward_part(size_t il, const double *h, const double *input, size_t n);
double *attention_part(size_t il, const double *x, size_t n);
double *compressed_attention(size_t il, const double *x, size_t n);
void choose_positions(size_t il, const double *x, size_t n);    /* sets m.sees if the layer has an indexer */
double *convolution(size_t il, const double *x, size_t n);
double *time_mix(size_t il, const double *x, size_t n);         /* RWKV 7 */
double *channel_mix(size_t il, const double *x, size_t n);
double *time_mix6(size_t il, const double *x, size_t n);        /* RWKV 6 */
double *channel_mix6(size_t il, const double *x, size_t n);
double *mamba(size_t il, const double *x, size_t n);
double *mamba_plamo2(size_t il, const double *x, size_t n);
double *mamba2(size_t il, const double *x, size_t n);
double *delta_net(size_t il, const double *x, size_t n);
double *lightning(size_t il, const double *x, size_t n);
double *kda(size_t il, const double *x, size_t n);
double *mixture(size_t il, const double *x, const double *input, size_t n);    /* `input` is what the router reads */

#endif
