// Linux for TLS: a thread, poll, and a queue in place of the engine's.
#include "harness.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define QUEUE 10

struct mote_tls_net {
	int socket;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, sleeping = PTHREAD_MUTEX_INITIALIZER, queueing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER, queued = PTHREAD_COND_INITIALIZER;
static bool wake;
static void *queue[QUEUE];
static int waiting;
static int nets;

void mote_tls_lock(void) { pthread_mutex_lock(&lock); }
void mote_tls_unlock(void) { pthread_mutex_unlock(&lock); }
size_t mote_tls_largest_free(void) { return 1 << 20; }
size_t mote_tls_free(void) { return 1 << 20; }
int harness_nets(void) { return nets; }

uint32_t mote_tls_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static struct timespec in_ms(uint32_t ms)
{
	struct timespec at;
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += (long)ms * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return at;
}

static void *thread(void *run)
{
	((void (*)(void))run)();
	return NULL;
}

esp_err_t mote_tls_task_start(void (*run)(void))
{
	static pthread_t task;
	static bool started;
	if (!started)
		started = 0 == pthread_create(&task, NULL, thread, run);
	return started ? ESP_OK : ESP_ERR_NO_MEM;
}

/** No events of sockets here: it looks every 2 ms. */
void mote_tls_task_wait(uint32_t ms)
{
	struct timespec until = in_ms(ms < 2 ? ms : 2);
	pthread_mutex_lock(&sleeping);
	if (!wake)
		pthread_cond_timedwait(&woken, &sleeping, &until);
	wake = false;
	pthread_mutex_unlock(&sleeping);
}

void mote_tls_task_wake(void)
{
	pthread_mutex_lock(&sleeping);
	wake = true;
	pthread_cond_signal(&woken);
	pthread_mutex_unlock(&sleeping);
}

struct mote_tls_net *mote_tls_net_connect(const char *address, uint16_t port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct mote_tls_net *net = calloc(1, sizeof *net);
	// Room for large segments: the kernel keeps one whole while the first bytes of a head wait in it.
	int one = 1, room = 1 << 20;
	if (!net || 1 != inet_pton(AF_INET, address, &to.sin_addr)) {
		free(net);
		return NULL;
	}
	net->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(net->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(net->socket, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
	connect(net->socket, (struct sockaddr *)&to, sizeof to);
	__atomic_add_fetch(&nets, 1, __ATOMIC_SEQ_CST);
	return net;
}

int mote_tls_net_connected(struct mote_tls_net *net)
{
	struct pollfd look = {.fd = net->socket, .events = POLLOUT};
	int error = 0;
	socklen_t length = sizeof error;
	if (poll(&look, 1, 0) == 0)
		return MOTE_TLS_NET_AGAIN;
	getsockopt(net->socket, SOL_SOCKET, SO_ERROR, &error, &length);
	return error ? MOTE_TLS_NET_BROKEN : 0;
}

/** What a blocked connection does next. */
static enum { FREE, TAKES_TEN, GIVES_A_RECORD, REFUSES } blocked;
static int refusals;

void harness_block(int times)
{
	blocked = TAKES_TEN;
	refusals = times;
}

int mote_tls_net_send(struct mote_tls_net *net, const void *from, size_t count)
{
	if (blocked == REFUSES && refusals-- <= 0)
		blocked = FREE;
	if (blocked == GIVES_A_RECORD || blocked == REFUSES)
		return MOTE_TLS_NET_AGAIN;
	if (blocked == TAKES_TEN) {
		blocked = GIVES_A_RECORD;
		count = 10;
	}
	ssize_t sent = send(net->socket, from, count, MSG_NOSIGNAL);
	return sent > 0 ? (int)sent : errno == EAGAIN ? MOTE_TLS_NET_AGAIN : MOTE_TLS_NET_BROKEN;
}

int mote_tls_net_peek(struct mote_tls_net *net, void *into, size_t count)
{
	if (blocked == TAKES_TEN)
		return MOTE_TLS_NET_AGAIN;
	ssize_t there = recv(net->socket, into, count, MSG_PEEK);
	if (there == (ssize_t)count)
		return (int)there;
	return there > 0 ? MOTE_TLS_NET_AGAIN : there == 0 ? MOTE_TLS_NET_END : errno == EAGAIN ? MOTE_TLS_NET_AGAIN : MOTE_TLS_NET_BROKEN;
}

static size_t bytes_received;

size_t harness_received(void)
{
	size_t count = bytes_received;
	bytes_received = 0;
	return count;
}

int mote_tls_net_receive(struct mote_tls_net *net, void *into, size_t count)
{
	if (blocked == TAKES_TEN)
		return MOTE_TLS_NET_AGAIN;
	if (count <= 5) {
		ssize_t there = recv(net->socket, into, count, MSG_PEEK);
		if (there > 0 && there < (ssize_t)count)
			return MOTE_TLS_NET_AGAIN;
	}
	ssize_t received = recv(net->socket, into, count, 0);
	if (blocked == GIVES_A_RECORD && received > 5)
		blocked = REFUSES;
	if (received > 0)
		bytes_received += received;
	return received > 0 ? (int)received : received == 0 ? MOTE_TLS_NET_END : errno == EAGAIN ? MOTE_TLS_NET_AGAIN : MOTE_TLS_NET_BROKEN;
}

void mote_tls_net_close(struct mote_tls_net *net)
{
	close(net->socket);
	free(net);
	__atomic_sub_fetch(&nets, 1, __ATOMIC_SEQ_CST);
}

bool harness_post(void *engine)
{
	pthread_mutex_lock(&queueing);
	bool room = waiting < QUEUE;
	if (room)
		queue[waiting++] = engine;
	pthread_cond_signal(&queued);
	pthread_mutex_unlock(&queueing);
	return room;
}

void *harness_message(uint32_t ms)
{
	struct timespec until = in_ms(ms);
	void *first = NULL;
	pthread_mutex_lock(&queueing);
	if (!waiting)
		pthread_cond_timedwait(&queued, &queueing, &until);
	if (waiting) {
		first = queue[0];
		waiting--;
		for (int i = 0; i < waiting; i++)
			queue[i] = queue[i + 1];
	}
	pthread_mutex_unlock(&queueing);
	return first;
}
