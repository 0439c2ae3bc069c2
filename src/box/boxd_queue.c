/* boxd_queue.c - jobs that wait for a slot, and results that wait for room in the caller's socket.
 */
#include "box/boxd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PASSES = 16, PLACES = 8 /* times slots: the caller keeps below that */ };

/* A result that did not fit into the socket. */
struct held {
	struct held *next;
	int fd[BOX_CHANNELS], n_fd;
	size_t n;
	char msg[];
};

static struct {
	struct waiting *at; /* a ring of n_max places */
	int first, n, n_max;
	int passed_over; /* how often the oldest waiting job was */
} queue;

static struct {
	struct held *first, **last;
} held = { NULL, &held.first };

int queue_open(int slots, struct err *e)
{
	queue.n_max = PLACES * slots;
	queue.at = calloc((size_t)queue.n_max, sizeof *queue.at);
	return queue.at ? 0 : FAIL(e, ERR_NOMEM, "queue of %d jobs", queue.n_max);
}

bool queue_is_empty(void)
{
	return queue.n == 0;
}

bool queue_put(const struct waiting *w)
{
	if (queue.n == queue.n_max)
		return false;
	queue.at[(queue.first + queue.n++) % queue.n_max] = *w;
	return true;
}

struct waiting queue_take(uint64_t program)
{
	struct waiting w;
	int at = 0;

	for (int i = 0; program && queue.passed_over < MAX_PASSES && i < queue.n; i++)
		if (queue.at[(queue.first + i) % queue.n_max].job.program == program) {
			at = i;
			break;
		}
	queue.passed_over = at ? queue.passed_over + 1 : 0;
	w = queue.at[(queue.first + at) % queue.n_max];
	for (int i = at; i > 0; i--)
		queue.at[(queue.first + i) % queue.n_max] =
			queue.at[(queue.first + i - 1) % queue.n_max];
	queue.first = (queue.first + 1) % queue.n_max;
	queue.n--;
	return w;
}

static void want_write(const struct server *s, bool on)
{
	struct epoll_event e = { .events = EPOLLIN | (on ? (unsigned)EPOLLOUT : 0),
		                 .data.u64 = EV_CALLER };

	(void)epoll_ctl(s->epfd, EPOLL_CTL_MOD, s->sock, &e);
}

static bool hold(const struct server *s, const void *msg, size_t n, const int *fd, int n_fd)
{
	struct held *h = malloc(sizeof *h + n);

	if (!h)
		return false;
	*h = (struct held){ .n_fd = n_fd, .n = n };
	memcpy(h->msg, msg, n);
	memcpy(h->fd, fd, sizeof(int) * (size_t)n_fd);
	*held.last = h;
	held.last = &h->next;
	want_write(s, true);
	return true;
}

void result_send_held(const struct server *s)
{
	while (held.first) {
		struct held *h = held.first;

		if (box_wire_send(s->sock, h->msg, h->n, h->fd, h->n_fd, MSG_DONTWAIT) < 0 &&
		    (errno == EAGAIN || errno == ENOBUFS))
			return;
		held.first = h->next;
		if (!held.first)
			held.last = &held.first;
		for (int i = 0; i < h->n_fd; i++)
			(void)close(h->fd[i]);
		free(h);
	}
	want_write(s, false);
}

bool result_send(const struct server *s, const void *msg, size_t n, const int *fd, int n_fd)
{
	if (held.first || (box_wire_send(s->sock, msg, n, fd, n_fd, MSG_DONTWAIT) < 0 &&
	                   (errno == EAGAIN || errno == ENOBUFS)))
		return hold(s, msg, n, fd, n_fd);
	for (int i = 0; i < n_fd; i++)
		(void)close(fd[i]);
	return true;
}
