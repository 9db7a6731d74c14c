/* SPDX-License-Identifier: BSD-2-Clause */
/* tracer list --spec and what belongs to it; the command itself is in list.c. */
#ifndef TRACER_CMD_LIST_H
#define TRACER_CMD_LIST_H

#include <json-c/json.h>
#include <stdbool.h>

struct spec;
struct spec_file;

struct list_specs {
	struct spec *specs;
	bool is_process;
	bool nop5_is_call;
	struct json_object *json; /* an array, or NULL: text */
};

/* which lines of the specs apply to the files */
void list_specs__print(const struct list_specs *list, struct spec_file *files);
/*
 * list_specs__recognise() - prints the runtimes that a binary shows
 * @path: by which it is reached; @name: as people know it; printed first if @titled
 * Returns how many.
 */
unsigned int list_specs__recognise(const char *path, const char *name, bool titled);
/* their names, an array */
struct json_object *list_specs__json(const char *path, const char *name);
void list_specs__names(void);
void list_specs__events(void);
/* prints a built-in spec; -1: there is none of that name */
int list_specs__text(const char *name);

#endif /* TRACER_CMD_LIST_H */
