/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tracr/tracr.hpp: TraCR takes the names of channels as an nlohmann::json array. If that library is on
 * the include path behind this folder, it is used. Otherwise this is a value with the part of its
 * interface that such programs need: null, booleans, numbers, strings, arrays and objects, made from
 * initialiser lists, push_back(), [], size(), iteration and dump().
 */
#ifndef TRACER_COMPAT_JSON_HPP
#define TRACER_COMPAT_JSON_HPP

#if defined(__has_include_next)
#if __has_include_next(<nlohmann/json.hpp>)
#define TRACER_COMPAT_JSON_IS_THERE
#endif
#endif

#ifdef TRACER_COMPAT_JSON_IS_THERE
/* a GNU extension, as is the whole idea of a header in front of another of its name */
#pragma GCC system_header
#include_next <nlohmann/json.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nlohmann
{

class json
{
      public:
	using object_t = std::map<std::string, json>;
	using array_t = std::vector<json>;

	json() = default;
	json(std::nullptr_t)
	{
	}
	json(bool value) : kind_(kind::boolean), integer_(value)
	{
	}
	template <class T, std::enable_if_t<std::is_integral<T>::value && !std::is_same<T, bool>::value, int> = 0>
	json(T value) : kind_(kind::integer), integer_(static_cast<int64_t>(value)),
			is_unsigned_(std::is_unsigned<T>::value)
	{
	}
	template <class T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>
	json(T value) : kind_(kind::real), real_(static_cast<double>(value))
	{
	}
	json(const char *text) : kind_(kind::string), text_(text)
	{
	}
	json(std::string text) : kind_(kind::string), text_(std::move(text))
	{
	}
	template <class T> json(const std::vector<T> &values) : kind_(kind::array)
	{
		for (const auto &value : values)
			array_.emplace_back(json(value));
	}
	template <class T> json(const std::map<std::string, T> &values) : kind_(kind::object)
	{
		for (const auto &pair : values)
			object_.emplace(pair.first, json(pair.second));
	}
	/* {"a", "b"} is an array, {{"key", 1}, {"other", 2}} an object: pairs that begin with strings */
	json(std::initializer_list<json> list) : kind_(kind::array)
	{
		bool pairs = list.size() > 0;

		for (const json &item : list)
			pairs = pairs && item.is_array() && item.size() == 2 && item.array_[0].is_string();
		if (!pairs) {
			array_.assign(list.begin(), list.end());
			return;
		}
		kind_ = kind::object;
		for (const json &item : list)
			object_[item.array_[0].text_] = item.array_[1];
	}

	static json array(std::initializer_list<json> list = {})
	{
		json value;

		value.kind_ = kind::array;
		value.array_.assign(list.begin(), list.end());
		return value;
	}
	static json object()
	{
		json value;

		value.kind_ = kind::object;
		return value;
	}

	bool is_null() const
	{
		return kind_ == kind::null;
	}
	bool is_string() const
	{
		return kind_ == kind::string;
	}
	bool is_array() const
	{
		return kind_ == kind::array;
	}
	bool is_object() const
	{
		return kind_ == kind::object;
	}
	bool is_number() const
	{
		return kind_ == kind::integer || kind_ == kind::real;
	}
	bool is_boolean() const
	{
		return kind_ == kind::boolean;
	}

	std::size_t size() const
	{
		return is_array() ? array_.size() : is_object() ? object_.size() : !is_null();
	}
	bool empty() const
	{
		return size() == 0;
	}
	void push_back(json value)
	{
		kind_ = kind::array;
		array_.push_back(std::move(value));
	}
	template <class... T> json &emplace_back(T &&...arguments)
	{
		push_back(json(std::forward<T>(arguments)...));
		return array_.back();
	}
	json &operator+=(json value)
	{
		push_back(std::move(value));
		return *this;
	}
	/* as an array grows: index, then key */
	template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0> json &operator[](T index)
	{
		kind_ = kind::array;
		if (static_cast<std::size_t>(index) >= array_.size())
			array_.resize(static_cast<std::size_t>(index) + 1);
		return array_[static_cast<std::size_t>(index)];
	}
	template <class T, std::enable_if_t<std::is_integral<T>::value, int> = 0>
	const json &operator[](T index) const
	{
		return array_.at(static_cast<std::size_t>(index));
	}
	json &operator[](const std::string &key)
	{
		kind_ = kind::object;
		return object_[key];
	}
	json &operator[](const char *key)
	{
		return (*this)[std::string(key)];
	}
	const json &operator[](const std::string &key) const
	{
		return object_.at(key);
	}
	const json &at(std::size_t index) const
	{
		return array_.at(index);
	}
	bool contains(const std::string &key) const
	{
		return object_.count(key) != 0;
	}
	array_t::iterator begin()
	{
		return array_.begin();
	}
	array_t::iterator end()
	{
		return array_.end();
	}
	array_t::const_iterator begin() const
	{
		return array_.begin();
	}
	array_t::const_iterator end() const
	{
		return array_.end();
	}

	template <class T> T get() const
	{
		if constexpr (std::is_same<T, std::string>::value)
			return text_;
		else if constexpr (std::is_same<T, bool>::value)
			return integer_ != 0;
		else
			return static_cast<T>(kind_ == kind::real ? real_ : static_cast<double>(integer_));
	}

	/* @indent: spaces a level; negative: on one line */
	std::string dump(int indent = -1) const
	{
		std::string text;

		write(text, indent, 1);
		return text;
	}
	friend std::ostream &operator<<(std::ostream &out, const json &value)
	{
		return out << value.dump(out.width() > 0 ? static_cast<int>(out.width(0)) : -1);
	}
	friend bool operator==(const json &a, const json &b)
	{
		return a.dump() == b.dump();
	}
	friend bool operator!=(const json &a, const json &b)
	{
		return !(a == b);
	}

      private:
	enum class kind { null, boolean, integer, real, string, array, object };

	static void quote(std::string &to, const std::string &text)
	{
		char code[8];

		to += '"';
		for (const char c : text) {
			if (c == '"' || c == '\\') {
				to += '\\';
				to += c;
			} else if (static_cast<unsigned char>(c) < 0x20) {
				std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
				to += code;
			} else {
				to += c;
			}
		}
		to += '"';
	}
	static void line(std::string &to, int indent, int level)
	{
		if (indent < 0)
			return;
		to += '\n';
		to.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(level), ' ');
	}
	void write_items(std::string &to, int indent, int level) const
	{
		const char *separator = "";

		for (const json &item : array_) {
			to += separator;
			line(to, indent, level);
			item.write(to, indent, level + 1);
			separator = ",";
		}
		for (const auto &pair : object_) {
			to += separator;
			line(to, indent, level);
			quote(to, pair.first);
			to += indent < 0 ? ":" : ": ";
			pair.second.write(to, indent, level + 1);
			separator = ",";
		}
		if (size())
			line(to, indent, level - 1);
	}
	void write(std::string &to, int indent, int level) const
	{
		char number[40];

		switch (kind_) {
		case kind::null:
			to += "null";
			break;
		case kind::boolean:
			to += integer_ ? "true" : "false";
			break;
		case kind::integer:
			to += is_unsigned_ ? std::to_string(static_cast<uint64_t>(integer_))
					   : std::to_string(integer_);
			break;
		case kind::real:
			std::snprintf(number, sizeof(number), "%.17g", real_);
			to += number;
			break;
		case kind::string:
			quote(to, text_);
			break;
		case kind::array:
		case kind::object:
			to += is_array() ? '[' : '{';
			write_items(to, indent, level);
			to += is_array() ? ']' : '}';
			break;
		}
	}

	kind kind_ = kind::null;
	int64_t integer_ = 0;
	bool is_unsigned_ = false;
	double real_ = 0;
	std::string text_;
	array_t array_;
	object_t object_;
};

} // namespace nlohmann
#endif

#endif /* TRACER_COMPAT_JSON_HPP */
