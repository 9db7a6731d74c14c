/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbered files of a capture. What a flight recorder writes is exported, if another format was
 * asked for, by a process of its own, as the recorder goes on meanwhile.
 */
#include "record_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../base/say.h"
#include "output.h"

struct record_export {
	struct record_export *next;
	pid_t pid;
	char *capture, *output;
};

char *record_files__path(const char *base, uint64_t number)
{
	return number ? sentence__new("%s.%llu", base, (unsigned long long)number) : strdup(base);
}

/* is @name @base with a number behind it? */
static bool name__is_numbered(const char *name, const char *base)
{
	size_t length = strlen(base);

	if (strncmp(name, base, length) != 0 || name[length] != '.' || !name[length + 1])
		return false;
	for (name += length + 1; isdigit((unsigned char)*name); name++)
		;
	return !*name;
}

int record_files__check(const char *path, bool force)
{
	char *copy = strdup(path), *other = strdup(path), *found = NULL;
	const char *folder = copy ? dirname(copy) : ".", *base = other ? basename(other) : path;
	struct dirent *entry;
	DIR *all = opendir(folder);
	int err = 0;

	while (all && !err && (entry = readdir(all))) {
		if (!name__is_numbered(entry->d_name, base))
			continue;
		free(found);
		found = sentence__new("%s/%s", folder, entry->d_name);
		if (!found) {
			err = -ENOMEM;
		} else if (!force) {
			say__error(
				"%s: is there already, and would be one of this capture's files; "
				"choose another name with -o, or replace it with --force",
				found);
			err = -EEXIST;
		} else if (unlink(found)) {
			err = -errno;
			say__error("%s: %s", found, strerror(errno));
		}
	}
	if (all)
		closedir(all);
	free(found);
	free(copy);
	free(other);
	return err;
}

int record_files__claim(void *ctx, const char *path)
{
	const struct record_files *files = ctx;

	return output__claim(path, files->force);
}

static const char *const tracks_words[] = {"lanes", "task", "workers"};

static pid_t export__start(const struct record_files *files, const char *capture,
			   const char *output)
{
	char *tracks = sentence__new("--tracks=%s", tracks_words[files->tracks]);
	const char *argv[] = {"tracer", "export", "-q",	   tracks,
			      "-o",	output,	  capture, files->force ? "--force" : NULL,
			      NULL};
	pid_t pid = tracks ? fork() : -1;

	if (!pid) {
		/* not at the recorder's pace: it comes before its targets */
		setpriority(PRIO_PROCESS, 0, 10);
		execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
		_exit(1);
	}
	free(tracks);
	return pid;
}

static void export__end(struct record_files *files, struct record_export *export, int status)
{
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		unlink(export->capture);
		output__give(export->output);
		say__info("%s: written", export->output);
	} else {
		files->failed++;
		say__error("%s: the export failed; the capture is kept: %s", export->output,
			   export->capture);
	}
	free(export->capture);
	free(export->output);
	free(export);
}

static void record_files__reap(struct record_files *files, int options)
{
	struct record_export **at = &files->exports, *export;
	int status;

	while ((export = *at)) {
		if (waitpid(export->pid, &status, options) != export->pid) {
			at = &export->next;
			continue;
		}
		*at = export->next;
		export__end(files, export, status);
	}
}

void record_files__snapshot(void *ctx, const char *path)
{
	struct record_files *files = ctx;
	struct record_export *export;
	struct stat status;
	char size[32];

	files->snapshots++;
	output__give(path);
	record_files__reap(files, WNOHANG);
	if (!files->output) {
		say__info("%s: the last %s", path,
			  size__text(stat(path, &status) ? 0 : (uint64_t)status.st_size, size,
				     sizeof(size)));
		return;
	}
	export = calloc(1, sizeof(*export));
	if (!export)
		return;
	export->capture = strdup(path);
	/* numbered as the capture is */
	export->output = sentence__new("%s%s", files->output, path + strlen(files->base));
	export->pid = export->capture && export->output
			      ? export__start(files, export->capture, export->output)
			      : -1;
	if (export->pid < 0) {
		export__end(files, export, 1);
		return;
	}
	export->next = files->exports;
	files->exports = export;
}

int record_files__finish(struct record_files *files)
{
	while (files->exports)
		record_files__reap(files, 0);
	return files->failed;
}

char **record_files__list(const char *base, uint64_t from, uint64_t to, size_t *count)
{
	char **paths = calloc(to - from + 1, sizeof(*paths));
	uint64_t number;

	*count = 0;
	for (number = from; paths && number < to; number++) {
		paths[*count] = record_files__path(base, number);
		if (paths[*count] && !access(paths[*count], F_OK))
			(*count)++;
		else
			free(paths[*count]);
	}
	if (paths)
		paths[*count] = NULL;
	return paths;
}

void record_files__free_list(char **paths)
{
	size_t i;

	for (i = 0; paths && paths[i]; i++)
		free(paths[i]);
	free(paths);
}
