/* parsrec help TOPIC: what several commands have in common, in a page each. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"

static const char models[] =
    "The kinds of model that train, eval and compare know (--model KIND):\n"
    "\n"
    "trained\n"
    "  parsrec   the default: attention over the basket, past sessions, counts of the customer's "
    "own\n"
    "            purchases and pairs, weighed at the end so that it does not fall below the "
    "counts\n"
    "  sasrec    self-attention over everything that the customer bought, in order\n"
    "  tisasrec  the same, attention knowing how much time lies between two items\n"
    "  bert4rec  the same in both directions, trained to fill gaps\n"
    "  gru4rec   a recurrent network over the session\n"
    "  narm      the same with attention to earlier items of the session\n"
    "  stamp     attention with weight on the last item of the session\n"
    "  caser     convolutions over the last items, with a row per user\n"
    "  dream     a recurrent network over whole baskets\n"
    "  bpr       matrix factorisation by pairs of items\n"
    "  fpmc      the same and factors of the step from one basket to the next\n"
    "  ncf       factors and a network over customer and item (NeuMF)\n"
    "  hrm       customer and last basket, pooled into one vector\n"
    "  transrec  the next item is a step of the customer away from the last one\n"
    "\n"
    "counted, in seconds\n"
    "  pop       what everybody buys\n"
    "  personal  what this customer bought most often\n"
    "  recent    the same, old sessions fading\n"
    "  markov    what goes with the open basket and follows the last one\n"
    "  mix       seven such counts, weighed on validation sessions\n"
    "  tifuknn, upcf, pernir   the customer's and similar customers' purchases\n"
    "  sknn, vsknn             sessions that share items with the open one\n"
    "  rules, seqrules         association rules, without and with order\n"
    "  itemknn, ease           items that the same customers bought\n"
    "  random                  numbers by chance, the floor\n"
    "  oracle                  the truth of synthetic data, the ceiling\n"
    "\n"
    "compare --models also takes groups: field (all of them), counts, neighbours, sequence, "
    "basket.\n"
    "Which one is best on your data:\n"
    "\n"
    "  parsrec compare shop.data --models pop,personal,markov,parsrec -o comparison\n"
    "\n"
    "More: docs/models.md.\n";

static const char data[] =
    "import takes tables with one row per purchase: CSV or TSV (also .gz and .zst), Parquet, "
    "SQLite,\n"
    "PostgreSQL, or the answer to a query. It looks for these columns, in any order and letter "
    "case:\n"
    "\n"
    "  user      who bought: user, customer, household, client, member, account, ...\n"
    "  item      what: item, product, sku, ean, article, stockcode, ...\n"
    "  session   which basket: session, order, receipt, basket, invoice, transaction, ...\n"
    "  time      when: time, date, timestamp, invoice_date, ...\n"
    "  quantity  how many: quantity, qty, units, ...; rows with 0 or less are returns, left out\n"
    "\n"
    "--user, --item, --session and --time name them when the headings say something else. Without "
    "a\n"
    "session column every row is a basket of one item, unless --session-by day or --session-gap "
    "30m\n"
    "makes baskets from the times.\n"
    "Times are ISO 8601 dates or Unix seconds. --time-format describes any other form: a pattern "
    "such\n"
    "as '%d.%m.%Y %H:%M', or ms for milliseconds, excel for Excel days.\n"
    "A second table, --items FILE, gives items names, categories and features. A tree of "
    "categories is\n"
    "one column with paths such as FOOD > BAKERY, or columns such as department and aisle, which\n"
    "import puts in order from broad to narrow. From Excel: save the sheet as CSV (UTF-8).\n"
    "\n"
    "  parsrec import -o shop.data orders.csv --items products.csv\n"
    "\n"
    "More: parsrec help import, docs/import.md, docs/tour.md.\n";

static const char evaluation[] =
    "eval and compare hide sessions from a model and ask it about them. --protocol is the "
    "question:\n"
    "\n"
    "  remaining  the basket is filled item by item; any item still missing from it is a right "
    "answer\n"
    "             (the paper's protocol)\n"
    "  next       one item at a time, in the order of the basket; this one item is the right "
    "answer\n"
    "  basket     one list before the basket is begun, compared with all of it\n"
    "\n"
    "--split says which sessions: test, the last one of each user, or valid, the one before. The "
    "right\n"
    "items are ranked among 100 others drawn by chance, or with --full among all items.\n"
    "\n"
    "  HR@k      share of questions with a right answer among the first k\n"
    "  NDCG@k    the same with more for a higher place: 1 / log2(place + 1)\n"
    "  MRR@k     mean of 1 / place, 0 below place k\n"
    "  Recall@k  share of the right items that are among the first k\n"
    "\n"
    "Intervals hold 95 %, by resampling users. A difference between two models is tested on the "
    "same\n"
    "questions. More: docs/evaluation.md.\n";

static const char explanations[] =
    "explain draws maps of items or categories: rows are what is bought next, columns what is in "
    "the\n"
    "basket. --map is the measure:\n"
    "\n"
    "  drop       how much more likely the row is with the column in the basket than without it\n"
    "  attention  how much the network looks at the column when it predicts the row\n"
    "  lift       how many times as often both are bought together as by chance, counted in the "
    "data\n"
    "  embedding  how alike the model's embeddings of both are, the same for all users\n"
    "\n"
    "--group says for whom: everybody, user:KEY, FEATURE=VALUE, buyers:CATEGORY, cluster:N. Two "
    "groups\n"
    "are drawn side by side, with their difference.\n"
    "recommend --explain gives the reasons for one answer; whatif takes items or categories off "
    "the\n"
    "shelf and lets the model fill the baskets again. More: docs/explanations.md, "
    "docs/whatif.md.\n";

static const char environment[] =
    "Variables that parsrec reads:\n"
    "\n"
    "  PARSREC_PROGRESS   off: no progress on standard error; all: every report of it\n"
    "  PARSREC_BLAS       the library for matrix products; OpenBLAS or BLIS if not set\n"
    "  PARSREC_DUCKDB     the library that reads Parquet (libduckdb.so)\n"
    "  PARSREC_LIBPQ, PARSREC_CAIRO   the libraries for PostgreSQL and for PNG pictures\n"
    "  PARSREC_MPI        the plug-in for training in several processes (libparsrec-mpi.so)\n"
    "  PARSREC_DIVIDE     always: these divide the rows of users however few there are\n"
    "  PGPASSWORD, PGPASSFILE   the password of a PostgreSQL store\n"
    "  TMPDIR             where import sorts what does not fit in memory\n"
    "  OPENBLAS_CORETYPE  which kernels OpenBLAS uses\n"
    "\n"
    "parsrec doctor shows what was found on this machine.\n";

static const char files[] =
    "Files that parsrec writes. Each is written under another name first, so that it is there as a "
    "whole\n"
    "or not at all, and has a checksum that is verified whenever it is read (parsrec check FILE).\n"
    "\n"
    "  data set     users, items, categories and sessions; by import and synth\n"
    "  MODEL        weights, settings and the names of users and items; by train\n"
    "  MODEL.log    one JSON object per line: settings, epochs, result\n"
    "  MODEL.png, MODEL.svg   learning curves\n"
    "  MODEL.ckpt   a checkpoint, while training runs; train --resume MODEL.ckpt continues it\n"
    "  MODEL.histories  what the events of a store add to the past of users; by fold-events\n"
    "\n"
    "Data sets and models are safetensors files: any reader of that format sees their tables.\n"
    "More: docs/format.md.\n";

const cli_topic cli_topics[] = {
    {"models", "the kinds of model and what each looks at", models},
    {"data", "what tables import understands", data},
    {"evaluation", "protocols and measures", evaluation},
    {"explanations", "maps and groups", explanations},
    {"files", "what is written where", files},
    {"environment", "variables that are read", environment},
    {NULL, NULL, NULL},
};

const cli_topic *cli_topic_named(const char *name)
{
    for (const cli_topic *t = cli_topics; t->name != NULL; t++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}
