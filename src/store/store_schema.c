/* store_schema.c - the tables of run.sqlite. What a number means stands in traj.h; NULL is "not
 * available". Times are the only values that differ between equal runs.
 */
#include "store/store_int.h"

const char store_schema[] =
	"CREATE TABLE run ("
	"	id INTEGER PRIMARY KEY CHECK (id = 1),"
	"	created_s INTEGER NOT NULL,"
	"	config TEXT);" /* as in config.json */

	"CREATE TABLE steps ("
	"	step INTEGER PRIMARY KEY,"
	"	n_groups INTEGER NOT NULL, n_samples INTEGER NOT NULL, n_tok INTEGER NOT NULL);"

	"CREATE TABLE groups ("
	"	step INTEGER NOT NULL, idx INTEGER NOT NULL,"
	"	key TEXT NOT NULL, n INTEGER NOT NULL, silent INTEGER NOT NULL,"
	"	seen INTEGER NOT NULL, mean_before REAL NOT NULL,"
	"	PRIMARY KEY (step, idx)) WITHOUT ROWID;"

	"CREATE TABLE samples ("
	"	id INTEGER PRIMARY KEY,"
	"	step INTEGER NOT NULL, grp INTEGER NOT NULL, idx INTEGER NOT NULL,"
	"	task_id TEXT NOT NULL, rollout INTEGER NOT NULL,"
	"	parent INTEGER, fork_tok INTEGER, chain INTEGER, anchor TEXT,"
	"	version INTEGER NOT NULL, is_foreign INTEGER NOT NULL, finish TEXT NOT NULL,"
	"	n_prompt INTEGER NOT NULL, n_tok INTEGER NOT NULL, n_sampled INTEGER NOT NULL,"
	"	logp_sum REAL, text TEXT NOT NULL, code TEXT,"
	"	verdict TEXT NOT NULL, n_tests INTEGER NOT NULL, n_passed INTEGER NOT NULL,"
	"	reward REAL, advantage REAL);"
	"CREATE INDEX samples_step ON samples (step);"
	"CREATE INDEX samples_task ON samples (task_id, reward);"

	"CREATE TABLE rewards (" /* before composition, in the order of the recipe */
	"	sample INTEGER NOT NULL, k INTEGER NOT NULL, reward REAL,"
	"	PRIMARY KEY (sample, k)) WITHOUT ROWID;"

	"CREATE TABLE tests ("
	"	sample INTEGER NOT NULL, idx INTEGER NOT NULL, name TEXT NOT NULL,"
	"	verdict TEXT NOT NULL, score REAL NOT NULL, weight REAL NOT NULL,"
	"	visible INTEGER NOT NULL, probe INTEGER NOT NULL,"
	"	cpu_ns INTEGER NOT NULL, wall_ns INTEGER NOT NULL, mem_bytes INTEGER NOT NULL,"
	"	PRIMARY KEY (sample, idx)) WITHOUT ROWID;"

	"CREATE TABLE metrics (" /* rows of one line of metrics.jsonl share its number */
	"	line INTEGER NOT NULL, ord INTEGER NOT NULL,"
	"	step INTEGER NOT NULL, name TEXT NOT NULL, value REAL,"
	"	PRIMARY KEY (line, ord)) WITHOUT ROWID;"
	"CREATE INDEX metrics_name ON metrics (name, line);"

	"CREATE VIEW task_outcomes AS"
	"	SELECT task_id, count(*) AS samples, count(reward) AS rewarded, avg(reward) AS "
	"mean,"
	"	sum(verdict = 'accepted') AS accepted, sum(verdict = 'judge_error') AS judge_errors"
	"	FROM samples GROUP BY task_id;";
