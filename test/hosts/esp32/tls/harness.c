// native/tls on Linux, for native-tls.slow.test.ts: one command, and a line about each connection.
#include "harness.h"
#include "esp_crt_bundle.h"
#include "tls_sessions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_S 20
#define FILL_MS 50

struct engine {
	struct tls_connection *connection;
	bool opened;
	size_t written, read;
	char reason[100];
};

static const char *name, *ask;
static int port;
static struct tls_authorities authorities;
/** The connection is given up before this step of its own; 0: never. */
static int cancelAt, steps;
/** Handshakes under way, now and at most. */
static int shaking, mostShaking;
/** Bytes from TCP in one step, at most. */
static size_t mostReceived;
/** Of the last connection that was opened or refused. */
static struct tls_validity validity;
/** Before each step TCP has time to bring more than a step takes. */
static bool patient;
/** How often TCP refuses the rest of a record behind a ticket; -1: it takes all. */
static int blockTimes = -1;
/** This allocation fails; 0: none does. */
static long failAt, allocations;

void tls_forget(void *engine) { free(engine); }

bool __real_tls_connection_step(struct tls_connection *connection);
bool __wrap_tls_connection_step(struct tls_connection *connection)
{
	if (++steps == cancelAt)
		tls_close(connection);
	enum tls_phase before = connection->phase;
	harness_received();
	if (patient && before == TLS_PHASE_OPEN)
		usleep(FILL_MS * 1000);
	bool more = __real_tls_connection_step(connection);
	size_t received = harness_received();
	if (received > mostReceived)
		mostReceived = received;
	if (blockTimes >= 0 && before == TLS_PHASE_SHAKING && connection->phase == TLS_PHASE_OPEN)
		harness_block(blockTimes);
	shaking += (connection->phase == TLS_PHASE_SHAKING) - (before == TLS_PHASE_SHAKING);
	if (shaking > mostShaking)
		mostShaking = shaking;
	return more;
}

static bool fails(void) { return failAt && __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST) == failAt; }

/** The sanitizer has its own heap: mallinfo2 knows nothing of it. */
size_t __sanitizer_get_current_allocated_bytes(void);
static long allocated(void) { return (long)__sanitizer_get_current_allocated_bytes(); }

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size) { return fails() ? NULL : __real_malloc(size); }
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) { return fails() ? NULL : __real_calloc(count, size); }
char *__real_strdup(const char *text);
char *__wrap_strdup(const char *text) { return fails() ? NULL : __real_strdup(text); }

static void take(struct engine *engine)
{
	uint8_t bytes[700];
	for (size_t count; (count = tls_read(engine->connection, bytes, sizeof bytes)) > 0;)
		engine->read += count;
}

/** Of one message. */
static bool handle(struct engine *engine)
{
	const char *reason;
	struct tls_connection *connection = engine->connection;
	int events = tls_take_events(connection, &reason);
	if (events & (TLS_OPENED | TLS_CLOSED))
		validity = connection->validity;
	if (events & TLS_OPENED)
		engine->opened = true;
	if (events & (TLS_OPENED | TLS_WRITABLE))
		engine->written += tls_write(connection, (const uint8_t *)ask + engine->written, strlen(ask) - engine->written);
	if (events & (TLS_READABLE | TLS_CLOSED))
		take(engine);
	if (events & TLS_CLOSED)
		snprintf(engine->reason, sizeof engine->reason, "%s", reason);
	tls_task_wake();
	return (events & TLS_CLOSED) != 0;
}

/** "opened COUNT REASON", or why not. True if it was opened. */
static bool visit(bool say)
{
	const char *why;
	struct engine *engine = __real_calloc(1, sizeof *engine);
	struct tls_connection *connection = engine->connection = tls_open("127.0.0.1", port, name, &authorities, engine, &why);
	if (!connection) {
		if (say)
			printf("refused %s\n", why);
		free(engine);
		return false;
	}
	uint32_t began = tls_seconds();
	bool over = false;
	while (!over && !connection->closed && tls_seconds() - began < LATE_S) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		bool ended = handle(of);
		if (of == engine)
			over = ended;
		tls_release(of->connection);
	}
	bool opened = engine->opened;
	if (say)
		printf("%s%zu %s\n", opened ? "opened " : "", engine->read, over ? engine->reason : connection->closed ? "cancelled" : "late");
	if (!over && !connection->closed) {
		printf("late after %ld allocations\n", allocations);
		exit(1);
	}
	tls_close(connection);
	tls_release(connection);
	return opened;
}

/** The task has let go of all. */
static void settle(void)
{
	struct tls_figures figures;
	for (uint32_t began = tls_seconds(); tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(2);
		if (of) {
			handle(of);
			tls_release(of->connection);
			continue;
		}
		tls_figures(&figures);
		if (figures.connections == 0 && harness_nets() == 0)
			return;
	}
	printf("not settled\n");
	exit(1);
}

/** Until the answer of `engine` was read. */
static void answered(struct engine *engine)
{
	for (uint32_t began = tls_seconds(); engine->read == 0 && tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		handle(of);
		tls_release(of->connection);
	}
	// Its task is done with it, and it took in what came behind the answer.
	usleep(FILL_MS * 1000);
}

/** What each of `count` connections takes that was answered and is kept open; the first one's session goes on. */
static void rest(int count)
{
	const char *why;
	struct tls_connection *all[TLS_MOST];
	long before = 0;
	for (int i = 0; i < count; i++) {
		struct engine *engine = __real_calloc(1, sizeof *engine);
		all[i] = engine->connection = tls_open("127.0.0.1", port, name, &authorities, engine, &why);
		answered(engine);
		if (engine->read == 0)
			exit(1);
		if (i == 0)
			before = allocated();
	}
	printf("%ld bytes each\n", (allocated() - before) / (count - 1));
	for (int i = 0; i < count; i++) {
		tls_close(all[i]);
		tls_release(all[i]);
	}
	settle();
}

/** As many at once as there may be, until `enough` of them were answered to their end. */
static void crowd(int enough)
{
	const char *why;
	struct tls_connection *all[TLS_MOST];
	int done = 0;
	for (int i = 0; i < TLS_MOST; i++) {
		struct engine *engine = __real_calloc(1, sizeof *engine);
		all[i] = engine->connection = tls_open("127.0.0.1", port, name, &authorities, engine, &why);
	}
	for (uint32_t began = tls_seconds(); done < enough && tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		if (handle(of) && of->read > 0)
			done++;
		tls_release(of->connection);
	}
	for (int i = 0; i < TLS_MOST; i++) {
		tls_close(all[i]);
		tls_release(all[i]);
	}
	settle();
	printf("%d answered, %d handshakes at once\n", done, mostShaking);
}

static void many(int count)
{
	long before = 0;
	for (int i = 0; i < count; i++) {
		if (!visit(false)) {
			printf("visit %d failed\n", i);
			exit(1);
		}
		settle();
		if (i == 20)
			before = allocated();
	}
	struct tls_figures figures;
	tls_figures(&figures);
	printf("%d opened, %u full, %u resumed, drift %ld\n", count, figures.full, figures.resumed, allocated() - before);
}

/** At each step of a connection, until one comes to its end. */
static void cancels(bool fresh)
{
	int cancelled = 0;
	for (int at = 1;; at++) {
		if (fresh)
			tls_sessions_clear();
		steps = 0;
		cancelAt = at;
		bool opened = visit(false);
		bool reached = steps >= cancelAt;
		cancelAt = 0;
		settle();
		if (!reached && opened)
			break;
		cancelled++;
	}
	printf("%d cancelled, then %s\n", cancelled, visit(false) ? "opened" : "not opened");
	settle();
}

/** Each allocation of a connection in turn, or every so many, until one has all that it asks for. */
static void starves(int step)
{
	int starved = 0, survived = 0;
	for (long at = 1;; at += step) {
		tls_sessions_clear();
		allocations = 0;
		failAt = at;
		bool opened = visit(false);
		bool reached = allocations >= failAt;
		failAt = 0;
		settle();
		if (!reached)
			break;
		if (opened)
			survived++;
		starved++;
	}
	printf("%d allocations failed, %d opened all the same, then %s\n", starved, survived, visit(false) ? "opened" : "not opened");
	settle();
}

static void *file(const char *path, size_t *length)
{
	FILE *from = fopen(path, "rb");
	uint8_t *bytes = __real_malloc(65536);
	*length = from ? fread(bytes, 1, 65536, from) : 0;
	if (from)
		fclose(from);
	return bytes;
}

/** The bundle of the image, which has nothing in it here. */
__asm__(".pushsection .rodata\n"
	".globl _binary_x509_crt_bundle_start, _binary_x509_crt_bundle_end\n"
	"_binary_x509_crt_bundle_start: _binary_x509_crt_bundle_end: .byte 0\n"
	".popsection");

/** COMMAND COUNT NAME PORT ASK CA...; a CA of no bytes stands for the bundle in the file BUNDLE */
int main(int argc, char **argv)
{
	static const uint8_t *bytes[16];
	static size_t lengths[16];
	psa_crypto_init();
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 5 && !strcmp(argv[1], "rogue"))
		rogue(argv[2], argv[3], argv[4]);
	if (argc < 6)
		return 2;
	size_t bundled = 0;
	uint8_t *bundle = getenv("BUNDLE") ? file(getenv("BUNDLE"), &bundled) : NULL;
	if (bundle && esp_crt_bundle_set(bundle, bundled))
		return 3;
	int count = atoi(argv[2]);
	name = argv[3];
	port = atoi(argv[4]);
	ask = argv[5];
	authorities = (struct tls_authorities){.count = argc - 6, .bytes = bytes, .lengths = lengths};
	for (int i = 6; i < argc; i++)
		bytes[i - 6] = file(argv[i], &lengths[i - 6]);
	if (!strcmp(argv[1], "visit"))
		for (int i = 0; i < count; i++) {
			visit(true);
			settle();
		}
	else if (!strcmp(argv[1], "dates")) {
		visit(true);
		settle();
		printf("%u %u\n", validity.from, validity.to);
	} else if (!strcmp(argv[1], "flood")) {
		patient = true;
		visit(true);
		settle();
		printf("received %zu in a step\n", mostReceived);
	} else if (!strcmp(argv[1], "blocked")) {
		blockTimes = count;
		visit(true);
		settle();
	} else if (!strcmp(argv[1], "many"))
		many(count);
	else if (!strcmp(argv[1], "cancel"))
		cancels(count == 1);
	else if (!strcmp(argv[1], "crowd"))
		crowd(count);
	else if (!strcmp(argv[1], "rest"))
		rest(count);
	else if (!strcmp(argv[1], "starve"))
		starves(count);
	struct tls_figures figures;
	tls_figures(&figures);
	printf("full %u resumed %u failed %u\n", figures.full, figures.resumed, figures.failed);
	tls_sessions_clear();
	for (int i = 6; i < argc; i++)
		free((void *)bytes[i - 6]);
	free(bundle);
	mbedtls_psa_crypto_free();
	return 0;
}
