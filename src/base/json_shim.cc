// json_shim.cc - simdjson's On-Demand reader as a walk with callbacks. The only C++ of the tree.
// On-Demand, not DOM: it keeps the text of numbers.
#include "base/json_shim.h"

#include <simdjson.h>

#include <cstdlib>
#include <new>

using namespace simdjson;

namespace
{

struct walk {
	const json_shim_events *ev;
	int max_depth;
	const char *why;
};

bool fail(walk &w, const char *why)
{
	if (!w.why)
		w.why = why;
	return false;
}

bool fail(walk &w, error_code code)
{
	return fail(w, error_message(code));
}

// On-Demand hands out the token up to the next structural character: blanks may follow.
std::string_view trimmed(std::string_view s)
{
	while (!s.empty() &&
	       (s.back() == ' ' || s.back() == '\n' || s.back() == '\r' || s.back() == '\t'))
		s.remove_suffix(1);
	return s;
}

size_t digits(std::string_view s, size_t i)
{
	while (i < s.size() && s[i] >= '0' && s[i] <= '9')
		i++;
	return i;
}

// The token of a value; a document says it as a result that may have failed.
std::string_view raw_token(ondemand::value &v)
{
	return trimmed(v.raw_json_token());
}

std::string_view raw_token(ondemand::document &v)
{
	std::string_view s;

	return v.raw_json_token().get(s) ? std::string_view() : trimmed(s);
}

// The number grammar of RFC 8259; simdjson checks it only when a number is converted.
bool is_number(std::string_view s)
{
	size_t i = !s.empty() && s[0] == '-', j = digits(s, i);

	if (j == i || (s[i] == '0' && j - i > 1))
		return false;
	if (j < s.size() && s[j] == '.') {
		i = j + 1;
		j = digits(s, i);
		if (i == j)
			return false;
	}
	if (j < s.size() && (s[j] == 'e' || s[j] == 'E')) {
		i = j + 1;
		if (i < s.size() && (s[i] == '+' || s[i] == '-'))
			i++;
		j = digits(s, i);
		if (i == j)
			return false;
	}
	return j == s.size();
}

template <class V> bool scalar(walk &w, V &v, ondemand::json_type type)
{
	const json_shim_events *ev = w.ev;
	std::string_view s;
	bool yes, is_null;
	error_code code;

	switch (type) {
	case ondemand::json_type::string:
		if ((code = v.get_string().get(s)))
			return fail(w, code);
		return ev->scalar(ev->arg, 's', s.data(), s.size()) || fail(w, "stopped");
	case ondemand::json_type::number:
		s = raw_token(v);
		if (!is_number(s))
			return fail(w, "malformed number");
		return ev->scalar(ev->arg, '#', s.data(), s.size()) || fail(w, "stopped");
	case ondemand::json_type::boolean:
		if ((code = v.get_bool().get(yes)))
			return fail(w, code);
		return ev->scalar(ev->arg, yes ? 't' : 'f', "", 0) || fail(w, "stopped");
	default:
		if ((code = v.is_null().get(is_null)) || !is_null)
			return fail(w, code ? error_message(code) : "malformed value");
		return ev->scalar(ev->arg, 'n', "", 0) || fail(w, "stopped");
	}
}

template <class V> bool value(walk &w, V &&v, int depth);

template <class V> bool array(walk &w, V &v, int depth)
{
	const json_shim_events *ev = w.ev;
	ondemand::array a;
	error_code code;

	if ((code = v.get_array().get(a)))
		return fail(w, code);
	if (!ev->open(ev->arg, '['))
		return fail(w, "stopped");
	for (auto item : a) {
		ondemand::value x;

		if ((code = item.get(x)))
			return fail(w, code);
		if (!value(w, x, depth + 1))
			return false;
	}
	return ev->close(ev->arg, ']') || fail(w, "stopped");
}

template <class V> bool object(walk &w, V &v, int depth)
{
	const json_shim_events *ev = w.ev;
	ondemand::object o;
	error_code code;

	if ((code = v.get_object().get(o)))
		return fail(w, code);
	if (!ev->open(ev->arg, '{'))
		return fail(w, "stopped");
	for (auto field : o) {
		std::string_view key;
		ondemand::value x;

		if ((code = field.unescaped_key().get(key)))
			return fail(w, code);
		if (!ev->key(ev->arg, key.data(), key.size()))
			return fail(w, "stopped");
		if ((code = field.value().get(x)))
			return fail(w, code);
		if (!value(w, x, depth + 1))
			return false;
	}
	return ev->close(ev->arg, '}') || fail(w, "stopped");
}

template <class V> bool value(walk &w, V &&v, int depth)
{
	ondemand::json_type type;
	error_code code = v.type().get(type);

	if (code)
		return fail(w, code);
	if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
		if (depth >= w.max_depth)
			return fail(w, "nested too deeply");
		return type == ondemand::json_type::array ? array(w, v, depth)
		                                          : object(w, v, depth);
	}
	return scalar(w, v, type);
}

} // namespace

extern "C" const char *json_shim_walk(const char *text, size_t n, int max_depth,
                                      const struct json_shim_events *ev)
{
	walk w = { ev, max_depth, nullptr };
	ondemand::parser parser;
	ondemand::document doc;
	padded_string padded(text, n);
	std::string_view bare = trimmed(std::string_view(text, n));
	const char *rest;
	error_code code;

	while (!bare.empty() &&
	       (bare[0] == ' ' || bare[0] == '\n' || bare[0] == '\r' || bare[0] == '\t'))
		bare.remove_prefix(1);

	if (n && !padded.data())
		return "out of memory";
	if (is_number(bare)) // On-Demand does not move past a number that is the whole document
		return ev->scalar(ev->arg, '#', bare.data(), bare.size()) ? nullptr : "stopped";
	if ((code = parser.iterate(padded).get(doc)))
		return error_message(code);
	if (!value(w, doc, 0))
		return w.why;
	// Out of bounds is what On-Demand says when nothing is left.
	return doc.current_location().get(rest) ? nullptr : "text after the value";
}

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

extern "C" const char *json_shim_version(void)
{
	return TEXT(SIMDJSON_VERSION);
}
