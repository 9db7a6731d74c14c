/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs written for InstProf, traced by tracer: compile with -I probes/compat -I usdt, link nothing.
 *
 *	IP_FUNC_SCOPE()		a zone to the end of the scope, named as the function
 *	IP_NAMED_SCOPE("name")	a zone to the end of the scope
 *
 * The same switch as there: without a IP_ENABLE that is not 0 both are nothing. What InstProf prints when
 * the program ends is `tracer record --stats-only --report`, what it writes is `tracer -o x.json`; with
 * neither a zone costs a load and a branch. See docs/runtimes/compat.md.
 *
 * Two lines are two call sites, also in one function; names must outlive nothing (they are read at once).
 */
#ifndef TRACER_COMPAT_INSTPROF_H
#define TRACER_COMPAT_INSTPROF_H

#if IP_ENABLE
#include <tracer/tracer.h>
#define IP_NAMED_SCOPE(name_literal) TRACER_ZONE(name_literal)
#define IP_FUNC_SCOPE() TRACER_ZONE_FUNCTION()
#else
#define IP_NAMED_SCOPE(name_literal)
#define IP_FUNC_SCOPE()
#endif

#endif /* TRACER_COMPAT_INSTPROF_H */
