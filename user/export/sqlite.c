// SPDX-License-Identifier: BSD-2-Clause
/*
 * An SQLite database: the tables of tables.def, indexes, and views for the questions that are asked
 * most (sqlite_views.h). Rows go through one prepared statement a table, in one transaction for
 * every hundred thousand.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/say.h"
#include "base/utf8.h"
#include "emit.h"
#include "sqlite_views.h"
#include "tables.h"

#define ROWS_PER_TRANSACTION 100000U
#define STATEMENT_MAX 2048

struct sqlite {
	struct tables tables; /* first: rows come with a pointer to it */
	sqlite3 *db;
	sqlite3_stmt *inserts[TABLES];
	uint64_t rows;
};

struct table_index {
	const char *table, *column;
};

static const struct table_index indexes[] = {
#define INDEX(table, column) {#table, #column},
#include "tables.def"
};

static int sqlite__errno(int code)
{
	switch (code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	default:
		return -EIO;
	}
}

static int sqlite__do(struct sqlite *sqlite, const char *sql)
{
	return sqlite__errno(sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL));
}

/* A string that is no UTF-8 is bound as a copy with question marks, others as they are. */
static int bind_text(sqlite3_stmt *insert, int column, const char *text)
{
	size_t size = strnlen(text, EMIT_STRING_MAX), at = 0, length;
	char copy[EMIT_STRING_MAX];

	while (at < size) {
		length = utf8__length((const unsigned char *)text + at, size - at);
		if (!length)
			break;
		at += length;
	}
	/* interned strings outlive the statement's step, others too */
	if (at == size)
		return sqlite3_bind_text(insert, column, text, (int)size, SQLITE_STATIC);
	memcpy(copy, text, size);
	utf8__clean(copy, size);
	return sqlite3_bind_text(insert, column, copy, (int)size, SQLITE_TRANSIENT);
}

static int bind_cell(sqlite3_stmt *insert, int column, const struct cell *cell)
{
	char hex[24];

	switch (cell->kind) {
	case CELL_NULL:
		return sqlite3_bind_null(insert, column);
	case CELL_INT:
		return sqlite3_bind_int64(insert, column, cell->value.i);
	case CELL_UINT:
		/* what does not fit is a real: 64 bits of a marker's extra, say */
		return cell->value.u <= INT64_MAX
			       ? sqlite3_bind_int64(insert, column, (int64_t)cell->value.u)
			       : sqlite3_bind_double(insert, column, (double)cell->value.u);
	case CELL_HEX:
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)cell->value.u);
		return sqlite3_bind_text(insert, column, hex, -1, SQLITE_TRANSIENT);
	case CELL_TEXT:
		return bind_text(insert, column, cell->value.s);
	case CELL_REAL:
		return sqlite3_bind_double(insert, column, cell->value.d);
	}
	return SQLITE_MISUSE;
}

static void sqlite__row(struct tables *tables, enum table table, const struct cell *cells)
{
	struct sqlite *sqlite = (struct sqlite *)tables;
	sqlite3_stmt *insert = sqlite->inserts[table];
	int code = SQLITE_OK;

	for (int i = 0; code == SQLITE_OK && i < table_infos[table].columns; i++)
		code = bind_cell(insert, i + 1, &cells[i]);
	if (code == SQLITE_OK)
		code = sqlite3_step(insert);
	tables->err = sqlite__errno(code);
	sqlite3_reset(insert);
	if (!tables->err && ++sqlite->rows % ROWS_PER_TRANSACTION == 0)
		tables->err = sqlite__do(sqlite, "COMMIT; BEGIN");
}

static const char *column__affinity(const char *type)
{
	if (!strcmp(type, "text") || !strcmp(type, "id"))
		return "TEXT";
	return strcmp(type, "num") ? "INTEGER" : "NUMERIC";
}

static int table__create(struct sqlite *sqlite, enum table table)
{
	const struct table_info *info = &table_infos[table];
	char create[STATEMENT_MAX], insert[STATEMENT_MAX];
	size_t at, to;
	int err;

	at = (size_t)snprintf(create, sizeof(create), "CREATE TABLE %s (", info->name);
	to = (size_t)snprintf(insert, sizeof(insert), "INSERT INTO %s VALUES (", info->name);
	for (int i = 0; i < info->columns; i++) {
		const char *end = i == info->columns - 1 ? ")" : ", ";

		/* the number of a lifetime, thread or process is its row's own */
		bool key = i == 0 && (table == TABLE_tasks || table == TABLE_threads ||
				      table == TABLE_processes || table == TABLE_zones);

		at += (size_t)snprintf(
			create + at, sizeof(create) - at, "\"%s\" %s%s%s", info->column_names[i],
			column__affinity(info->column_types[i]), key ? " PRIMARY KEY" : "", end);
		to += (size_t)snprintf(insert + to, sizeof(insert) - to, "?%s", end);
	}
	if (at >= sizeof(create) || to >= sizeof(insert))
		return -EMSGSIZE;
	err = sqlite__do(sqlite, create);
	if (err)
		return err;
	return sqlite__errno(
		sqlite3_prepare_v2(sqlite->db, insert, -1, &sqlite->inserts[table], NULL));
}

/*
 * Nobody else reads the file while it is written, and an export that is cut off by the machine's
 * end is done again: so no journal, and no waiting for the disk.
 */
static int sqlite__open(struct sqlite *sqlite, const char *path)
{
	int err = sqlite__errno(sqlite3_open_v2(path, &sqlite->db,
						SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL));

	if (!err)
		err = sqlite__do(sqlite,
				 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
				 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 16384;"
				 "PRAGMA application_id = 1953653091; PRAGMA user_version = 1;"
				 "BEGIN");
	for (int table = 0; !err && table < TABLES; table++)
		err = table__create(sqlite, table);
	return err;
}

/* after the rows: an index is made faster than it is kept up to date */
static int sqlite__finish(struct sqlite *sqlite, const struct export_options *options)
{
	char sql[256];
	int err = 0;

	if (options->progress)
		say__progress("exporting: indexes");
	for (size_t i = 0; !err && i < sizeof(indexes) / sizeof(indexes[0]); i++) {
		snprintf(sql, sizeof(sql), "CREATE INDEX %s_by_%s ON %s (%s)", indexes[i].table,
			 indexes[i].column, indexes[i].table, indexes[i].column);
		err = sqlite__do(sqlite, sql);
	}
	for (size_t i = 0; !err && sqlite_views[i]; i++)
		err = sqlite__do(sqlite, sqlite_views[i]);
	return err ? err : sqlite__do(sqlite, "COMMIT; PRAGMA optimize");
}

int export__sqlite(struct trace *trace, const struct export_options *options, char **err)
{
	struct sqlite *sqlite = calloc(1, sizeof(*sqlite));
	char *why = NULL;
	int result = sqlite ? sqlite__open(sqlite, options->path) : -ENOMEM;

	if (!result) {
		sqlite->tables.row = sqlite__row;
		result = tables__run(&sqlite->tables, trace, options, &why);
	}
	if (!result)
		result = sqlite__finish(sqlite, options);
	if (result == -EIO) {
		free(why);
		why = sentence__new("%s: SQLite says: %s; choose another place with -o",
				    options->path, sqlite3_errmsg(sqlite->db));
	} else if (result && !why) {
		why = sentence__new("%s: cannot write: %s; choose another place with -o",
				    options->path, strerror(-result));
	}
	for (int table = 0; sqlite && table < TABLES; table++)
		sqlite3_finalize(sqlite->inserts[table]);
	if (sqlite && sqlite3_close(sqlite->db) != SQLITE_OK && !result)
		result = -EIO;
	free(sqlite);
	if (err)
		*err = why;
	else
		free(why);
	return result;
}
