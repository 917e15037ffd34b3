// native/tls on Linux, for native-tls.slow.test.ts: one command, and a line about each connection.
#include "harness.h"
#include "esp_crt_bundle.h"
#include "mote_tls_sessions.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LATE_S 20
#define FILL_MS 50

struct engine {
	struct mote_tls_connection *connection;
	bool opened;
	size_t written, read;
	char reason[100];
};

static const char *name, *ask;
static int port;
static struct mote_tls_authorities authorities;
/** The connection is given up before this step of its own; 0: never. */
static int cancel_at, steps;
/** Handshakes under way, now and at most. */
static int shaking, most_shaking;
/** Bytes from TCP in one step, at most. */
static size_t most_received;
/** Of the last connection that was opened or refused. */
static struct mote_tls_validity validity;
/** Before each step TCP has time to bring more than a step takes. */
static bool patient;
/** How often TCP refuses the rest of a record behind a ticket; -1: it takes all. */
static int block_times = -1;
/** This allocation fails; 0: none does. */
static long fail_at, allocations;

static const struct mote_tls_engine callbacks = {.post = harness_post, .forget = free};

bool __real_mote_tls_connection_step(struct mote_tls_connection *connection);
bool __wrap_mote_tls_connection_step(struct mote_tls_connection *connection)
{
	if (++steps == cancel_at)
		mote_tls_close(connection);
	enum mote_tls_phase before = connection->phase;
	harness_received();
	if (patient && before == MOTE_TLS_PHASE_OPEN)
		usleep(FILL_MS * 1000);
	bool more = __real_mote_tls_connection_step(connection);
	size_t received = harness_received();
	if (received > most_received)
		most_received = received;
	if (block_times >= 0 && before == MOTE_TLS_PHASE_HANDSHAKE && connection->phase == MOTE_TLS_PHASE_OPEN)
		harness_block(block_times);
	shaking += (connection->phase == MOTE_TLS_PHASE_HANDSHAKE) - (before == MOTE_TLS_PHASE_HANDSHAKE);
	if (shaking > most_shaking)
		most_shaking = shaking;
	return more;
}

static bool fails(void) { return fail_at && __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST) == fail_at; }

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
	for (size_t count; (count = mote_tls_read(engine->connection, bytes, sizeof bytes)) > 0;)
		engine->read += count;
}

/** Of one message. */
static bool handle(struct engine *engine)
{
	const char *reason;
	struct mote_tls_connection *connection = engine->connection;
	int events = mote_tls_take_events(connection, &reason);
	if (events & (MOTE_TLS_OPENED | MOTE_TLS_CLOSED))
		validity = connection->validity;
	if (events & MOTE_TLS_OPENED)
		engine->opened = true;
	if (events & (MOTE_TLS_OPENED | MOTE_TLS_WRITABLE))
		engine->written += mote_tls_write(connection, (const uint8_t *)ask + engine->written, strlen(ask) - engine->written);
	if (events & (MOTE_TLS_READABLE | MOTE_TLS_CLOSED))
		take(engine);
	if (events & MOTE_TLS_CLOSED)
		snprintf(engine->reason, sizeof engine->reason, "%s", reason);
	mote_tls_task_wake();
	return (events & MOTE_TLS_CLOSED) != 0;
}

/** "opened COUNT REASON", or why not. True if it was opened. */
static bool visit(bool say)
{
	struct engine *engine = __real_calloc(1, sizeof *engine);
	esp_err_t error = mote_tls_open("127.0.0.1", port, name, &authorities, &callbacks, engine, &engine->connection);
	if (error != ESP_OK) {
		if (say)
			printf("refused %d\n", error);
		free(engine);
		return false;
	}
	struct mote_tls_connection *connection = engine->connection;
	uint32_t began = mote_tls_seconds();
	bool over = false;
	while (!over && !connection->closed && mote_tls_seconds() - began < LATE_S) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		bool ended = handle(of);
		if (of == engine)
			over = ended;
		mote_tls_release(of->connection);
	}
	bool opened = engine->opened;
	if (say)
		printf("%s%zu %s\n", opened ? "opened " : "", engine->read, over ? engine->reason : connection->closed ? "cancelled" : "late");
	if (!over && !connection->closed) {
		printf("late after %ld allocations\n", allocations);
		exit(1);
	}
	mote_tls_close(connection);
	mote_tls_release(connection);
	return opened;
}

/** The task has let go of all. */
static void settle(void)
{
	struct mote_tls_figures figures;
	for (uint32_t began = mote_tls_seconds(); mote_tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(2);
		if (of) {
			handle(of);
			mote_tls_release(of->connection);
			continue;
		}
		mote_tls_get_figures(&figures);
		if (figures.connections == 0 && harness_nets() == 0)
			return;
	}
	printf("not settled\n");
	exit(1);
}

/** Until the answer of `engine` was read. */
static void answered(struct engine *engine)
{
	for (uint32_t began = mote_tls_seconds(); engine->read == 0 && mote_tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		handle(of);
		mote_tls_release(of->connection);
	}
	// Its task is done with it, and it took in what came behind the answer.
	usleep(FILL_MS * 1000);
}

/** Bytes per connection of `count` that stay open after an answer. The first is not counted. */
static void rest(int count)
{
	struct mote_tls_connection *all[MOTE_TLS_MOST];
	long before = 0;
	for (int i = 0; i < count; i++) {
		struct engine *engine = __real_calloc(1, sizeof *engine);
		mote_tls_open("127.0.0.1", port, name, &authorities, &callbacks, engine, &engine->connection);
		all[i] = engine->connection;
		answered(engine);
		if (engine->read == 0)
			exit(1);
		if (i == 0)
			before = allocated();
	}
	printf("%ld bytes each\n", (allocated() - before) / (count - 1));
	for (int i = 0; i < count; i++) {
		mote_tls_close(all[i]);
		mote_tls_release(all[i]);
	}
	settle();
}

/** As many at once as there may be, until `enough` of them were answered to their end. */
static void crowd(int enough)
{
	struct mote_tls_connection *all[MOTE_TLS_MOST];
	int done = 0;
	for (int i = 0; i < MOTE_TLS_MOST; i++) {
		struct engine *engine = __real_calloc(1, sizeof *engine);
		mote_tls_open("127.0.0.1", port, name, &authorities, &callbacks, engine, &engine->connection);
		all[i] = engine->connection;
	}
	for (uint32_t began = mote_tls_seconds(); done < enough && mote_tls_seconds() - began < LATE_S;) {
		struct engine *of = harness_message(5);
		if (!of)
			continue;
		if (handle(of) && of->read > 0)
			done++;
		mote_tls_release(of->connection);
	}
	for (int i = 0; i < MOTE_TLS_MOST; i++) {
		mote_tls_close(all[i]);
		mote_tls_release(all[i]);
	}
	settle();
	printf("%d answered, %d handshakes at once\n", done, most_shaking);
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
	struct mote_tls_figures figures;
	mote_tls_get_figures(&figures);
	printf("%d opened, %u full, %u resumed, drift %ld\n", count, figures.full, figures.resumed, allocated() - before);
}

/** At each step of a connection, until one comes to its end. */
static void cancels(bool fresh)
{
	int cancelled = 0;
	for (int at = 1;; at++) {
		if (fresh)
			mote_tls_sessions_clear();
		steps = 0;
		cancel_at = at;
		bool opened = visit(false);
		bool reached = steps >= cancel_at;
		cancel_at = 0;
		settle();
		if (!reached && opened)
			break;
		cancelled++;
	}
	printf("%d cancelled, then %s\n", cancelled, visit(false) ? "opened" : "not opened");
	settle();
}

/** Fails each allocation of a connection in turn, or every `step`th, until none is left. */
static void lacks_memory(int step)
{
	int starved = 0, survived = 0;
	for (long at = 1;; at += step) {
		mote_tls_sessions_clear();
		allocations = 0;
		fail_at = at;
		bool opened = visit(false);
		bool reached = allocations >= fail_at;
		fail_at = 0;
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

/** COMMAND COUNT NAME PORT ASK CA...; no CA: the bundle in the file BUNDLE */
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
	authorities = (struct mote_tls_authorities){.count = argc - 6, .bytes = bytes, .lengths = lengths};
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
		printf("received %zu in a step\n", most_received);
	} else if (!strcmp(argv[1], "blocked")) {
		block_times = count;
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
		lacks_memory(count);
	struct mote_tls_figures figures;
	mote_tls_get_figures(&figures);
	printf("full %u resumed %u failed %u\n", figures.full, figures.resumed, figures.failed);
	mote_tls_sessions_clear();
	for (int i = 6; i < argc; i++)
		free((void *)bytes[i - 6]);
	free(bundle);
	mbedtls_psa_crypto_free();
	return 0;
}
