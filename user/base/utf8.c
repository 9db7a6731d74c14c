/* SPDX-License-Identifier: BSD-2-Clause */
#include "utf8.h"

size_t utf8__length(const unsigned char *s, size_t left)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (length == 0 || s[0] > 0xf4 || length > left)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* overlong forms, surrogates, and what lies beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

void utf8__clean(char *text, size_t size)
{
	size_t at = 0, length;

	while (at < size) {
		length = utf8__length((const unsigned char *)text + at, size - at);
		if (length == 0) {
			text[at] = '?';
			length = 1;
		}
		at += length;
	}
}
