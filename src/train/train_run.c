/* train_run.c - the run directory of train and sft. */
#include "train/train_run.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/jsonw.h"

static int n_cores(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int train_pool(int64_t threads, struct pool **ret, struct err *e)
{
	return pool_new(threads ? (int)threads : n_cores(), ret, e);
}

static bool holds_run(const char *dir)
{
	static const char *const file[] = { "run.sqlite", "metrics.jsonl", "checkpoints" };
	char path[4096];

	for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", dir, file[i]);
		if (io_exists(path))
			return true;
	}
	return false;
}

/* A run directory that cannot be written is a fault of the machine, whatever errno says. */
int train_store_open(const char *dir, bool resume, struct store **ret, struct err *e)
{
	if (!resume && holds_run(dir))
		return FAIL(e, ERR_RANGE,
		            "%s holds a run already: go on with --resume, or choose another --out",
		            dir);
	if (io_mkdirs(dir, e) < 0 || store_open(dir, resume, ret, e) < 0) {
		e->sys = 0;
		return err_wrap(e, "run directory %s", dir);
	}
	return 0;
}

int train_store_config(struct store *s, struct str config, int64_t seed, const char *policy,
                       struct err *e)
{
	AUTO_BUF b = { .max = 1 << 22 };
	struct jsonw w = { &b, false };
	struct utsname u;
	int r;

	if (uname(&u) < 0)
		memset(&u, 0, sizeof u);
	jsonw_open(&w, '{');
	jsonw_key(&w, "version"), jsonw_cstr(&w, "cupel " CUPEL_VERSION);
	jsonw_key(&w, "seed"), jsonw_int(&w, seed);
	jsonw_key(&w, "policy"), jsonw_cstr(&w, policy);
	jsonw_key(&w, "machine"), jsonw_open(&w, '{');
	jsonw_key(&w, "system"), jsonw_cstr(&w, u.sysname);
	jsonw_key(&w, "release"), jsonw_cstr(&w, u.release);
	jsonw_key(&w, "arch"), jsonw_cstr(&w, u.machine);
	jsonw_key(&w, "cores"), jsonw_int(&w, n_cores());
	jsonw_close(&w, '}');
	jsonw_key(&w, "config"), jsonw_raw(&w, config);
	jsonw_close(&w, '}');
	r = buf_check(&b, "configuration", e);
	return r < 0 ? r : store_config(s, buf_str(&b), e);
}

int train_resume(const char *dir, struct store *s, const char *identity, struct arena *a,
                 struct train_state *ret, int64_t *ret_step, struct err *e)
{
	struct train_state st = { 0 };
	int64_t step;
	int r = train_checkpoint_find(dir, &step, e);

	if (r < 0)
		return r;
	if (step >= 0)
		r = train_checkpoint_read(dir, step, a, &st, e);
	if (r < 0)
		return r;
	if (step >= 0 && strcmp(st.identity, identity) != 0)
		return FAIL(e, ERR_RANGE,
		            "the configuration is not the one of this run (%s/config.json): a "
		            "resumed run may only change jobs, threads and how it saves",
		            dir);
	r = store_truncate(s, step + 1, e);
	if (r < 0)
		return r;
	*ret = st;
	*ret_step = step;
	return 0;
}

void train_identity_hash(struct str identity, char ret[65])
{
	struct hash h = hash_of(&identity, 1);

	hash_hex(&h, ret);
}
