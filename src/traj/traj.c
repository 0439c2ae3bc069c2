/* traj.c - names of what traj.h enumerates. */
#include "traj/traj.h"

const char *finish_text(enum finish f)
{
	return f == FINISH_STOP ? "stop" : f == FINISH_LENGTH ? "length" : "abort";
}
