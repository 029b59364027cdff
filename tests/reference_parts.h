/* reference_parts: what the files of the reference share. n is the number of positions throughout; what is returned is
 * the caller's to free(). A failure ends the program. */
#ifndef REFERENCE_PARTS_H
#define REFERENCE_PARTS_H

#include "reference_model.h"

extern struct reference m;

/* ---- reference_math.c ---- */

/* "blk.LAYER.WHAT", valid until the next call; whether there is such a WHAT.weight. */
const char *part(size_t layer, const char *what);
int has(size_t layer, const char *what);

/* y[n][rows] = x[n][cols] · W[rows][cols] (+ bias) */
void product(double *y, const float *weight, const float *bias, const double *x, size_t n, size_t cols, size_t rows);

/* The same with W and bias named PREFIX.weight and PREFIX.bias. A number PREFIX.scale multiplies W. */
double *linear(const char *prefix, const double *x, size_t n, size_t cols, size_t rows);

/* y[n][rows] += what the adapters of the rows x[n][cols] make of them, by PREFIX.lora_a and PREFIX.lora_b. */
void add_delta(const char *prefix, double *y, const double *x, size_t n, size_t cols, size_t rows);

/* x[n][width]: each row normed in place; row i by row i mod `sets` of the weights, if there are any. */
void norm_rows(double *x, size_t n, size_t width, const float *weight, const float *bias, size_t sets);

/* Without weights. */
void bare_norm_rows(double *x, size_t n, size_t width);

/* In place, with the tensors PREFIX.weight and PREFIX.bias, where there are any. */
void norm_in_place(const char *prefix, double *x, size_t n, size_t width);

/* The same of x[n][n_embd], a branch of layer il. */
void norm_branch(size_t il, const char *name, double *x, size_t n);

double *copy(const double *x, size_t n);

/* Columns [from, from + width) of x[n][stride], as a matrix of its own. */
double *columns(const double *x, size_t n, size_t stride, size_t from, size_t width);

/* A branch of x[n][n_embd] is added, and freed. */
void add(double *x, double *branch, size_t n);

/* x[n][heads][d], the first n_rot elements of each head rotated in place: row i is position i */
void rope(const struct reference_layer *l, double *x, size_t n, size_t heads, size_t d);

/* The n values of blk.LAYER.WHAT; the end of the program where there are none. */
float *needed(size_t layer, const char *what, size_t n);

double sigmoid(double x);
double activation(const double *xielu, double x);       /* the family's */
double gated(double gate, double up, double limit);      /* limit 0: none */
size_t greatest(const double *x, size_t n);             /* its index */
void softmax(double *x, size_t n);

/* ---- reference_streams.c: Gemma 3n and 4 ---- */

/* The own inputs of all layers, [n][n_layer][n_per_layer], of ids whose embedded rows are x. */
double *layer_inputs(const int *ids, const double *x, size_t n);

/* What layer il makes of its own input and x[n][n_embd]; [n][n_embd]. */
double *own_input_part(size_t il, const double *inputs, const double *x, size_t n);

/* [n_streams][n][n_embd] of x[n][n_embd], and their union. */
double *streams_of(const double *x, size_t n);
double *united(double *streams, size_t n);

/* All streams through layer il. */
void streams_layer(size_t il, double *streams, const double *inputs, size_t n);

/* ---- reference_hyper.c: hyper-connections; streams[n_streams][n][n_embd] ---- */

double *hyper_streams(const double *x, size_t n);
void hyper_layer(size_t il, double *streams, size_t n);
double *hyper_united(double *streams, size_t n);

/* ---- reference_gated.c: those with gates of all elements; embeddings of n-grams ---- */

void gated_layer(size_t il, double *streams, size_t n);
double *gated_united(double *streams, size_t n);

/* ---- reference_residuals.c: attention residuals ---- */

/* What a part or the head reads, by the weights of tensor SCORE; and x through layer il. */
double *recalled(const char *score, const double *x, size_t n);
void residuals_layer(size_t il, double *x, size_t n);

/* Gated ones, before layer il: x += gate · (what is recalled − x). */
void recall_blocks(size_t il, double *x, size_t n);

/* ---- the parts of layer il, of x[n][n_embd]; [n][n_embd] ---- */

double *feed_forward_part(size_t il, const double *h, const double *input, size_t n);
double *attention_part(size_t il, const double *x, size_t n);
double *compressed_attention(size_t il, const double *x, size_t n);
void choose_positions(size_t il, const double *x, size_t n);    /* m.sees, where the layer has an indexer */
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
