// SPDX-License-Identifier: BSD-2-Clause
/*
 * A folder of CSV files, one for each table of tables.def, for DuckDB, ClickHouse, Spark, pandas:
 * the first line has the columns' names, lines end in a newline, a field with a comma, a quote, or
 * a line break in it stands in quotes and its quotes are doubled (RFC 4180), nothing means "not
 * known". Also tables without rows have their file, so that queries need not care.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/say.h"
#include "base/utf8.h"
#include "emit.h"
#include "tables.h"

/* quotes doubled and replacement characters for each byte, at the worst */
#define CSV_TEXT_MAX (3 * EMIT_STRING_MAX + 2)
#define CSV_ROW_MAX (8 * CSV_TEXT_MAX)

struct csv {
	struct tables tables; /* first: rows come with a pointer to it */
	struct emit files[TABLES];
};

/* what a field may hold without quotes; the rest is looked at character by character */
static bool is_plain(const unsigned char *s, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (s[i] < 0x20 || s[i] >= 0x7f || s[i] == '"' || s[i] == ',')
			return false;
	return size > 0 && s[0] != ' ' && s[size - 1] != ' ';
}

/* an empty text stands in quotes: it is there, unlike one that is not known */
static void put_text(struct emit *emit, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t left = strnlen(text, EMIT_STRING_MAX), length;

	if (is_plain(s, left)) {
		emit__put(emit, text, left);
		return;
	}
	emit__char(emit, '"');
	for (; left; s += length, left -= length) {
		length = utf8__length(s, left);
		if (!length) {
			emit__lit(emit, "\xef\xbf\xbd");
			length = 1;
			continue;
		}
		emit__put(emit, (const char *)s, length);
		if (*s == '"')
			emit__char(emit, '"');
	}
	emit__char(emit, '"');
}

static void put_cell(struct emit *emit, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_NULL:
		break;
	case CELL_INT:
		emit__i64(emit, cell->value.i);
		break;
	case CELL_UINT:
		emit__u64(emit, cell->value.u);
		break;
	case CELL_HEX:
		emit__hex(emit, cell->value.u);
		break;
	case CELL_TEXT:
		put_text(emit, cell->value.s);
		break;
	case CELL_REAL:
		/* not finite: as readers of CSV spell it */
		if (cell->value.d != cell->value.d)
			emit__lit(emit, "nan");
		else if (cell->value.d - cell->value.d != 0)
			emit__text(emit, cell->value.d > 0 ? "inf" : "-inf");
		else
			emit__double(emit, cell->value.d);
		break;
	}
}

static void csv__row(struct tables *tables, enum table table, const struct cell *cells)
{
	struct csv *csv = (struct csv *)tables;
	struct emit *emit = &csv->files[table];
	int columns = table_infos[table].columns;

	emit__room(emit, CSV_ROW_MAX);
	for (int i = 0; i < columns; i++) {
		put_cell(emit, &cells[i]);
		emit__char(emit, i == columns - 1 ? '\n' : ',');
	}
	if (emit->err)
		tables->err = emit->err;
}

/*
 * A file of the folder, created here: in a folder that is not this user's alone, a name may be
 * somebody's link to another file by now.
 */
static int csv__create(const char *path)
{
	int fd;

	if (unlink(path) && errno != ENOENT)
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int csv__open(struct csv *csv, const struct export_options *options, enum table table,
		     char **why)
{
	static const char *const suffixes[] = {
		[EXPORT_PLAIN] = "", [EXPORT_GZIP] = ".gz", [EXPORT_ZSTD] = ".zst"};
	const struct table_info *info = &table_infos[table];
	struct emit *emit = &csv->files[table];
	char *path = sentence__new("%s/%s.csv%s", options->path, info->name,
				   suffixes[options->compression]);
	int err = path ? csv__create(path) : -ENOMEM;

	if (!err)
		err = emit__open(emit, path, options->compression);
	if (err)
		*why = sentence__new("%s: %s; choose another folder with -o",
				     path ? path : options->path, strerror(-err));
	free(path);
	for (int i = 0; !err && i < info->columns; i++) {
		emit__text(emit, info->column_names[i]);
		emit__char(emit, i == info->columns - 1 ? '\n' : ',');
	}
	return err;
}

int export__csv(struct trace *trace, const struct export_options *options, char **err)
{
	struct csv *csv = calloc(1, sizeof(*csv));
	char *why = NULL;
	int result = csv ? 0 : -ENOMEM, closed;

	for (int table = 0; !result && table < TABLES; table++)
		result = csv__open(csv, options, table, &why);
	if (!result) {
		csv->tables.row = csv__row;
		result = tables__run(&csv->tables, trace, options, &why);
	}
	for (int table = 0; csv && table < TABLES; table++) {
		closed = emit__close(&csv->files[table]);
		if (!result)
			result = closed;
	}
	if (result && !why)
		why = sentence__new("%s: cannot write: %s; choose another place with -o",
				    options->path, strerror(-result));
	free(csv);
	if (err)
		*err = why;
	else
		free(why);
	return result;
}
