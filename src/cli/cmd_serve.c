/* parsrec serve: recommendations over HTTP. */
#include "cli/commands.h"
#include "cli/terminal.h"
#include "serve/serve.h"

static const cli_option options[] = {
    CLI_TEXT(
        0, "listen", "HOST:PORT", serve_options, listen,
        "address to listen on; other than loopback needs --token-file; port 0 takes a free one"),
    CLI_ADDRESS("store", "URL", serve_options, store,
                "where events are stored: sqlite:FILE, postgresql://... or none (default: "
                "sqlite:MODEL.events)"),
    CLI_STORE_FILE(serve_options, store_path),
    CLI_TEXT(0, "token-file", "FILE", serve_options, token_path,
             "file whose first line is the token that clients must send, on every address"),
    CLI_TEXT(0, "tls-cert", "FILE", serve_options, tls_certificate, "certificate for HTTPS, PEM"),
    CLI_TEXT(0, "tls-key", "FILE", serve_options, tls_key, "its private key, PEM"),
    CLI_TEXT(0, "host", "NAME", serve_options, host,
             "host name of the server, in addition to its address and localhost"),
    CLI_TEXT(0, "access-log", "FILE", serve_options, access_log,
             "one line for each request; - is standard output"),
    CLI_FLAG(0, "log-targets", serve_options, log_targets,
             "log full paths, which may contain user ids; no queries"),
    CLI_FLAG(0, "no-quality", serve_options, no_quality,
             "do not evaluate the model in the background"),
    CLI_COUNT(0, "body-most", serve_options, body_most, 1024, 1 << 30,
              "largest body of a request, in bytes"),
    CLI_COUNT(0, "basket-most", serve_options, basket_most, 1, 100000, "largest basket"),
    CLI_COUNT(0, "k-most", serve_options, k_most, 1, 1000000, "largest k"),
    CLI_COUNT(0, "connections", serve_options, connections_most, 1, 1000000,
              "open connections; requests on further ones get 503"),
    CLI_DURATION(0, "request-time", serve_options, request_seconds,
                 "limit for a request to arrive, and for an idle connection"),
    CLI_DURATION(0, "work-time", serve_options, work_seconds,
                 "limit for an answer of relations or what-if"),
    CLI_DURATION(0, "stop-time", serve_options, stop_seconds,
                 "limit for requests to finish when the server stops"),
    CLI_THREADS(serve_options, threads),
    CLI_END,
};

const cli_command cli_serve = {
    .name = "serve",
    .summary = "recommendations, live events and a page over HTTP",
    .usage = "parsrec serve MODEL [DATA] [options]",
    .details =
        "Prints its address when it is ready. SIGHUP loads MODEL again, SIGTERM stops the server\n"
        "when all requests are answered. With DATA, users' earlier sessions are those in DATA.\n"
        "docs/serve.md and /openapi.json describe the protocol.\n",
    .examples = "  parsrec serve shop.model\n"
                "  parsrec serve shop.model --listen 0.0.0.0:8080 --token-file token.txt\n",
    .options = options,
    .least_words = 1,
    .most_words = 2,
};

int cmd_serve(int argc, char **argv)
{
    serve_options o = serve_default();
    parsrec_error err = {0};
    cli_words words;
    int rc = cli_parse(&cli_serve, &o, &words, argc, argv);
    if (rc != CLI_CONTINUE)
        return rc;
    o.model_path = words.word[0];
    o.data_path = words.count > 1 ? words.word[1] : NULL;
    return serve_run(&o, &err) == PARSREC_OK ? CLI_OK : cli_report("serve", &err);
}
