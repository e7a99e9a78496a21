/* A document as a page that needs nothing else: styles inside, light and dark as the reader's system
 * has it, no script, nothing fetched. Every text is escaped. All reports have this one style sheet. It
 * keeps everything within the width of a screen, of a phone and of a printed A4 page; web.reports
 * looks at every report in a browser at these widths.
 *
 * A table that is too wide, as on a phone, becomes a list: each row a small list of headings and
 * values. Orange is more, or for; blue is less, or against: the colours of the maps, here and on the
 * server's page. */
#include "report/canvas.h"
#include "report/report.h"

enum {
    COLUMNS_FEW = 4,    /* a table of up to 4 columns stays a table on a phone */
    COLUMNS_MANY = 15,  /* one of 15 or more becomes a list on printed paper too */
    COLUMNS_NAMED = 40, /* headings that a list shows */
    COLUMNS_MOST = 256,
};

static const char style[] =
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"DejaVu Sans\",sans-serif}"
    "main{max-width:72rem;margin:0 auto;padding:1.5rem 1rem 3rem}"
    "h1,h2,h3{line-height:1.25;overflow-wrap:anywhere}"
    "h1{font-size:1.6rem;margin:.5rem 0 1rem}"
    "h2{font-size:1.15rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;"
    "border-bottom:1px solid var(--line)}"
    "h3{font-size:1rem;margin:1.4rem 0 .4rem}"
    "p{margin:.6rem 0;max-width:48rem;overflow-wrap:anywhere}"
    ".lead{font-size:1.1rem}"
    ".quiet{color:var(--quiet);font-size:.875rem}"
    "ol{margin:.8rem 0;padding-left:2rem}"
    "li{margin:.5rem 0;max-width:56rem;overflow-wrap:anywhere}li p{margin:0;max-width:none}"
    "details{margin:1rem 0}"
    "summary{cursor:pointer;color:var(--s0);font-weight:600;padding:.3rem 0}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));"
    "gap:1rem 2rem;align-items:start}"
    "svg{max-width:100%;height:auto;display:block;margin:.6rem 0}"
    "pre{background:var(--shade);padding:.8rem 1rem;border-radius:.3rem;"
    "font:.8125rem/1.5 ui-monospace,\"DejaVu Sans Mono\",monospace;white-space:pre-wrap;"
    "overflow-wrap:anywhere}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1.2rem;margin:.8rem 0;"
    "font-size:.9375rem}"
    "dt{color:var(--quiet)}dd{margin:0;overflow-wrap:anywhere}"
    "@media(max-width:34rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}"
    /* tables; wide pictures are in a .scroll without one */
    ".scroll{overflow-x:auto;margin:.8rem 0}"
    ".scroll svg{max-width:none}"
    /* maps shrink to the page; on a phone not so far that their names cannot be read: then they scroll */
    "@media screen and (max-width:44rem){.map{overflow-x:auto}.map svg{min-width:var(--least)}}"
    ".table{container:rows/inline-size;margin:.8rem 0}"
    ".table.few{container-type:normal}"
    ".table.many{container-name:many}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9375rem}"
    "th,td{padding:.35rem .6rem;text-align:right;vertical-align:baseline;overflow-wrap:break-word}"
    "thead th{border-bottom:2px solid var(--ink);font-weight:600;vertical-align:bottom}"
    "tbody tr+tr>*{border-top:1px solid var(--line)}"
    "th:first-child,.words{text-align:left}"
    "th:first-child{padding-left:0}"
    "tbody th{font-weight:500;min-width:6rem;max-width:26rem;overflow-wrap:anywhere}"
    ".words{max-width:44rem}"
    "td:not(.words){white-space:nowrap}"
    ".aside>*{color:var(--quiet)}"
    "tr:not(.aside)+.aside>*{border-top:2px solid var(--line)}"
    "tbody .total>*{border-top:2px solid var(--ink);font-weight:700}"
    ".best{font-weight:700}"
    ".second{text-decoration:underline;text-underline-offset:.2em}"
    ".more::after,.less::after{font-size:.7em;margin-left:.4em}"
    ".more::after{content:\"\\25B2\";color:var(--s1)}"
    ".less::after{content:\"\\25BC\";color:var(--s0)}";

/* How rows become lists. Headings are properties of the table, see write_headings. */
static const char list_style[] =
    "table,tbody,tbody th{display:block;max-width:none}"
    "thead{display:none}"
    "tbody tr{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,9.5rem),1fr));"
    "gap:.1rem 1rem;padding:.5rem 0;break-inside:avoid}"
    "tbody th,.words{grid-column:1/-1}"
    "tbody tr+tr,tbody tr.total{border-top:1px solid var(--line)}"
    "tbody tr+tr>*,tbody .total>*,tr:not(.aside)+.aside>*{border-top:0}"
    "tbody th{padding:.1rem 0;font-weight:600}"
    "td,td:not(.words){display:flex;padding:.1rem 0;text-align:left;white-space:normal;"
    "overflow-wrap:anywhere;max-width:none}"
    "td::before{content:var(--h);flex:0 1 50%;padding-right:.6rem;color:var(--quiet);"
    "font-weight:400;overflow-wrap:normal}"
    ".words::before{flex-basis:25%}"
    "td:empty{display:none}";

/* Paper is white, and has no scroll bars. Rows and pictures stay whole where they can. */
static const char print_style[] =
    "@page{size:A4;margin:15mm}"
    ":root,body{font-size:10pt}main{max-width:none;padding:0}"
    "table{font-size:8.5pt}th,td{padding:.2rem .35rem}"
    "td:not(.words){white-space:normal}"
    ".scroll{overflow:visible}.scroll svg,svg{max-width:100%;max-height:240mm}"
    "details::details-content{content-visibility:visible;display:block}"
    "tr,li,svg,dt,dd{break-inside:avoid}h2,h3,summary{break-after:avoid}thead{display:table-header-"
    "group}"
    "p{orphans:3;widows:3;max-width:none}";

static void element(pr_writer *page, const char *before, const char *text, const char *after)
{
    pr_write(page, "%s", before);
    pr_write_escaped(page, text);
    pr_write(page, "%s\n", after);
}

static void begin_page(pr_writer *page, const char *title)
{
    pr_write(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                   "<meta name=\"color-scheme\" content=\"light dark\">\n");
    element(page, "<title>", title, "</title>");
    pr_write(page, "<style>:root{color-scheme:light dark;--line:#d9dee3;--shade:#f1f3f5;");
    pr_palette_css(page, false);
    pr_write(page, "}@media(prefers-color-scheme:dark){:root{--line:#343a41;--shade:#20252b;");
    pr_palette_css(page, true);
    pr_write(page, "}}%s", style);
    for (int i = 1; i <= COLUMNS_NAMED; i++)
        pr_write(page,
                 "td:nth-of-type(%d){--h:var(--h%d)}"
                 "table:has(.words:nth-of-type(%d)) thead th:nth-of-type(%d){text-align:left}",
                 i, i, i, i + 1);
    pr_write(page, "@container rows (max-width:36rem){%s}", list_style);
    pr_write(page, "@container many (max-width:60rem){%s}", list_style);
    pr_write(page, "@media print{:root{color-scheme:light;--line:#d9dee3;--shade:#f1f3f5;");
    pr_palette_css(page, false);
    pr_write(page, "}%s}</style>\n</head>\n<body>\n<main>\n", print_style);
    element(page, "<h1>", title, "</h1>\n<section>");
}

/* ---- tables ---- */

/* --h1:"before";--h2:"after": strings of CSS in an attribute of HTML, for cells of lists to show. */
static void write_headings(pr_writer *page, const char *const *headings, size_t count)
{
    for (size_t i = 1; i < count && i <= COLUMNS_NAMED; i++) {
        pr_write(page, "--h%zu:&quot;", i);
        for (const char *c = headings[i]; *c != '\0'; c++) {
            const char letter[2] = {(unsigned char)*c < ' ' ? ' ' : *c, '\0'};
            if (*c == '"' || *c == '\\')
                pr_write(page, "\\");
            pr_write_escaped(page, letter);
        }
        pr_write(page, "&quot;;");
    }
}

static void write_table(pr_writer *page, const pr_report *r, const pr_report_block *b)
{
    static const char *const row_begins[] = {
        [PR_ROW_PLAIN] = "<tr><th scope=\"row\">",
        [PR_ROW_ASIDE] = "<tr class=\"aside\"><th scope=\"row\">",
        [PR_ROW_TOTAL] = "<tr class=\"total\"><th scope=\"row\">",
    };
    static const char *const cell_begins[] = {
        [PR_PLAIN] = "<td>",
        [PR_BEST] = "<td class=\"best\">",
        [PR_SECOND] = "<td class=\"second\">",
        [PR_MORE] = "<td class=\"more\">",
        [PR_LESS] = "<td class=\"less\">",
    };
    const char *headings[COLUMNS_MOST];
    char buffer[PR_CELL_BYTES];
    size_t count = b->column_count < COLUMNS_MOST ? b->column_count : COLUMNS_MOST;
    for (size_t c = 0; c < count; c++)
        headings[c] = pr_report_string(r, r->columns[b->first_column + c].heading);
    pr_write(page, "<div class=\"table%s\"><table style=\"",
             count <= COLUMNS_FEW    ? " few"
             : count >= COLUMNS_MANY ? " many"
                                     : "");
    write_headings(page, headings, count);
    pr_write(page, "\">\n<thead><tr>");
    for (size_t c = 0; c < count; c++)
        element(page, "<th scope=\"col\">", headings[c], "</th>");
    pr_write(page, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < b->row_count; i++) {
        const pr_report_row_entry *row = &r->rows[b->first_row + i];
        const pr_report_cell_entry *cells = &r->cells[row->first_cell];
        element(page, row_begins[row->kind], pr_report_string(r, cells[0].text), "</th>");
        for (size_t c = 1; c < count; c++) {
            bool given = c < row->cell_count;
            bool words = r->columns[b->first_column + c].kind == PR_REPORT_WORDS;
            pr_emphasis emphasis = given ? cells[c].emphasis : PR_PLAIN;
            element(page,
                    words && emphasis == PR_PLAIN ? "<td class=\"words\">" : cell_begins[emphasis],
                    given ? pr_report_cell_text(r, b, c, &cells[c], buffer) : "", "</td>");
        }
        pr_write(page, "</tr>\n");
    }
    pr_write(page, "</tbody></table></div>\n");
}

/* ---- the document ---- */

/* What stands around the text of a block. */
static const char *const around[][2] = {
    [PR_REPORT_SECTION] = {"</section>\n<section>\n<h2>", "</h2>"},
    [PR_REPORT_HEADING] = {"<h3>", "</h3>"},
    [PR_REPORT_LEAD] = {"<p class=\"lead\">", "</p>"},
    [PR_REPORT_TEXT] = {"<p>", "</p>"},
    [PR_REPORT_NOTE] = {"<p class=\"quiet\">", "</p>"},
    [PR_REPORT_CODE] = {"<pre>", "</pre>"},
    [PR_REPORT_FOLD] = {"<details>\n<summary>", "</summary>"},
};

/* Facts and findings in a row are one list; ends it. */
static void end_list(pr_writer *page, pr_report_kind kind)
{
    if (kind == PR_REPORT_FACT || kind == PR_REPORT_FINDING)
        pr_write(page, kind == PR_REPORT_FACT ? "</dl>\n" : "</ol>\n");
}

void pr_report_write_html(pr_writer *page, const pr_report *r)
{
    pr_report_kind before = PR_REPORT_TITLE;
    for (size_t i = 0; i < r->block_count; i++) {
        const pr_report_block *b = &r->blocks[i];
        const char *text = pr_report_string(r, b->text);
        if ((b->formats & PR_IN_HTML) == 0)
            continue;
        if (before != b->kind)
            end_list(page, before);
        switch (b->kind) {
        case PR_REPORT_TITLE:
            begin_page(page, text);
            break;
        case PR_REPORT_FACT:
            pr_write(page, "%s", before != b->kind ? "<dl>\n" : "");
            element(page, "<dt>", text, "</dt>");
            element(page, "<dd>", pr_report_string(r, b->more), "</dd>");
            break;
        case PR_REPORT_FINDING:
            pr_write(page, "%s", before != b->kind ? "<ol>\n" : "");
            element(page, "<li>", text, "");
            element(page, "<p class=\"quiet\">", pr_report_string(r, b->more), "</p></li>");
            break;
        case PR_REPORT_TABLE:
            write_table(page, r, b);
            break;
        case PR_REPORT_CHART:
            pr_write(page, "%s", text);
            break;
        case PR_REPORT_FOLD_END:
            pr_write(page, "</details>\n");
            break;
        case PR_REPORT_GALLERY:
            pr_write(page, "<div class=\"gallery\">\n");
            break;
        case PR_REPORT_GALLERY_END:
            pr_write(page, "</div>\n");
            break;
        default:
            element(page, around[b->kind][0], text, around[b->kind][1]);
        }
        before = b->kind;
    }
    end_list(page, before);
    pr_write(page, "</section>\n</main>\n</body>\n</html>\n");
}
