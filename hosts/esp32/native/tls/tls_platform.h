// What TLS takes from the system: a task with a lock, TCP, and a way into the engine. tls_esp32.c is the board's, test/hosts/esp32/tls has one for Linux.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A TCP connection, without blocking. The task is woken when something changes. */
struct tls_net;

enum {
	/** Nothing at present. */
	TLS_NET_AGAIN = -1,
	/** The other side has ended it in good order. */
	TLS_NET_END = -2,
	/** It broke, or was never made. */
	TLS_NET_BROKEN = -3,
};

/** NULL: no memory, or no IPv4 address. */
struct tls_net *tls_net_dial(const char *address, uint16_t port);
/** 0: connected; TLS_NET_AGAIN: not yet; TLS_NET_BROKEN. */
int tls_net_connected(struct tls_net *net);
/** How many bytes were taken, at least one, or why none. */
int tls_net_send(struct tls_net *net, const void *from, size_t count);
/** How many bytes came, at least one, or why none. A piece of 5 bytes or less comes whole, or not yet: it is a record's head. */
int tls_net_receive(struct tls_net *net, void *into, size_t count);
/** As `tls_net_receive` of all `count`, 5 at most, which stay. */
int tls_net_peek(struct tls_net *net, void *into, size_t count);
void tls_net_close(struct tls_net *net);

/** Starts the one task, once. False: no memory. */
bool tls_task_start(void (*run)(void));
/** Bytes of its stack that were never used; 0 before it was started. */
uint32_t tls_task_stack_left(void);
/** For the task: until it is woken, or so many ms have passed. A wake while it is awake counts. */
void tls_task_wait(uint32_t ms);
void tls_task_wake(void);
/** For a caller that must not go on: one ms. */
void tls_pause(void);
void tls_lock(void);
void tls_unlock(void);
/** Seconds of uptime. */
uint32_t tls_seconds(void);
/** Bytes of heap in one piece. */
size_t tls_largest_free(void);
/** Bytes of heap in all. */
size_t tls_free(void);

/** Has the engine call what `engine` says, later, in its own task. False: its queue is full. */
bool tls_post(void *engine);
/** Nothing refers to it any more. */
void tls_forget(void *engine);
