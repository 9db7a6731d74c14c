/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that a command writes. A new export format is a row in `formats`. */
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/say.h"

static const char *const paraver_beside[] = {".pcf", ".row", NULL};

static const struct output_format formats[] = {
	{.name = "perfetto",
	 .extension = ".pftrace",
	 .write = export__perfetto,
	 .what = "ui.perfetto.dev, trace_processor"},
	{.name = "text",
	 .extension = ".txt",
	 .write = export__text,
	 .for_terminals = true,
	 .what = "one event a line"},
	{.name = "chrome",
	 .extension = ".json",
	 .write = export__chrome,
	 .what = "Trace Event JSON: chrome://tracing, speedscope, Perfetto"},
	{.name = "paraver",
	 .extension = ".prv",
	 .write = export__paraver,
	 .what = "x.prv, x.pcf and x.row, for Paraver",
	 .shape = OUTPUT_FILES,
	 .beside = paraver_beside},
	{.name = "asio",
	 .extension = ".asio",
	 .write = export__asio,
	 .for_terminals = true,
	 .what = "Asio's handler tracking as text, for handlerviz.pl"},
	{.name = "dot",
	 .extension = ".dot",
	 .write = export__dot,
	 .for_terminals = true,
	 .what = "the graph of tasks, for Graphviz"},
	{.name = "sqlite",
	 .extension = ".sqlite",
	 .write = export__sqlite,
	 .what = "a database for SQL, with views",
	 .shape = OUTPUT_PLAIN},
	{.name = "csv",
	 .extension = ".csv",
	 .write = export__csv,
	 .what = "a folder, one file a table, for DuckDB, ClickHouse, pandas",
	 .shape = OUTPUT_FOLDER},
	{.name = "folded",
	 .extension = ".folded",
	 .write = export__folded,
	 .for_terminals = true,
	 .what = "stacks of tasks and zones, for flame graphs"},
	{0},
};

const struct output_format *output__formats(void)
{
	return formats;
}

const struct output_format *output__format_named(const char *name)
{
	for (const struct output_format *format = formats; format->name; format++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const char *output__names(char *to, size_t room)
{
	size_t used = 0;

	*to = 0;
	for (const struct output_format *format = formats; format->name; format++) {
		if (!format->write)
			continue;
		used += (size_t)snprintf(to + used, room - used, "%s%s", used ? ", " : "",
					 format->name);
		if (used >= room)
			break;
	}
	return to;
}

static bool path__ends_within(const char *path, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length > size && !memcmp(path + length - size, end, size);
}

bool path__ends_with(const char *path, const char *end)
{
	return path__ends_within(path, strlen(path), end);
}

const struct output_format *output__format_of(const char *path,
					      enum export_compression *compression)
{
	size_t length = strlen(path);

	*compression = EXPORT_PLAIN;
	/* x.pftrace.gz.3: one of several */
	while (length && path[length - 1] >= '0' && path[length - 1] <= '9')
		length--;
	if (length < 2 || !path[length] || path[length - 1] != '.')
		length = strlen(path);
	else
		length--;
	if (path__ends_within(path, length, ".gz")) {
		*compression = EXPORT_GZIP;
		length -= strlen(".gz");
	} else if (path__ends_within(path, length, ".zst")) {
		*compression = EXPORT_ZSTD;
		length -= strlen(".zst");
	}
	for (const struct output_format *format = formats; format->name; format++)
		if (path__ends_within(path, length, format->extension))
			return format;
	return NULL;
}

/* path__folder() - the folder that @path is in, to be freed */
static char *path__folder(const char *path)
{
	char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

static int output__refuse(const char *path, int error)
{
	char *folder = path__folder(path);
	const char *where = folder ? folder : path;

	switch (error) {
	case EEXIST:
		say__error("%s: is there already; choose another name with -o, or replace it with "
			   "--force",
			   path);
		break;
	case EISDIR:
		say__error("%s: is a folder; name a file in it", path);
		break;
	case ENOENT:
	case ENOTDIR:
		say__error("%s: there is no folder %s; create it, or choose another with -o", path,
			   where);
		break;
	case EACCES:
	case EPERM:
		say__error("%s: no permission to write in %s; choose another folder with -o", path,
			   where);
		break;
	case EROFS:
		say__error("%s: %s is on a read-only file system; choose another folder with -o",
			   path, where);
		break;
	default:
		say__error("%s: %s", path, strerror(error));
	}
	free(folder);
	return -error;
}

/* output__look() - 1 if @path may be created, 0 if it is a device or pipe to be used as it is */
static int output__look(const char *path, bool force)
{
	struct stat status;
	char *folder;
	int rc;

	if (!lstat(path, &status)) {
		if (S_ISDIR(status.st_mode))
			return output__refuse(path, EISDIR);
		/* a link is looked through only for what is no file: /dev/stdout is one */
		if (S_ISLNK(status.st_mode) && stat(path, &status))
			status.st_mode = S_IFREG;
		if (!S_ISREG(status.st_mode))
			return S_ISDIR(status.st_mode) ? output__refuse(path, EISDIR) : 0;
		if (!force)
			return output__refuse(path, EEXIST);
	} else if (errno != ENOENT) {
		return output__refuse(path, errno);
	}
	folder = path__folder(path);
	rc = folder && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) ? errno : 0;
	free(folder);
	return rc ? output__refuse(path, rc) : 1;
}

int output__check(const char *path, bool force)
{
	int rc = output__look(path, force);

	return rc < 0 ? rc : 0;
}

/* sudo__owner() - who called sudo, if anybody did */
static bool sudo__owner(uid_t *uid, gid_t *gid)
{
	const char *texts[2] = {getenv("SUDO_UID"), getenv("SUDO_GID")};
	unsigned long ids[2];

	if (geteuid() != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		char *end;

		if (!texts[i] || !*texts[i])
			return false;
		ids[i] = strtoul(texts[i], &end, 10);
		if (*end)
			return false;
	}
	*uid = (uid_t)ids[0];
	*gid = (gid_t)ids[1];
	return true;
}

static void descriptor__give(int fd, const char *path)
{
	uid_t uid;
	gid_t gid;

	if (sudo__owner(&uid, &gid) && fchown(fd, uid, gid))
		say__verbose("%s: stays root's: %s", path, strerror(errno));
}

void output__give(const char *path)
{
	struct stat status;
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode))
		descriptor__give(fd, path);
	close(fd);
}

int output__claim(const char *path, bool force)
{
	int rc = output__look(path, force), fd;

	if (rc <= 0)
		return rc;
	/*
	 * Created here, never opened: a name in a folder that others can write to may be somebody's
	 * link to a file of root's by now.
	 */
	if (force && unlink(path) && errno != ENOENT)
		return output__refuse(path, errno);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return output__refuse(path, errno);
	descriptor__give(fd, path);
	close(fd);
	return 0;
}

/* output__each_beside() - does something for each file beside @path, up to the first that fails */
static int output__each_beside(const struct output_format *format, const char *path, bool force,
			       int (*what)(const char *path, bool force))
{
	int rc = 0;

	for (size_t i = 0; !rc && format->beside && format->beside[i]; i++) {
		char *other = export__beside(path, format->extension, format->beside[i]);

		rc = other ? what(other, force) : -ENOMEM;
		free(other);
	}
	return rc;
}

static bool folder__is_empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool empty = true;

	while (folder && empty && (entry = readdir(folder)))
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	if (folder)
		closedir(folder);
	return empty;
}

/* output__look_at_folder() - 1 if @path is to be made, 0 if it is there and may be filled */
static int output__look_at_folder(const char *path, bool force)
{
	struct stat status;

	if (lstat(path, &status)) {
		char *folder = path__folder(path);
		int rc = errno != ENOENT ? errno : 0;

		if (!rc && folder && faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
			rc = errno;
		free(folder);
		return rc ? output__refuse(path, rc) : 1;
	}
	if (S_ISDIR(status.st_mode) && (force || folder__is_empty(path)))
		return 0;
	if (S_ISDIR(status.st_mode))
		say__error(
			"%s: is there already, with files in it; name another folder with -o, or "
			"replace them with --force",
			path);
	else
		say__error("%s: is there already, and no folder; name another with -o", path);
	return -EEXIST;
}

static int output__claim_folder(const char *path, bool force)
{
	int rc = output__look_at_folder(path, force), fd;

	if (rc <= 0)
		return rc;
	if (mkdir(path, 0755))
		return output__refuse(path, errno);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		descriptor__give(fd, path);
		close(fd);
	}
	return 0;
}

int output__check_all(const struct output_format *format, const char *path,
		      enum export_compression compression, bool force)
{
	if (!strcmp(path, "-") && format->shape != OUTPUT_FILE) {
		say__error("%s cannot go to standard output (it is %s); name it with -o",
			   format->name,
			   format->shape == OUTPUT_FOLDER  ? "a folder of files"
			   : format->shape == OUTPUT_FILES ? "several files"
							   : "a database");
		return -EINVAL;
	}
	if (compression != EXPORT_PLAIN && format->shape == OUTPUT_PLAIN) {
		say__error("%s: %s is written here and there, so not compressed; end the name in "
			   "%s",
			   path, format->name, format->extension);
		return -EINVAL;
	}
	if (format->shape == OUTPUT_FOLDER) {
		int rc = output__look_at_folder(path, force);

		return rc < 0 ? rc : 0;
	}
	if (output__each_beside(format, path, force, output__check))
		return -EEXIST;
	return output__check(path, force);
}

int output__claim_all(const struct output_format *format, const char *path, bool force)
{
	if (format->shape == OUTPUT_FOLDER)
		return output__claim_folder(path, force);
	if (output__each_beside(format, path, force, output__claim))
		return -EEXIST;
	return output__claim(path, force);
}

/* output__give_folder() - files that an exporter made in its folder */
static void output__give_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char *name;

	while (folder && (entry = readdir(folder))) {
		name = sentence__new("%s/%s", path, entry->d_name);
		if (name && entry->d_name[0] != '.')
			output__give(name);
		free(name);
	}
	if (folder)
		closedir(folder);
}

int output__export(const struct output_format *format, const char *const *captures, size_t count,
		   const struct export_options *options, struct trace_totals *totals)
{
	char *err = NULL;
	struct trace *trace = trace__open_all(captures, count, &err);
	bool stopped;
	int rc;

	if (!trace) {
		say__error("%s", err ? err : captures[0]);
		free(err);
		return -EINVAL;
	}
	trace__debug_dirs(trace, options->debug_dirs, options->debug_dir_count);
	rc = options->filter ? trace__filter(trace, options->filter) : 0;
	if (!rc)
		rc = format->write(trace, options, &err);
	if (options->progress)
		say__progress(NULL);
	stopped = options->stop && *options->stop;
	if (rc && !(stopped && rc == -EINTR))
		say__error("%s", err ? err : strerror(-rc));
	if (!rc && stopped)
		rc = -EINTR;
	if (totals)
		*totals = *trace__totals(trace);
	if (format->shape == OUTPUT_FOLDER)
		output__give_folder(options->path);
	free(err);
	trace__close(trace);
	return rc;
}

const char *size__text(uint64_t bytes, char *to, size_t room)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
	double value = (double)bytes;
	int unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(to, room, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return to;
}
