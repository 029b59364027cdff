# Log-probabilities, ranks, KL divergences and their statistics, in awk's doubles by their definitions, for score.test.
# Input: logits of N columns as text, from each file row after row; `ids`: the tokens, in order; row i is about token
# i + 1, the last about none. `from`, `to`: only predictions of positions from .. to. With one file: a line "position id
# logprob rank best logprob" for each; then the figures. With two files, those of the second against the first.
function logsum(f, r,    m, s, i) {
	m = x[f, r, 0]
	for (i = 1; i < n; i++)
		if (x[f, r, i] > m) m = x[f, r, i]
	for (i = 0; i < n; i++)
		s += exp(x[f, r, i] - m)
	return m + log(s)
}
function best(f, r,    b, i) {
	for (i = 1; i < n; i++)
		if (x[f, r, i] > x[f, r, b + 0]) b = i
	return b + 0
}
function sorted(a, n,    i, j, t) {
	for (i = 1; i < n; i++) {
		t = a[i]
		for (j = i; j > 0 && a[j - 1] > t; j--)
			a[j] = a[j - 1]
		a[j] = t
	}
}
function share(a, n, p,    i) {
	i = int(p * (n - 1))
	return a[i] + (p * (n - 1) - i) * (a[i + 1 < n ? i + 1 : i] - a[i])
}
function error(sum, squares, n,    v) {
	v = squares / n - (sum / n) ^ 2
	return v > 0 ? sqrt(v / (n - 1)) : 0
}
BEGIN { CONVFMT = OFMT = "%.12g"; n_ids = split(ids, id, " ") }
FNR == 1 { file++ }
{ for (i = 1; i <= NF; i++) { x[file, int(seen[file] / n), seen[file] % n] = $i; seen[file]++ } }
END {
	for (r = 0; r < n_ids; r++) {
		pos = r + 1
		if (pos < from || pos > to || (file == 1 && pos == n_ids)) continue
		token = id[pos + 1]
		for (f = 1; f <= file; f++) {
			l[f] = logsum(f, r)
			b[f] = best(f, r)
			p[f] = x[f, r, token] - l[f]
		}
		rank = 1
		for (i = 0; i < n; i++)
			rank += x[1, r, i] > x[1, r, token] || (x[1, r, i] == x[1, r, token] && i < token)
		if (file == 1)
			printf "%d %d %.4f %d %d %.4f\n", pos, token, p[1], rank, b[1], x[1, r, b[1]] - l[1]
		if (pos < n_ids) {
			tokens++
			nll += -p[1]; nll2 += p[1] ^ 2; first += rank == 1
		}
		if (file == 1) continue
		count++
		kl = 0
		for (i = 0; i < n; i++) {
			kl += exp(x[1, r, i] - l[1]) * (x[1, r, i] - l[1] - x[2, r, i] + l[2])
			d = x[1, r, i] - x[2, r, i]
			most = d > most ? d : -d > most ? -d : most
		}
		kls[count - 1] = kl; sum += kl; sum2 += kl ^ 2
		same += b[1] == b[2]
		if (pos == n_ids) continue
		d = exp(p[2]) - exp(p[1])
		ds[tokens - 1] = d; dsum += d; dsum2 += d ^ 2; dsum4 += d ^ 4
		other += -p[2]
		ratio += p[1] - p[2]; ratio2 += (p[1] - p[2]) ^ 2
	}
	if (file == 1) {
		printf "perplexity %.4f %.4f\n", exp(nll / tokens), exp(nll / tokens) * error(nll, nll2, tokens)
		printf "first %.2f\n", 100 * first / tokens
		exit
	}
	sorted(kls, count)
	sorted(ds, tokens)
	print count, most, sum / count, error(sum, sum2, count), share(kls, count, 0.5), share(kls, count, 0.99),
		share(kls, count, 0.999), share(kls, count, 1)
	print 100 * same / count, 100 * dsum / tokens, 100 * error(dsum, dsum2, tokens), 100 * sqrt(dsum2 / tokens),
		100 * share(ds, tokens, 0.01), 100 * share(ds, tokens, 0.99)
	print exp(other / tokens), exp(nll / tokens), ratio / tokens, error(ratio, ratio2, tokens)
}
