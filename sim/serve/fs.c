// SPDX-License-Identifier: BSD-2-Clause
/*
 * FUSE requests; see fs.h. An open file is a handle:
 *
 *   text       made when it is read from its start
 *   ctl        each write is one or more lines
 *   umad       ufile.c; a read without O_NONBLOCK waits here, a poll leaves its handle
 *   issm       seats.c; an open without O_NONBLOCK waits here
 */
#define FUSE_USE_VERSION 35
#include "sim/serve/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/serve/caller.h"
#include "sim/serve/tree.h"
#include "util/mem.h"

#define CONTROL_MAX 65536
#define PAGE 4096u

struct fs {
	struct control *control;
	struct tree tree;
	struct fuse_session *session;
	struct fuse_buf buf;
	struct handle *handles;
	size_t chunk; /* longest read or write FUSE does in one */
	bool mounted;
};

/* The rest of a message for a read() that FUSE has split. */
struct rest {
	uint8_t *bytes;
	size_t n, at;
	size_t room; /* the reader still has */
};

struct handle {
	struct handle *next;
	struct fs *fs;
	struct place place;
	struct seat *seat;
	struct ufile *umad;
	struct issm_wish wish;
	fuse_req_t opener; /* waiting for issm */
	struct fuse_file_info fi;
	fuse_req_t reader; /* waiting for something to read */
	size_t room;
	struct fuse_pollhandle *poll;
	struct rest rest;
	size_t skip;       /* bytes already taken of a write() that FUSE has split */
	char *text;
	size_t text_n;
};

static struct fs *get_fs(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct handle *get_handle(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

/* ---- names ---- */

static void fill_stat(const struct place *p, struct stat *ret)
{
	bool program = p->kind == PLACE_UMAD || p->kind == PLACE_ISSM;

	*ret = (struct stat){ .st_ino = tree_number(p), .st_nlink = 1 };
	if (tree_is_folder(p->kind))
		ret->st_mode = S_IFDIR | 0755;
	else
		ret->st_mode = S_IFREG | (program ? 0600 : p->kind == PLACE_CTL ? 0644 : 0444);
	if (p->kind == PLACE_NODES || p->kind == PLACE_STATS || p->kind == PLACE_CHECK ||
	    p->kind == PLACE_KEYS || p->kind == PLACE_STATE || p->kind == PLACE_ALL_PKEYS ||
	    p->kind == PLACE_CTL)
		return;
	ret->st_size = tree_is_folder(p->kind) || program ? 0 : PAGE; /* as in sysfs */
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = get_fs(req);
	struct fuse_entry_param e = { 0 };
	struct place folder, p;

	if (!tree_place(&fs->tree, parent, &folder) || !tree_lookup(&fs->tree, &folder, name, &p)) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	e.ino = tree_number(&p);
	fill_stat(&p, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct place p;
	struct stat st;

	if (!tree_place(&get_fs(req)->tree, ino, &p)) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill_stat(&p, &st);
	fuse_reply_attr(req, &st, 0);
}

/* Truncation, as a shell's ">" wants it, changes nothing. */
static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		       struct fuse_file_info *fi)
{
	op_getattr(req, ino, fi);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		       struct fuse_file_info *fi)
{
	struct fs *fs = get_fs(req);
	_cleanup_free_ char *buf = xcalloc(1, size);
	char name[TREE_NAME_MAX];
	struct place folder, p;
	size_t used = 0, n;
	int r;

	if (!tree_place(&fs->tree, ino, &folder) || !tree_is_folder(folder.kind)) {
		fuse_reply_err(req, ENOTDIR);
		return;
	}
	for (unsigned i = (unsigned)offset; (r = tree_entry(&fs->tree, &folder, i, name, &p)) >= 0;
	     i++) {
		struct stat st;

		if (r == 0)
			continue;
		fill_stat(&p, &st);
		n = fuse_add_direntry(req, buf + used, size - used, name, &st, (off_t)i + 1);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

/* ---- open and close ---- */

static struct handle *handle_new(struct fs *fs, const struct place *p)
{
	struct handle *h = xcalloc(1, sizeof(*h));

	h->fs = fs;
	h->place = *p;
	h->next = fs->handles;
	fs->handles = h;
	return h;
}

static void handle_free(struct handle *h)
{
	struct handle **at = &h->fs->handles;

	while (*at != h)
		at = &(*at)->next;
	*at = h->next;
	if (h->umad)
		seat_close(h->seat, h->umad);
	ufile_free(h->umad);
	if (h->poll)
		fuse_pollhandle_destroy(h->poll);
	free(h->rest.bytes);
	free(h->text);
	free(h);
}

static void on_readable(void *owner);

static int open_umad(struct handle *h)
{
	h->seat = seats_at(h->fs->control->seats, h->place.node, h->place.port);
	return seat_open(h->seat, h->place.device, on_readable, h, &h->umad);
}

/* The wait for issm is over. */
static void on_issm(void *owner, int error)
{
	struct handle *h = owner;
	fuse_req_t req = h->opener;

	h->opener = NULL;
	if (error == 0) {
		fuse_reply_open(req, &h->fi);
		return;
	}
	fuse_reply_err(req, -error);
	handle_free(h);
}

static void on_open_interrupted(fuse_req_t req, void *data)
{
	struct handle *h = data;

	if (h->opener != req)
		return;
	issm_forget(&h->wish);
	h->opener = NULL;
	fuse_reply_err(req, EINTR);
	handle_free(h);
}

static int open_issm(struct handle *h)
{
	h->seat = seats_at(h->fs->control->seats, h->place.node, h->place.port);
	h->wish.ended = on_issm;
	h->wish.owner = h;
	return issm_take(h->seat, &h->wish, !(h->fi.flags & O_NONBLOCK));
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = get_fs(req);
	struct handle *h;
	struct place p;
	int r = 0;

	if (!tree_place(&fs->tree, ino, &p) || tree_is_folder(p.kind)) {
		fuse_reply_err(req, EISDIR);
		return;
	}
	h = handle_new(fs, &p);
	fi->fh = (uintptr_t)h;
	fi->direct_io = 1;
	fi->nonseekable = p.kind == PLACE_UMAD || p.kind == PLACE_ISSM;
	h->fi = *fi;
	if (p.kind == PLACE_UMAD)
		r = open_umad(h);
	else if (p.kind == PLACE_ISSM)
		r = open_issm(h);
	if (r == -EINPROGRESS) {
		h->opener = req;
		fuse_req_interrupt_func(req, on_open_interrupted, h);
	} else if (r < 0) {
		fuse_reply_err(req, -r);
		handle_free(h);
	} else {
		fuse_reply_open(req, fi);
	}
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct handle *h = get_handle(fi);

	if (h->place.kind == PLACE_ISSM)
		issm_give(&h->wish);
	if (h->reader)
		fuse_reply_err(h->reader, EIO);
	handle_free(h);
	fuse_reply_err(req, 0);
}

/* ---- texts ---- */

static void make_text(struct handle *h)
{
	struct control *c = h->fs->control;
	FILE *out;

	free(h->text);
	h->text = NULL;
	out = open_memstream(&h->text, &h->text_n);
	if (!out)
		return;
	switch (h->place.kind) {
	case PLACE_CTL:
		fprintf(out, "%s\n", c->said);
		break;
	case PLACE_STATS:
		control_stats(c, out);
		break;
	case PLACE_CHECK:
		control_check(c, out);
		break;
	case PLACE_NODES:
		control_nodes(c, out);
		break;
	case PLACE_KEYS:
		control_keys(c, out);
		break;
	case PLACE_STATE:
		control_state(c, out);
		break;
	case PLACE_ALL_PKEYS:
		control_pkeys(c, out);
		break;
	default: {
		char text[TREE_TEXT_MAX];

		fwrite(text, 1, tree_text(&h->fs->tree, &h->place, text), out);
		break;
	}
	}
	fclose(out);
}

static void read_text(fuse_req_t req, struct handle *h, size_t size, off_t offset)
{
	size_t from = (size_t)offset;

	if (offset == 0)
		make_text(h);
	if (!h->text || from >= h->text_n)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, h->text + from, MIN(size, h->text_n - from));
}

static void write_control(fuse_req_t req, struct handle *h, const char *text, size_t n)
{
	if (h->place.kind != PLACE_CTL || n > CONTROL_MAX)
		fuse_reply_err(req, EINVAL);
	else if (control_lines(h->fs->control, text, n) < 0)
		fuse_reply_err(req, EINVAL);
	else
		fuse_reply_write(req, n);
}

/* ---- umad: reading ---- */

/* Might FUSE have cut a call of which it shows us `n` bytes? Buffers need not start on a page. */
static bool maybe_cut(const struct fs *fs, size_t n)
{
	return n + PAGE > fs->chunk;
}

static size_t whole_room(struct handle *h, fuse_req_t req, size_t size)
{
	struct caller_call call;

	if (!maybe_cut(h->fs, size) || !caller_find(fuse_req_ctx(req)->pid, &call) || call.writing)
		return size;
	return MAX(size, call.count);
}

/* The next part for a split read(), which continues until a part is short or its buffer is full. */
static void reply_rest(struct handle *h, fuse_req_t req, size_t size)
{
	struct rest *rest = &h->rest;
	size_t n = MIN(size, rest->n - rest->at);

	fuse_reply_buf(req, (const char *)rest->bytes + rest->at, n);
	rest->at += n;
	rest->room -= n;
	if (n == size && rest->room > 0)
		return;
	free(rest->bytes);
	*rest = (struct rest){ 0 };
}

static void reply_no_space(fuse_req_t req, size_t room, const uint8_t *bytes, size_t n)
{
	pid_t tid = fuse_req_ctx(req)->pid;
	struct caller_call call;

	if (!caller_find(tid, &call) || call.writing || call.count != room ||
	    !caller_put(tid, call.buffer, bytes, n))
		fprintf(stderr, "ibfab: cannot tell process %d how long its message is\n",
			(int)tid);
	fuse_reply_err(req, ENOSPC);
}

static void reply_message(struct handle *h, fuse_req_t req, size_t size)
{
	size_t room = whole_room(h, req, size), n = 0;
	uint8_t *bytes = NULL;
	int r = ufile_read(h->umad, room, &bytes, &n);

	if (r == -ENOSPC) {
		reply_no_space(req, room, bytes, n);
		free(bytes);
	} else if (r < 0) {
		fuse_reply_err(req, -r);
	} else {
		h->rest = (struct rest){ .bytes = bytes, .n = n, .room = room };
		reply_rest(h, req, size);
	}
}

static void on_readable(void *owner)
{
	struct handle *h = owner;
	fuse_req_t req = h->reader;

	if (req) {
		h->reader = NULL;
		reply_message(h, req, h->room);
	}
	if (h->poll && ufile_is_readable(h->umad)) {
		fuse_lowlevel_notify_poll(h->poll);
		fuse_pollhandle_destroy(h->poll);
		h->poll = NULL;
	}
}

static void on_read_interrupted(fuse_req_t req, void *data)
{
	struct handle *h = data;

	if (h->reader != req)
		return;
	h->reader = NULL;
	fuse_reply_err(req, EINTR);
}

static void read_umad(fuse_req_t req, struct handle *h, size_t size,
		      const struct fuse_file_info *fi)
{
	if (h->rest.bytes) {
		reply_rest(h, req, size);
	} else if (ufile_is_readable(h->umad) || (fi->flags & O_NONBLOCK)) {
		reply_message(h, req, size);
	} else if (h->reader) {
		fuse_reply_err(req, EBUSY);
	} else {
		h->reader = req;
		h->room = size;
		fuse_req_interrupt_func(req, on_read_interrupted, h);
	}
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	struct handle *h = get_handle(fi);

	if (h->umad)
		read_umad(req, h, size, fi);
	else if (h->place.kind == PLACE_ISSM)
		fuse_reply_err(req, EINVAL);
	else
		read_text(req, h, size, offset);
}

/* ---- umad: the rest ---- */

/* A write() of which FUSE gives us the first part: the whole is in the memory of the writer. */
static void write_long(fuse_req_t req, struct handle *h, const struct caller_call *call,
		       size_t size)
{
	_cleanup_free_ uint8_t *all = try_calloc(call->count, 1, TRANSPORT_MESSAGE_MAX + PAGE);
	int r = -ENOMEM;

	if (all && !caller_get(fuse_req_ctx(req)->pid, call->buffer, all, call->count))
		r = -EFAULT;
	else if (all)
		r = ufile_write(h->umad, all, call->count);
	if (r < 0) {
		fuse_reply_err(req, -r);
		return;
	}
	h->skip = call->count - size;
	fuse_reply_write(req, size);
}

static void write_umad(fuse_req_t req, struct handle *h, const char *buf, size_t size)
{
	struct caller_call call;
	int r;

	if (h->skip) {
		h->skip -= MIN(size, h->skip);
		fuse_reply_write(req, size);
		return;
	}
	if (maybe_cut(h->fs, size) && caller_find(fuse_req_ctx(req)->pid, &call) && call.writing &&
	    call.count > size) {
		write_long(req, h, &call, size);
		return;
	}
	r = ufile_write(h->umad, (const uint8_t *)buf, size);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_write(req, size);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t offset,
		     struct fuse_file_info *fi)
{
	struct handle *h = get_handle(fi);

	if (h->umad)
		write_umad(req, h, buf, size);
	else
		write_control(req, h, buf, size);
}

static void op_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned cmd, void *arg,
		     struct fuse_file_info *fi, unsigned flags, const void *in, size_t in_n,
		     size_t out_n)
{
	struct handle *h = get_handle(fi);
	uint8_t buf[UFILE_IOCTL_MAX] = { 0 };
	int r;

	if (!h->umad || in_n > sizeof(buf) || out_n > sizeof(buf)) {
		fuse_reply_err(req, ENOTTY);
		return;
	}
	if (in_n)
		memcpy(buf, in, in_n);
	r = ufile_ioctl(h->umad, cmd, buf, in_n);
	if (r < 0)
		fuse_reply_err(req, -r);
	else
		fuse_reply_ioctl(req, 0, buf, out_n);
}

static void op_poll(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi,
		    struct fuse_pollhandle *poll)
{
	struct handle *h = get_handle(fi);
	unsigned events = POLLOUT | POLLWRNORM;

	if (!h->umad || ufile_is_readable(h->umad))
		events |= POLLIN | POLLRDNORM;
	if (h->umad && ufile_is_unplugged(h->umad))
		events |= POLLERR;
	if (poll) {
		if (h->poll)
			fuse_pollhandle_destroy(h->poll);
		h->poll = poll;
	}
	fuse_reply_poll(req, events);
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct fs *fs = userdata;

	conn->want &=
		~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	fs->chunk = conn->max_write;
}

static const struct fuse_lowlevel_ops ops = {
	.init = op_init, .lookup = op_lookup, .getattr = op_getattr, .setattr = op_setattr,
	.readdir = op_readdir, .open = op_open, .release = op_release, .read = op_read,
	.write = op_write, .ioctl = op_ioctl, .poll = op_poll,
};

/* ---- the session ---- */

static bool is_present(void *owner, int node, unsigned device, unsigned port)
{
	return seats_present(owner, node, device, port);
}

static const struct host *host_at(void *owner, int node)
{
	return seats_host(owner, node);
}

static int start(struct fs *fs, const char *folder)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int fd;

	if (fuse_opt_add_arg(&args, "ibfab") < 0 ||
	    fuse_opt_add_arg(&args, "-oallow_other,fsname=ibfab") < 0)
		return -ENOMEM;
	fs->session = fuse_session_new(&args, &ops, sizeof(ops), fs);
	fuse_opt_free_args(&args);
	if (!fs->session)
		return -EINVAL;
	if (fuse_session_mount(fs->session, folder) < 0)
		return errno ? -errno : -EIO;
	fs->mounted = true;
	fd = fuse_session_fd(fs->session);
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ? -errno : 0;
}

struct fs *fs_new(struct control *control, const char *folder)
{
	struct fs *fs = xcalloc(1, sizeof(*fs));
	int r;

	fs->control = control;
	fs->tree = (struct tree){ .sim = control->sim,
				  .present = is_present,
				  .host = host_at,
				  .owner = control->seats };
	r = start(fs, folder);
	if (r == 0)
		return fs;
	fs_free(fs);
	errno = -r;
	return NULL;
}

/* Waiting readers are answered; open files become void. */
static void drop_handles(struct fs *fs)
{
	struct handle *h;

	while ((h = fs->handles)) {
		if (h->opener)
			fuse_reply_err(h->opener, ENODEV);
		if (h->reader)
			fuse_reply_err(h->reader, ENODEV);
		h->opener = h->reader = NULL;
		handle_free(h);
	}
}

struct fs *fs_free(struct fs *fs)
{
	if (!fs)
		return NULL;
	drop_handles(fs);
	if (fs->mounted)
		fuse_session_unmount(fs->session);
	if (fs->session)
		fuse_session_destroy(fs->session);
	free(fs->buf.mem);
	free(fs);
	return NULL;
}

int fs_fd(const struct fs *fs)
{
	return fuse_session_fd(fs->session);
}

int fs_step(struct fs *fs)
{
	int n = fuse_session_receive_buf(fs->session, &fs->buf);

	if (n == -EINTR || n == -EAGAIN)
		return 0;
	if (n <= 0 || fuse_session_exited(fs->session))
		return n < 0 ? n : -ENODEV;
	fuse_session_process_buf(fs->session, &fs->buf);
	return 1;
}
