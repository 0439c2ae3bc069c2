/* jsonw.c - JSON writer. */
#include "base/jsonw.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lead(struct jsonw *w)
{
	if (w->comma)
		buf_putc(w->b, ',');
	w->comma = true;
}

void jsonw_open(struct jsonw *w, char c)
{
	lead(w);
	buf_putc(w->b, c);
	w->comma = false;
}

void jsonw_close(struct jsonw *w, char c)
{
	buf_putc(w->b, c);
	w->comma = true;
}

/* Length of the valid UTF-8 sequence at p, or 0 (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

	if (p[0] > 0xf4 || len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

static void put_escape(struct buf *b, unsigned char c)
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
	const char *at = c ? strchr(from, c) : NULL;

	if (at)
		buf_putf(b, "\\%c", to[at - from]);
	else
		buf_putf(b, "\\u%04x", c);
}

static void put_text(struct buf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t from = 0, i = 0;

	buf_putc(b, '"');
	while (i < s.n) {
		size_t len = utf8_len(p + i, s.n - i);

		if (len && p[i] >= ' ' && p[i] != '"' && p[i] != '\\' && p[i] != 0x7f) {
			i += len;
			continue;
		}
		buf_put(b, p + from, i - from);
		if (len)
			put_escape(b, p[i]);
		else
			buf_puts(b, "\xef\xbf\xbd");
		from = ++i;
	}
	buf_put(b, p + from, i - from);
	buf_putc(b, '"');
}

void jsonw_key(struct jsonw *w, const char *key)
{
	lead(w);
	put_text(w->b, (struct str){ key, strlen(key) });
	buf_putc(w->b, ':');
	w->comma = false;
}

void jsonw_str(struct jsonw *w, struct str s)
{
	lead(w);
	put_text(w->b, s);
}

void jsonw_cstr(struct jsonw *w, const char *s)
{
	if (s)
		jsonw_str(w, (struct str){ s, strlen(s) });
	else
		jsonw_null(w);
}

void jsonw_int(struct jsonw *w, int64_t v)
{
	lead(w);
	buf_putf(w->b, "%lld", (long long)v);
}

void jsonw_real(struct jsonw *w, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jsonw_null(w);
		return;
	}
	for (int digits = 6; digits <= 17; digits += digits < 15 ? 9 : 1) {
		(void)snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	lead(w);
	buf_puts(w->b, text);
}

void jsonw_fixed(struct jsonw *w, double v, int digits)
{
	if (!isfinite(v)) {
		jsonw_null(w);
		return;
	}
	lead(w);
	buf_putf(w->b, "%.*f", digits, v);
}

void jsonw_bool(struct jsonw *w, bool v)
{
	jsonw_raw(w, v ? STR("true") : STR("false"));
}

void jsonw_null(struct jsonw *w)
{
	jsonw_raw(w, STR("null"));
}

void jsonw_raw(struct jsonw *w, struct str s)
{
	lead(w);
	buf_putstr(w->b, s);
}

void jsonw_json(struct jsonw *w, const struct json *j)
{
	switch (j->type) {
	case JSON_NULL:
		jsonw_null(w);
		break;
	case JSON_BOOL:
		jsonw_bool(w, j->yes);
		break;
	case JSON_NUM:
		jsonw_raw(w, j->text);
		break;
	case JSON_STR:
		jsonw_str(w, j->text);
		break;
	case JSON_ARR:
	case JSON_OBJ:
		jsonw_open(w, j->type == JSON_ARR ? '[' : '{');
		for (int i = 0; i < j->n; i++) {
			if (j->type == JSON_OBJ) {
				lead(w);
				put_text(w->b, j->key[i]);
				buf_putc(w->b, ':');
				w->comma = false;
			}
			jsonw_json(w, &j->item[i]);
		}
		jsonw_close(w, j->type == JSON_ARR ? ']' : '}');
		break;
	}
}
