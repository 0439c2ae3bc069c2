/* boxd_page.c - the memory that boxd and the processes of a slot share. */
#include "box/boxd.h"

#include <stdarg.h>
#include <stdio.h>

void page_fail(struct slot_page *p, const char *fmt, ...)
{
	va_list ap;

	if (p->failed)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(p->why, sizeof p->why, fmt, ap);
	va_end(ap);
	p->failed = 1;
}
