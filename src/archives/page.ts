import { type Html, html, toText, type Value } from '../html/html.ts'

// Pages of an archive, opened from disk: self-contained, without scripts.

export type ArchivePage = { title: string; intro: Html; back?: string; body: Html }

/** Renders the page's HTML. */
export const toFile = ({ title, intro, back, body }: ArchivePage): string =>
  toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; media-src 'self' file:; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'">
<title>${title}</title>
<style>
:root { color-scheme: light dark; --line: light-dark(#d9dce1, #3a3f47); --soft: light-dark(#f4f5f7, #1d2127); --quiet: light-dark(#5a626e, #a5adb8); }
* { box-sizing: border-box; }
body { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; font: 1rem/1.5 system-ui, sans-serif; color: light-dark(#1c2026, #e8eaed); background: light-dark(#fff, #14171b); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; }
a { color: light-dark(#0b57b5, #8ab8ff); }
.quiet { color: var(--quiet); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .95rem; }
th, td { padding: .5rem .75rem .5rem 0; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
th { font-weight: 600; white-space: nowrap; }
dl { display: grid; grid-template-columns: minmax(8rem, 14rem) 1fr; gap: .35rem 1rem; margin: .5rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
.words { padding: .75rem 1rem; border-radius: .5rem; background: var(--soft); white-space: pre-wrap; }
.question { margin: 1rem 0; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; }
.question h3 { margin-top: 0; }
video, audio { display: block; width: 100%; max-width: 36rem; margin: .5rem 0; }
.photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: .75rem; padding: 0; list-style: none; }
.photos img { width: 100%; height: 7rem; object-fit: cover; border-radius: .5rem; background: var(--soft); }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print { a { color: inherit; } .question { break-inside: avoid; } }
</style>
</head>
<body>
<main>
${back !== undefined && html`<p><a href="${back}">Back to the overview</a></p>`}
<h1>${title}</h1>
${intro}
${body}
</main>
</body>
</html>
`)

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** Formats a time in UTC. @param at an ISO time or a date. */
export const time = (at: string | Date | null | undefined): Html | null =>
  at ? html`<time datetime="${new Date(at).toISOString()}">${format.format(new Date(at))} UTC</time>` : null

/** User-written text of unknown language. */
export const userText = (text: string): Html => html`<div class="words" lang="" dir="auto">${text}</div>`

/** Definition list, without empty values. */
export const facts = (entries: readonly (readonly [string, Value])[]): Html =>
  html`<dl>
${entries.filter(([, value]) => value !== null && value !== undefined && value !== false && value !== '').map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`

export const table = (heads: readonly string[], rows: readonly (readonly Value[])[]): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`

/** Section of a page; nothing if there is no content. */
export const section = (title: string, body: Html | null | false): Html | false =>
  body !== null && body !== false && html`<section><h2>${title}</h2>\n${body}</section>\n`

/** Formats a code such as `id_photo` or `in_progress` for readers. */
export const formatCode = (code: string): string => code.replaceAll('_', ' ').replace(/^id /, 'ID ')
