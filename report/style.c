/* The looks of the HTML page: CSS, one rule per line. */
#include "report/parts.h"

/* clang-format off */
/* Colours are named once, for light and for dark. --l is the lightness at which any hue reads on the page. */
static const char colours[] =
    ":root { color-scheme: light dark; --page: #fff; --ink: #16191d; --dim: #5d6670; --line: #dfe3e8;\n"
    "  --soft: #f3f5f7; --l: 42%;\n"
    "  --bar: #3f6fd8; --bar2: #a9bbdf; --good: #12805c; --bad: #c8313d; --luck: #a86500; --limit: #c8313d;\n"
    "  --nominal: #7d858e }\n"
    "@media (prefers-color-scheme: dark) { :root {\n"
    "  --page: #101317; --ink: #e8ebee; --dim: #9aa4ae; --line: #2b3138; --soft: #191d22; --l: 66%;\n"
    "  --bar: #6d97f2; --bar2: #46608f; --good: #4cc79b; --bad: #ff7a80; --luck: #f0b35a; --limit: #ff7a80;\n"
    "  --nominal: #8a939d } }\n";

static const char page[] =
    "* { box-sizing: border-box }\n"
    "body { margin: 0; background: var(--page); color: var(--ink);\n"
    "  font: 1rem/1.45 system-ui, -apple-system, 'Segoe UI', Roboto,\n"
    "  'Noto Sans', 'DejaVu Sans', sans-serif; font-variant-numeric: tabular-nums }\n"
    "main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem }\n"
    "h1 { font-size: 1.9rem; line-height: 1.15; margin: 0 }\n"
    "header p { margin: .4rem 0 0; color: var(--dim); font-size: 1.1rem }\n"
    "section { margin-top: 2.2rem }\n"
    "h2 { font-size: 1.25rem; margin: 0 0 .9rem }\n"
    "h2::first-letter { text-transform: uppercase }\n"
    ".warning { border-left: .25rem solid var(--luck); background: var(--soft); padding: .5rem .8rem;\n"
    "  margin: .8rem 0 0 }\n"
    "dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 0 }\n"
    "dt { color: var(--dim) }\n"
    "dd { margin: 0 }\n"
    "small, summary, figcaption, .title { color: var(--dim) }\n"
    "summary { margin-top: .8rem; cursor: pointer }\n"
    "figure { margin: 0 }\n"
    "figure + figure { margin-top: 1.6rem }\n"
    "figcaption { margin-bottom: .5rem }\n"
    "figcaption::first-letter { text-transform: uppercase }\n"
    ".tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem;\n"
    "  margin-bottom: 1.4rem }\n"
    ".tile { background: var(--soft); border-radius: .5rem; padding: .7rem 1rem }\n"
    ".tile strong { display: block; font-size: 1.9rem; line-height: 1.15; font-weight: 650 }\n"
    ".tile span { color: var(--dim) }\n"
    ".tile.good strong { color: var(--good) }\n"
    ".tile.bad strong { color: var(--bad) }\n";

static const char tables[] =
    ".scroll { overflow-x: auto; margin-top: 1rem }\n"
    "table { border-collapse: collapse; font-size: .9rem; min-width: 100% }\n"
    "th { color: var(--dim); font-weight: 600; vertical-align: bottom; border-bottom: 2px solid var(--line) }\n"
    "th, td { padding: .28rem .6rem; white-space: nowrap }\n"
    "th.wraps { white-space: normal; min-width: 9rem }\n"
    "td { border-bottom: 1px solid var(--line) }\n"
    "th:first-child, td:first-child { padding-left: 0 }\n"
    ".l { text-align: left }\n"
    ".r { text-align: right }\n"
    "td.verdict { white-space: normal; min-width: 12rem }\n"
    "tr.right .verdict { color: var(--good) }\n"
    "tr.wrong .verdict { color: var(--bad); font-weight: 650 }\n"
    "tr.lucky .verdict { color: var(--luck) }\n"
    "tr.not-run, tr.unchecked .verdict { color: var(--dim) }\n";

/* A row: name, bar and value of time, bar and value of bandwidth, ratio, result. Limits are lines in the track of bandwidth. */
static const char bars[] =
    ".row { display: grid; align-items: center; column-gap: .7rem; min-height: 1.75rem;\n"
    "  grid-template-columns: minmax(9rem, 17rem) 1fr 4.9rem 1.4fr 5rem 4.6rem 10.5rem;\n"
    "  grid-template-areas: 'name time seconds rate speed ratio verdict' }\n"
    ".row.begins { border-top: 1px solid var(--line); margin-top: .5rem; padding-top: .5rem }\n"
    ".label { grid-area: name; line-height: 1.15; padding: .2rem 0 }\n"
    ".time { grid-area: time }\n"
    ".rate { grid-area: rate }\n"
    ".value { text-align: right; white-space: nowrap }\n"
    ".value.time { grid-area: seconds; padding-right: .8rem }\n"
    ".value.rate { grid-area: speed }\n"
    ".ratio { grid-area: ratio; justify-self: end; white-space: nowrap }\n"
    ".ratio small { display: none }\n"
    ".row .verdict { grid-area: verdict; font-size: .88rem; white-space: nowrap }\n"
    ".head .verdict { font-size: 1rem }\n"
    ".row.right .verdict { color: var(--good) }\n"
    ".row.wrong .verdict { color: var(--bad); font-weight: 650 }\n"
    ".row.lucky .verdict { color: var(--luck) }\n"
    ".row.unchecked .verdict { color: var(--dim) }\n"
    ".track { position: relative; align-self: stretch }\n"
    ".track b { position: absolute; left: 0; top: calc(50% - .55rem); height: 1.1rem; min-width: 2px;\n"
    "  background: var(--bar);\n"
    "  border-radius: 0 3px 3px 0 }\n"
    ".track.time b { background: var(--bar2) }\n"
    ".row.wrong .track b { background: var(--bad) }\n"
    ".row.lucky .track b { background: var(--luck) }\n"
    ".row.wrong .label, .row.wrong .value { color: var(--bad) }\n"
    ".track i { position: absolute; top: 0; bottom: 0; width: 0; border-left: 1.5px dashed }\n"
    ".track i.limit { border-color: var(--limit) }\n"
    ".track i.nominal { border-color: var(--nominal) }\n"
    ".head { min-height: 1.35rem }\n"
    ".head em { position: absolute; top: 0; transform: translateX(-100%); white-space: nowrap; font-style: normal;\n"
    "  font-size: .82rem; padding-right: .35rem; border-right: 1.5px dashed }\n"
    ".head em.limit { color: var(--limit) }\n"
    ".head em.nominal { color: var(--nominal) }\n";

static const char dots[] =
    ".dotted .row { grid-template-columns: minmax(9rem, 14rem) 1fr 2.5rem; grid-template-areas: 'name time end' }\n"
    ".dotted .track { grid-area: time }\n"
    ".track i.grid { border-left: 1px solid var(--line) }\n"
    ".head em.decade { color: var(--dim); transform: translateX(-50%); border: 0; padding: 0 }\n"
    "i.ours, i.square, i.diamond, i.ring, i.slat { width: .72rem; height: .72rem; background: var(--page);\n"
    "  border: 2px solid hsl(var(--h) 62% var(--l)) }\n"
    ".track i.ours, .track i.square, .track i.diamond, .track i.ring, .track i.slat { top: 50%;\n"
    "  margin: -.36rem 0 0 -.36rem }\n"
    "i.diamond { transform: rotate(45deg) scale(.85) }\n"
    "i.ring, i.ours { border-radius: 50% }\n"
    "i.slat { width: .4rem }\n"
    "i.ours { border-color: var(--bar); background: var(--bar) }\n"
    ".legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; font-size: .88rem; margin: 1rem 0 0 }\n"
    ".legend i { display: inline-block; margin-right: .45rem; vertical-align: -.05rem }\n";

static const char curves[] =
    ".area { position: relative; height: max(23rem, var(--names) * 1.05rem); margin: .5rem 12rem 3.2rem 4.6rem }\n"
    ".area svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible }\n"
    ".area path { fill: none; stroke: hsl(var(--h) 62% var(--l)); vector-effect: non-scaling-stroke;\n"
    "  stroke-linejoin: round }\n"
    ".curve { stroke-width: 2 }\n"
    ".points { stroke-width: 6; stroke-linecap: round }\n"
    ".area g:hover .curve { stroke-width: 4 }\n"
    ".area:has(g:hover) g:not(:hover) { opacity: .2 }\n"
    ".y, .x { position: absolute; color: var(--dim); font-size: .82rem }\n"
    ".y { left: 0; right: 0; border-top: 1px solid var(--line) }\n"
    ".x { top: 0; bottom: 0; border-left: 1px solid var(--line) }\n"
    ".y em, .x em { position: absolute; font-style: normal; white-space: nowrap }\n"
    ".y em { right: calc(100% + .5rem); transform: translateY(-50%) }\n"
    ".x em { top: calc(100% + .35rem); transform: translateX(-50%) }\n"
    ".end { position: absolute; left: calc(100% + .7rem); transform: translateY(50%); white-space: nowrap;\n"
    "  font-size: .85rem;\n"
    "  line-height: 1; color: hsl(var(--h) 62% var(--l)) }\n"
    ".narrow { display: none }\n"
    ".narrow span { color: hsl(var(--h) 62% var(--l)) }\n";

/* On a phone every row takes three lines: name, time, bandwidth. */
static const char folding[] =
    "@media (max-width: 72rem) { .row { grid-template-columns: minmax(7rem, 11rem) 1fr 4.9rem 1.3fr 5rem 4.6rem 9.5rem } }\n"
    "@media (max-width: 56rem) { .row { grid-template-columns: minmax(7rem, 11rem) 1fr 4.9rem 1.3fr 5rem;\n"
    "  grid-template-areas: 'name time seconds rate speed' 'name ratio ratio verdict verdict' }\n"
    "  .row.head { grid-template-areas: 'name time seconds rate speed' }\n"
    "  .head .ratio, .head .verdict { display: none }\n"
    "  .ratio small { display: inline } }\n"
    "@media (max-width: 40rem) {\n"
    "  main { padding: 1rem .9rem 2rem }\n"
    "  h1 { font-size: 1.5rem }\n"
    "  .tiles { grid-template-columns: 1fr 1fr; gap: .5rem }\n"
    "  .tile { padding: .5rem .7rem }\n"
    "  .tile strong { font-size: 1.35rem }\n"
    "  .bars .row { grid-template-columns: 1fr 4.8rem; margin-bottom: .6rem;\n"
    "    grid-template-areas: 'name name' 'time seconds' 'rate speed' 'verdict ratio' }\n"
    "  .bars .track { min-height: 1.3rem }\n"
    "  .bars .track b { top: .2rem; height: .9rem }\n"
    "  .bars .value { font-size: .88rem; padding: 0 }\n"
    "  .bars .head { grid-template-areas: 'rate speed'; margin: 0 }\n"
    "  .bars .title { display: none }\n"
    "  .dotted .row { grid-template-columns: 1fr; grid-template-areas: 'name' 'time' }\n"
    "  .dotted .track { min-height: 1.1rem; margin: 0 .6rem }\n"
    "  .head em.decade:nth-child(even) { display: none }\n"
    "  .head em.decade:first-child { transform: translateX(-.6rem) }\n"
    "  .head em.decade:last-child { transform: translateX(calc(.6rem - 100%)) }\n"
    "  .area { margin-right: .4rem; margin-left: 4rem; height: 17rem }\n"
    "  .end, .x.odd em { display: none }\n"
    "  .narrow { display: flex }\n"
    "  dl { grid-template-columns: 1fr }\n"
    "  dd { margin-bottom: .4rem } }\n"
    "@media print { .row, tr, .tile { break-inside: avoid } }\n";
/* clang-format on */

void report_html_style(FILE *stream) {
    fputs(colours, stream);
    fputs(page, stream);
    fputs(tables, stream);
    fputs(bars, stream);
    fputs(dots, stream);
    fputs(curves, stream);
    fputs(folding, stream);
}
