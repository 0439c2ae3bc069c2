/* test_kern.c - row operations: against plain references in double, scalar = AVX2 = AVX-512 bit
 * for bit, and the same bits for a row whatever stands beside it.
 */
#include "test.h"

#include "base/rng.h"
#include "kern/kern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct kern *const all[] = { &kern_scalar, &kern_avx2, &kern_avx512 };

enum { N_ALL = 3 };

static float *floats(int64_t n)
{
	float *p = aligned_alloc(64, (size_t)(kern_round16(n) + 16) * sizeof(float));

	assert_non_null(p);
	memset(p, 0, (size_t)(kern_round16(n) + 16) * sizeof(float));
	return p;
}

static float *normals(int64_t n, uint32_t seed)
{
	float *p = floats(n);
	struct rng r;

	rng_init(&r, seed, RNG_DATA, 0, 0);
	for (int64_t i = 0; i < n; i++)
		p[i] = (float)rng_normal(&r);
	return p;
}

static void near_by(const float *x, const double *want, int64_t n, double tol)
{
	double top = 0;

	for (int64_t i = 0; i < n; i++)
		top = fmax(top, fabs(want[i]));
	for (int64_t i = 0; i < n; i++)
		if (!(fabs(x[i] - want[i]) <= tol * (top + 1e-30)))
			fail_msg("element %lld: %.9g, want %.9g (top %g)", (long long)i,
			         (double)x[i], want[i], top);
}

static void same(const float *a, const float *b, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (memcmp(a + i, b + i, sizeof *a) != 0)
			fail_msg("element %lld: %.9g and %.9g", (long long)i, (double)a[i],
			         (double)b[i]);
}

static void test_pick(void **state)
{
	const struct kern *k = NULL;
	struct err e;

	(void)state;
	assert_int_equal(kern_pick("scalar", &k, &e), 0);
	assert_ptr_equal(k, &kern_scalar);
	k = NULL;
	assert_int_equal(kern_pick("sse", &k, &e), ERR_RANGE);
	assert_non_null(strstr(e.msg, "sse"));
	assert_null(k);
	assert_int_equal(kern_pick(NULL, &k, &e), 0);
	assert_true(kern_usable(k));
	for (int i = 0; i < N_ALL; i++)
		if (!kern_usable(all[i]))
			print_message("# %s is not tested: this CPU does not have it\n",
			              all[i]->name);
}

static void test_exp(void **state)
{
	float *x = floats(1 << 14), *y = floats(1 << 14);
	float odd[16] = {
		0, -0.0f, 88, 89, 1e30f, INFINITY, -87.3f, -87.34f, -1e30f, -INFINITY, NAN
	};
	int n = 1 << 14;

	(void)state;
	for (int i = 0; i < n; i++)
		x[i] = -87.0f + 175.0f * (float)i / (float)n;
	for (int k = 0; k < N_ALL; k++) {
		if (!kern_usable(all[k]))
			continue;
		all[k]->exp(y, x, n);
		for (int i = 0; i < n; i++)
			assert_true(fabs(y[i] / exp(x[i]) - 1) < 1.3e-7);
		all[k]->exp(y, odd, 16);
		assert_true(y[0] == 1 && y[1] == 1 && y[2] == y[3] && y[2] == y[4] && y[2] == y[5]);
		assert_true(y[6] > 0 && y[7] == 0 && y[8] == 0 && y[9] == 0 && isnan(y[10]));
	}
	free(x);
	free(y);
}

static void test_double_functions(void **state)
{
	double s, c;

	(void)state;
	for (int i = 1; i < 20000; i++) {
		double x = i * i * 1e-3, y = i * 3.7 - 9;

		assert_true(fabs(kern_log(x) - log(x)) <= 1e-12 * fmax(1, fabs(log(x))));
		assert_true(fabs(kern_exp(x / 1000 - 200) / exp(x / 1000 - 200) - 1) < 1e-12);
		kern_sincos(y, &s, &c);
		assert_true(fabs(s - sin(y)) < 1e-12 && fabs(c - cos(y)) < 1e-12);
	}
	assert_true(isnan(kern_log(NAN)) && isnan(kern_log(-1)) && isinf(kern_log(0)));
}

/* The chain that the contract names, element by element. */
static void chain_gemm(const float *a, const float *w, const float *bias, const float *res,
                       float *c, int m, int n, int k)
{
	for (int i = 0; i < m; i++) {
		for (int j = 0; j < n; j++) {
			float s = 0;

			for (int x = 0; x < k; x++)
				s = fmaf(a[i * k + x], w[j * k + x], s);
			if (bias)
				s += bias[j];
			if (res)
				s += res[i * n + j];
			c[i * n + j] = s;
		}
	}
}

static void test_gemm(void **state)
{
	static const int shapes[][3] = { { 1, 16, 1 },   { 70, 32, 17 }, { 7, 48, 800 },
		                         { 33, 80, 64 }, { 2, 160, 33 }, { 200, 16, 30 } };

	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		int m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
		float *a = normals(m * k, 1), *w = normals(n * k, 2), *b = normals(n, 3);
		float *r = normals(m * n, 4), *c = floats(m * n), *want = floats(m * n);
		float *p = floats(n * k), *wt = floats(n * k);

		for (int i = 0; i < n; i++)
			for (int j = 0; j < k; j++)
				wt[j * n + i] = w[i * k + j];
		for (int v = 0; v < 4 * N_ALL; v++) {
			const struct kern *K = all[v / 4];
			struct kern_gemm g = { a, p, c, v & 1 ? b : NULL, v & 2 ? r : NULL, k, n, n,
				               m, n, k };

			if (!kern_usable(K))
				continue;
			if (v & 1)
				K->pack(p, w, k, n, k);
			else
				K->pack_t(p, wt, n, n, k);
			chain_gemm(a, w, g.bias, g.res, want, m, n, k);
			K->gemm(&g);
			same(c, want, m * n);
		}
		free(a), free(w), free(b), free(r), free(c), free(want), free(p), free(wt);
	}
}

/* A row alone, and as any row of 2..70. */
static void test_gemm_rows(void **state)
{
	enum { M = 70, N = 96, K = 40 };
	float *a = normals(M * K, 1), *w = normals(N * K, 2), *p = floats(N * K);
	float *one = floats(M * N), *many = floats(M * N);

	(void)state;
	for (int i = 0; i < N_ALL; i++) {
		if (!kern_usable(all[i]))
			continue;
		all[i]->pack(p, w, K, N, K);
		for (int r = 0; r < M; r++)
			all[i]->gemm(&(struct kern_gemm){ a + r * K, p, one + r * N, NULL, NULL, K,
			                                  N, 0, 1, N, K });
		for (int m = 2; m <= M; m++) {
			memset(many, 0, M * N * sizeof *many);
			all[i]->gemm(
				&(struct kern_gemm){ a, p, many, NULL, NULL, K, N, 0, m, N, K });
			same(many, one, m * N);
		}
	}
	free(a), free(w), free(p), free(one), free(many);
}

static void test_gemm_dw(void **state)
{
	static const int shapes[][3] = {
		{ 1, 1, 16 }, { 300, 37, 48 }, { 129, 16, 16 }, { 50, 64, 32 }
	};

	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		int T = shapes[s][0], out = shapes[s][1], in = shapes[s][2];
		int64_t ld = kern_round16(out);
		float *dy = normals(T * ld, 1), *x = normals(T * in, 2);
		float *scratch = floats(KERN_DW_TOKENS * (in + 16));
		float *dw = floats(out * in), *want = floats(out * in);

		for (int i = 0; i < N_ALL; i++) {
			struct kern_dw g = { dy, x, dw, scratch, ld, in, T, out, in, false };

			if (!kern_usable(all[i]))
				continue;
			memset(want, 0, (size_t)(out * in) * sizeof *want);
			for (int twice = 0; twice < 2; twice++) {
				for (int o = 0; o < out; o++)
					for (int j = 0; j < in; j++)
						for (int t = 0; t < T; t++)
							want[o * in + j] =
								fmaf(dy[t * ld + o], x[t * in + j],
							             want[o * in + j]);
				g.add = twice;
				all[i]->gemm_dw(&g);
				same(dw, want, out * in);
			}
		}
		free(dy), free(x), free(scratch), free(dw), free(want);
	}
}

/*	y = x rho w;  L = sum dy y: central differences of a plain double norm. */
static double norm_loss(const float *x, const float *w, const float *dy, int n, int at, double dx,
                        int wat, double dw)
{
	double ss = 0, loss = 0;

	for (int i = 0; i < n; i++) {
		double v = x[i] + (i == at ? dx : 0);

		ss += v * v;
	}
	for (int i = 0; i < n; i++)
		loss += dy[i] * (x[i] + (i == at ? dx : 0)) / sqrt(ss / n + 1e-5) *
		        (w[i] + (i == wat ? dw : 0));
	return loss;
}

static void test_rmsnorm(void **state)
{
	enum { M = 3, N = 48 };
	float *x = normals(M * N, 1), *w = normals(N, 2), *dy = normals(M * N, 3), rho[16];
	float *y = floats(M * N), *z = floats(M * N), *dx = floats(M * N), *dw = floats(N);
	double want[M * N], want_w[N];
	const double h = 1e-5;

	(void)state;
	memset(want_w, 0, sizeof want_w);
	for (int r = 0; r < M; r++)
		for (int i = 0; i < N; i++) {
			const float *a = x + r * N, *d = dy + r * N;

			want[r * N + i] = (norm_loss(a, w, d, N, i, h, -1, 0) -
			                   norm_loss(a, w, d, N, i, -h, -1, 0)) /
			                  (2 * h);
			want_w[i] += (norm_loss(a, w, d, N, -1, 0, i, h) -
			              norm_loss(a, w, d, N, -1, 0, i, -h)) /
			             (2 * h);
		}
	for (int i = 0; i < N_ALL; i++) {
		if (!kern_usable(all[i]))
			continue;
		memset(dx, 0, M * N * sizeof *dx);
		memset(dw, 0, N * sizeof *dw);
		all[i]->rmsnorm(y, x, w, 1e-5f, M, N, rho);
		all[i]->rmsnorm_again(z, x, w, rho, M, N);
		same(y, z, M * N);
		for (int r = 0; r < M; r++)
			for (int j = 0; j < N; j++)
				assert_true(fabs(y[r * N + j] - x[r * N + j] * rho[r] * w[j]) <
				            1e-6);
		all[i]->rmsnorm_bwd(dx, dw, dy, x, w, rho, M, N);
		near_by(dx, want, M * N, 2e-6);
		near_by(dw, want_w, N, 2e-6);
	}
	free(x), free(w), free(dy), free(y), free(z), free(dx), free(dw);
}

static void test_silu(void **state)
{
	enum { M = 2, N = 64 };
	float *gu = normals(2 * M * N, 1), *dh = normals(M * N, 2), *h = floats(M * N);
	float *dgu = floats(2 * M * N);
	double want[M * N], want_g[2 * M * N];

	(void)state;
	gu[3] = 95, gu[5] = -95; /* beyond the range of exp */
	for (int r = 0; r < M; r++)
		for (int i = 0; i < N; i++) {
			double a = gu[2 * N * r + i], u = gu[2 * N * r + N + i];
			double s = 1 / (1 + exp(-a)), d = dh[r * N + i];

			want[r * N + i] = a * s * u;
			want_g[2 * N * r + i] = d * u * s * (1 + a * (1 - s));
			want_g[2 * N * r + N + i] = d * a * s;
		}
	for (int i = 0; i < N_ALL; i++) {
		if (!kern_usable(all[i]))
			continue;
		all[i]->silu_mul(h, gu, M, N);
		all[i]->silu_mul_bwd(dgu, dh, gu, M, N);
		near_by(h, want, M * N, 1e-6);
		near_by(dgu, want_g, 2 * M * N, 1e-6);
	}
	free(gu), free(dh), free(h), free(dgu);
}

static void test_rope(void **state)
{
	enum { HD = 48, P = 300 };
	float *cs = floats(P * HD), *x = normals(2 * HD, 1), *y = floats(2 * HD);
	double want[2 * HD];

	(void)state;
	kern_rope_table(cs, P, HD, 1e4);
	for (int h = 0; h < 2; h++)
		for (int i = 0; i < HD / 2; i++) {
			double phi = (P - 1) * pow(1e4, -2.0 * i / HD);
			double lo = x[h * HD + i], hi = x[h * HD + HD / 2 + i];

			want[h * HD + i] = lo * cos(phi) - hi * sin(phi);
			want[h * HD + HD / 2 + i] = hi * cos(phi) + lo * sin(phi);
		}
	for (int i = 0; i < N_ALL; i++) {
		if (!kern_usable(all[i]))
			continue;
		memcpy(y, x, 2 * HD * sizeof *y);
		all[i]->rope(y, cs + (P - 1) * HD, 2, HD, false);
		near_by(y, want, 2 * HD, 3e-7);
		all[i]->rope(y, cs + (P - 1) * HD, 2, HD, true);
		for (int j = 0; j < 2 * HD; j++)
			assert_true(fabsf(y[j] - x[j]) < 1e-6f);
	}
	free(cs), free(x), free(y);
}

struct attn_case {
	int n, heads, kv, hd;
	int64_t ld;
	float *qkv, *dout, *o, *stat, *scratch, *dqkv;
};

static struct attn_case attn_case(int n, int heads, int kv, int hd)
{
	struct attn_case c = { n, heads, kv, hd, (heads + 2 * kv) * hd };

	c.qkv = normals(n * c.ld, 5);
	c.dout = normals(n * heads * hd, 6);
	c.o = floats(n * heads * hd);
	c.stat = floats(n * heads * 2);
	c.scratch = floats(kern_attn_scratch(n, hd));
	c.dqkv = floats(n * c.ld);
	return c;
}

static void attn_done(struct attn_case *c)
{
	free(c->qkv), free(c->dout), free(c->o), free(c->stat), free(c->scratch), free(c->dqkv);
}

static struct kern_attn attn_args(const struct attn_case *c)
{
	const float *k = c->qkv + c->heads * c->hd;

	return (struct kern_attn){ c->qkv,     k,     k + c->kv * c->hd, c->o, c->stat,
		                   c->scratch, c->ld, c->heads * c->hd,  c->n, c->heads,
		                   c->kv,      c->hd };
}

/* Output and gradients in double, from the definition. */
static void attn_reference(const struct attn_case *c, double *o, double *g)
{
	int H = c->heads, hd = c->hd;
	double *P = calloc((size_t)c->n, sizeof *P), *dP = calloc((size_t)c->n, sizeof *dP);

	memset(o, 0, (size_t)(c->n * H * hd) * sizeof *o);
	memset(g, 0, (size_t)(c->n * c->ld) * sizeof *g);
	for (int h = 0; h < H; h++)
		for (int p = 0; p < c->n; p++) {
			int q = h * hd, k = (H + h / (H / c->kv)) * hd, v = k + c->kv * hd;
			const float *d = c->dout + (p * H + h) * hd;
			double top = -INFINITY, sum = 0, D = 0;

			for (int t = 0; t <= p; t++) {
				P[t] = 0;
				for (int i = 0; i < hd; i++)
					P[t] += (double)c->qkv[p * c->ld + q + i] *
					        c->qkv[t * c->ld + k + i] / sqrt(hd);
				top = fmax(top, P[t]);
			}
			for (int t = 0; t <= p; t++)
				sum += P[t] = exp(P[t] - top);
			for (int t = 0; t <= p; t++) {
				P[t] /= sum;
				dP[t] = 0;
				for (int i = 0; i < hd; i++) {
					o[(p * H + h) * hd + i] += P[t] * c->qkv[t * c->ld + v + i];
					dP[t] += (double)d[i] * c->qkv[t * c->ld + v + i];
					g[t * c->ld + v + i] += P[t] * d[i];
				}
				D += P[t] * dP[t];
			}
			for (int t = 0; t <= p; t++)
				for (int i = 0; i < hd; i++) {
					double dS = P[t] * (dP[t] - D) / sqrt(hd);

					g[p * c->ld + q + i] += dS * c->qkv[t * c->ld + k + i];
					g[t * c->ld + k + i] += dS * c->qkv[p * c->ld + q + i];
				}
		}
	free(P), free(dP);
}

static void test_attn(void **state)
{
	static const int shapes[][4] = { { 1, 1, 1, 16 },  { 5, 2, 1, 32 },  { 16, 2, 2, 16 },
		                         { 50, 3, 3, 48 }, { 33, 6, 2, 32 }, { 150, 2, 1, 16 } };

	(void)state;
	for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
		struct attn_case c =
			attn_case(shapes[s][0], shapes[s][1], shapes[s][2], shapes[s][3]);
		int q = c.heads * c.hd;
		double *o = calloc((size_t)(c.n * q), sizeof *o);
		double *g = calloc((size_t)(c.n * c.ld), sizeof *g);
		float *o0 = floats(c.n * q), *g0 = floats(c.n * c.ld);

		attn_reference(&c, o, g);
		for (int i = 0; i < N_ALL; i++) {
			struct kern_attn_bwd b = {
				attn_args(&c), c.dout, c.dqkv, c.dqkv + q, c.dqkv + q + c.kv * c.hd,
				c.ld
			};

			if (!kern_usable(all[i]))
				continue;
			all[i]->attn(&b.f);
			near_by(c.o, o, c.n * q, 2e-6);
			memset(c.dqkv, 0xff, (size_t)(c.n * c.ld) * sizeof(float)); /* NaN */
			all[i]->attn_bwd(&b);
			near_by(c.dqkv, g, c.n * c.ld, 4e-6);
			if (all[i] == &kern_scalar) {
				memcpy(o0, c.o, (size_t)(c.n * q) * sizeof(float));
				memcpy(g0, c.dqkv, (size_t)(c.n * c.ld) * sizeof(float));
			}
			same(c.o, o0, c.n * q);
			same(c.dqkv, g0, c.n * c.ld);
		}
		free(o), free(g), free(o0), free(g0);
		attn_done(&c);
	}
}

/* The last row of every length: over blocks, alone or in company, as in the whole sequence. */
static void test_attn_paged(void **state)
{
	enum { N = 70, BLOCKS = 5 };

	(void)state;
	for (int group = 1; group <= 8; group = group * 3 - 1) {
		int kv = 2, hd = 32, H = kv * group, q = H * hd;
		struct attn_case c = attn_case(N, H, kv, hd);
		float *entry[BLOCKS], *o = floats(N * q);
		float *scratch = floats(kern_paged_scratch(N, H, kv, hd));
		const float *list[N][BLOCKS];
		int pos[N];

		for (int b = 0; b < BLOCKS; b++)
			entry[b] = floats(kv * 32 * hd);
		for (int p = 0; p < N; p++) {
			const float *k = c.qkv + p * c.ld + q;

			kern_scalar.kv_put(entry[p / 16], k, k + kv * hd, kv, hd, p);
			pos[p] = p;
			for (int b = 0; b < BLOCKS; b++)
				list[p][b] = entry[b];
		}
		for (int i = 0; i < N_ALL; i++) {
			struct kern_attn f = attn_args(&c);
			struct kern_paged a = { c.qkv,  o, &list[0][0], pos, scratch, c.ld, q,
				                BLOCKS, 0, N,           H,   kv,      hd };

			if (!kern_usable(all[i]))
				continue;
			all[i]->attn(&f);
			all[i]->attn_paged(&a);
			same(o, c.o, N * q);
			for (int r = 0; r < N; r += 7) {
				a = (struct kern_paged){ c.qkv + r * c.ld,
					                 o + r * q,
					                 list[r],
					                 pos + r,
					                 scratch,
					                 c.ld,
					                 q,
					                 BLOCKS,
					                 0,
					                 1,
					                 H,
					                 kv,
					                 hd };
				memset(o + r * q, 0, (size_t)q * sizeof *o);
				all[i]->attn_paged(&a);
				same(o + r * q, c.o + r * q, q);
			}
		}
		for (int b = 0; b < BLOCKS; b++)
			free(entry[b]);
		free(o), free(scratch);
		attn_done(&c);
	}
}

static void test_head(void **state)
{
	enum { V = 37 };
	float *z0 = normals(V, 1), *z = floats(V), *ex = floats(V), *first = floats(2 * 48);
	double lz = 0, H = 0, want[V];
	const double T = 0.7, c = 0.3, e = -0.2;

	(void)state;
	for (int v = 0; v < V; v++)
		lz += exp(z0[v] / T);
	lz = log(lz);
	for (int v = 0; v < V; v++)
		H -= exp(z0[v] / T - lz) * (z0[v] / T - lz);
	for (int v = 0; v < V; v++) {
		double p = exp(z0[v] / T - lz);

		want[v] = (c * ((v == 5) - p) - e * p * (z0[v] / T - lz + H)) / T;
	}
	for (int i = 0; i < N_ALL; i++) {
		struct kern_head h = { .z = z, .ex = ex, .inv_t = (float)(1 / T), .n = V };

		if (!kern_usable(all[i]))
			continue;
		memcpy(z, z0, V * sizeof *z);
		z[V] = NAN; /* beyond the row */
		all[i]->head(&h);
		assert_true(fabs(h.logz - lz) < 1e-6 && fabs(h.entropy - H) < 2e-6);
		for (int v = V; v < 48; v++)
			assert_true(ex[v] == 0);
		if (all[i] == &kern_scalar)
			memcpy(first, ex, 48 * sizeof *ex);
		same(ex, first, 48);
		all[i]->head_bwd(&h, 5, (float)c, (float)e);
		near_by(z, want, V, 1e-6);
		if (all[i] == &kern_scalar)
			memcpy(first + 48, z, V * sizeof *z);
		same(z, first + 48, V);
	}
	free(z0), free(z), free(ex), free(first);
}

static void test_draw(void **state)
{
	enum { V = 50, DRAWS = 200000 };
	float p[V];
	double sum = 0, chi = 0;
	int count[V] = { 0 };
	struct rng r;

	(void)state;
	rng_init(&r, 3, RNG_DATA, 0, 0);
	for (int v = 0; v < V; v++)
		sum += p[v] = v % 7 == 3 || v < 2 || v > 46 ? 0 : (float)rng_unit(&r);
	for (int i = 0; i < DRAWS; i++)
		count[kern_draw(p, V, rng_unit(&r))]++;
	for (int v = 0; v < V; v++) {
		double want = DRAWS * p[v] / sum;

		if (p[v] == 0)
			assert_int_equal(count[v], 0);
		else
			chi += (count[v] - want) * (count[v] - want) / want;
	}
	assert_true(chi < 38 + 5 * sqrt(2 * 38)); /* 38 free counts */
	assert_int_equal(kern_draw(p, V, 0x1p-25), 2);
	assert_int_equal(kern_draw(p, V, 1 - 0x1p-25), 46);
	assert_int_equal(kern_draw(p, V, nextafter(1, 0)), 46);
	assert_int_equal(kern_argmax((float[]){ 1, 3, 3, 2 }, 4), 1);
}

static void test_adamw(void **state)
{
	enum { N = 32 };
	struct kern_adamw a = { 0.9f, 0.1f, 0.99f, 0.01f, 1.5f, 2.5f, 1e-6f, 0.01f, 0.1f, 0.5f };
	float *w0 = normals(N, 1), *m0 = normals(N, 2), *v0 = normals(N, 3), *g = normals(N, 4);
	float *w = floats(N), *m = floats(N), *v = floats(N);
	double wm[N], wv[N], ww[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		double x = g[i] * 0.5;

		v0[i] = v0[i] * v0[i];
		wm[i] = 0.9 * m0[i] + 0.1 * x;
		wv[i] = 0.99 * v0[i] + 0.01 * x * x;
		ww[i] = w0[i] - 0.01 * (wm[i] * 1.5 / (sqrt(wv[i] * 2.5) + 1e-6) + 0.1 * w0[i]);
	}
	for (int i = 0; i < N_ALL; i++) {
		if (!kern_usable(all[i]))
			continue;
		memcpy(w, w0, N * sizeof *w), memcpy(m, m0, N * sizeof *m);
		memcpy(v, v0, N * sizeof *v);
		all[i]->adamw(&a, w, m, v, g, N);
		near_by(w, ww, N, 2e-7), near_by(m, wm, N, 2e-7), near_by(v, wv, N, 2e-7);
		assert_true(fabs(all[i]->sum_sq(g, N) - kern_scalar.sum_sq(g, N)) == 0);
	}
	free(w0), free(m0), free(v0), free(g), free(w), free(m), free(v);
}

/* Element-wise operations: the tables against each other. */
static void test_same_bits(void **state)
{
	enum { M = 3, N = 80 };
	float *x = normals(2 * M * N, 1), *w = normals(N, 2), *dy = normals(M * N, 3), *out[N_ALL];

	(void)state;
	for (int i = 0; i < N_ALL; i++) {
		const struct kern *k = all[i];
		float *y = out[i] = floats(16 * M * N), rho[16];

		if (!kern_usable(k))
			continue;
		k->rmsnorm(y, x, w, 1e-6f, M, N, rho);
		k->rmsnorm_bwd(y + M * N, y + 2 * M * N, dy, x, w, rho, M, N);
		k->silu_mul(y + 3 * M * N, x, M, N);
		k->silu_mul_bwd(y + 4 * M * N, dy, x, M, N);
		memcpy(y + 6 * M * N, x, M * N * sizeof *x);
		k->rope(y + 6 * M * N, w, M, N, false);
		k->exp(y + 7 * M * N, x, M * N);
		k->add(y + 8 * M * N, x, M * N);
		memcpy(y + 9 * M * N, dy, M * N * sizeof *x);
		for (int j = 0; j < M * N; j++)
			y[11 * M * N + j] = x[j] * x[j];
		k->adamw(&(struct kern_adamw){ .9f, .1f, .99f, .01f, 1.5f, 2.5f, 1e-6f, .01f, .1f,
		                               .5f },
		         y + 9 * M * N, y + 10 * M * N, y + 11 * M * N, x, M * N);
		same(y, out[0], 16 * M * N);
	}
	for (int i = 0; i < N_ALL; i++)
		free(out[i]);
	free(x), free(w), free(dy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pick),
		cmocka_unit_test(test_exp),
		cmocka_unit_test(test_double_functions),
		cmocka_unit_test(test_gemm),
		cmocka_unit_test(test_gemm_rows),
		cmocka_unit_test(test_gemm_dw),
		cmocka_unit_test(test_rmsnorm),
		cmocka_unit_test(test_silu),
		cmocka_unit_test(test_rope),
		cmocka_unit_test(test_attn),
		cmocka_unit_test(test_attn_paged),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_adamw),
		cmocka_unit_test(test_same_bits),
	};

	return RUN(tests);
}
