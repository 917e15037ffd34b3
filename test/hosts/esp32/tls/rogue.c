// A server with a good certificate that says what no good server says, once the handshake is over.
#include "harness.h"
#include "ssl_misc.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/** Some 2 MB. */
#define WARNINGS 100000

static int send_to(void *context, const unsigned char *from, size_t count)
{
	ssize_t sent = send(*(int *)context, from, count, MSG_NOSIGNAL);
	return sent > 0 ? (int)sent : MBEDTLS_ERR_SSL_CONN_EOF;
}

static int receive_from(void *context, unsigned char *into, size_t count)
{
	ssize_t received = recv(*(int *)context, into, count, 0);
	return received > 0 ? (int)received : MBEDTLS_ERR_SSL_CONN_EOF;
}

/** A record of its own for each piece of a message. */
static void piece(mbedtls_ssl_context *ssl, const uint8_t *head, size_t count)
{
	ssl->out_msgtype = MBEDTLS_SSL_MSG_HANDSHAKE;
	ssl->out_msglen = count;
	memset(ssl->out_msg, 1, count);
	memcpy(ssl->out_msg, head, 4);
	if (mbedtls_ssl_write_record(ssl, 1) != 0)
		fprintf(stderr, "a piece was not sent\n");
}

/** Warnings that mean nothing, and then a word. */
static void warn(mbedtls_ssl_context *ssl)
{
	for (int i = 0; i < WARNINGS; i++) {
		ssl->out_msgtype = MBEDTLS_SSL_MSG_ALERT;
		ssl->out_msglen = 2;
		ssl->out_msg[0] = MBEDTLS_SSL_ALERT_LEVEL_WARNING;
		ssl->out_msg[1] = MBEDTLS_SSL_ALERT_MSG_USER_CANCELED;
		if (mbedtls_ssl_write_record(ssl, 1) != 0)
			return;
	}
	mbedtls_ssl_write(ssl, (const uint8_t *)"heard.", 6);
	mbedtls_ssl_close_notify(ssl);
}

static void attack(mbedtls_ssl_context *ssl, int socket, const char *kind)
{
	static const uint8_t ticket[4] = {4, 0, 0x20, 0}, longest[8] = {23, 3, 3, 255, 255};
	if (!strcmp(kind, "pieces")) {
		piece(ssl, ticket, 4);
		for (int i = 0; i < 3; i++)
			piece(ssl, ticket, 2000);
	}
	else if (!strcmp(kind, "warnings"))
		warn(ssl);
	else if (!strcmp(kind, "longest"))
		send(socket, longest, sizeof longest, MSG_NOSIGNAL);
}

/** Prints its port, and serves until it is killed. */
void rogue(const char *kind, const char *cert, const char *key)
{
	static mbedtls_ssl_config config;
	static mbedtls_x509_crt certificate;
	static mbedtls_pk_context secret;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof at;
	uint8_t heard[100];
	int listening = socket(AF_INET, SOCK_STREAM, 0);
	mbedtls_ssl_config_init(&config);
	mbedtls_x509_crt_init(&certificate);
	mbedtls_pk_init(&secret);
	if (bind(listening, (struct sockaddr *)&at, length) || listen(listening, 5) || getsockname(listening, (struct sockaddr *)&at, &length) ||
		mbedtls_x509_crt_parse_file(&certificate, cert) || mbedtls_pk_parse_keyfile(&secret, key, NULL))
		return;
	mbedtls_ssl_config_defaults(&config, MBEDTLS_SSL_IS_SERVER, MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
	mbedtls_ssl_conf_own_cert(&config, &certificate, &secret);
	printf("%d\n", ntohs(at.sin_port));
	for (int socket; (socket = accept(listening, NULL, NULL)) >= 0; close(socket)) {
		mbedtls_ssl_context ssl;
		mbedtls_ssl_init(&ssl);
		mbedtls_ssl_setup(&ssl, &config);
		mbedtls_ssl_set_bio(&ssl, &socket, send_to, receive_from, NULL);
		if (0 == mbedtls_ssl_handshake(&ssl) && mbedtls_ssl_read(&ssl, heard, sizeof heard) > 0)
			attack(&ssl, socket, kind);
		while (recv(socket, heard, sizeof heard, 0) > 0)
			;
		mbedtls_ssl_free(&ssl);
	}
}
