/* box_client.h - what the files of the library's side share: one cupel-boxd, one result. */
#ifndef BOX_BOX_CLIENT_H
#define BOX_BOX_CLIENT_H

#include "base/err.h"
#include "box/box.h"
#include "box/box_wire.h"

/* One running server. One owner. */
struct box_server {
	int sock, pidfd; /* -1: none */
	struct wire_hello hello;
};

/* zygotes: as box_wire_put_zygotes() wrote them. Starts cupel-boxd and waits for its hello;
 * ERR_DENIED with its reason if it offers no box. */
int box_server_start(const struct box_config *cfg, struct str zygotes, struct box_server *ret,
                     struct err *e);

/* Closes the socket, on which the server kills its boxes and ends; kills it if it does not. */
void box_server_stop(struct box_server *s);

/* box_result.c: copies or maps the outputs into r; false: no memory. */
bool box_result_take(const struct wire_result *w, struct str small, int *fd, struct box_result *r);

#endif
