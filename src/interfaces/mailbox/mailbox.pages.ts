import { type Html, html } from '../../html/html.ts'
import type { Mail } from './mails.ts'

type Message = ReturnType<Mail['render']>
type Row = { id: string; state: string; at: string; subject: string; to: { address: string } }
type List = {
  rows: Row[]
  search: string
  /** How many mails were looked at. */
  searched: number
  links: { newest: string | false; older: string | undefined }
}
/** Where the mailbox stands, and its icon. */
type Place = { home: string; icon: string }

const page = ({ icon }: Place, title: string, body: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
${style}
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`

export const listPage = (place: Place, { rows, search, searched, links }: List): Html =>
  page(
    place,
    'Mailbox',
    html`<h1>Mailbox</h1>
<p class="quiet">No mail server is configured: the service keeps its mails here.</p>
<form role="search" action="${place.home}">
<label>Recipient, organization or assessment <input type="search" name="search" value="${search}"></label>
<button>Search</button>
</form>
${search !== '' && html`<p>${rows.length === 0 ? 'None' : rows.length} found, in ${searched} mails. <a href="${place.home}">All mails</a></p>`}
${search === '' && rows.length === 0 && html`<p>No mail${links.newest ? ' older than that' : ' yet'}.</p>`}
${rows.length > 0 && html`<ul class="mails">${rows.map((row) => listItem(place, row))}</ul>`}
${(links.newest || links.older) && html`<nav class="pages" aria-label="Pages">${links.newest && html`<a href="${links.newest}">Newest</a>`} ${links.older && html`<a href="${links.older}" rel="next">Older</a>`}</nav>`}`,
  )

const listItem = ({ home }: Place, { id, state, at, subject, to }: Row): Html => html`
<li><a href="${home}/${id}">${subject}</a><p><span>${to.address}</span> <span class="quiet">${state}, ${at} UTC</span></p></li>`

/** @param at when it was queued. */
export const mailPage = (place: Place, { id, state, reason }: Mail, at: string, message: Message): Html =>
  page(
    place,
    message.subject,
    html`<p><a href="${place.home}">Mailbox</a></p>
<h1>${message.subject}</h1>
<dl>
<dt>To</dt><dd>${message.to.name} &lt;${message.to.address}&gt;</dd>
<dt>From</dt><dd>${typeof message.from === 'string' ? message.from : `${message.from.name} <${message.from.address}>`}</dd>
<dt>Reply to</dt><dd>${typeof message.replyTo === 'string' ? message.replyTo : message.replyTo.address}</dd>
<dt>Message-ID</dt><dd>${message.messageId}</dd>
<dt>State</dt><dd>${state}, ${at} UTC${reason && ` (${reason})`}</dd>
</dl>
<h2>HTML</h2>
<iframe title="The mail as HTML" sandbox="allow-popups allow-top-navigation-by-user-activation" src="${place.home}/${id}?part=html"></iframe>
<h2>Text</h2>
<pre>${message.text}</pre>`,
  )

const style = html`<style>
:root{color-scheme:light dark;--text:#111827;--quiet:#4b5563;--page:#fff;--panel:#f3f4f6;--line:#d1d5db;--link:#1d4ed8}
@media(prefers-color-scheme:dark){:root{--text:#e5e7eb;--quiet:#a8b0bd;--page:#111827;--panel:#1f2937;--line:#374151;--link:#93c5fd}}
body{font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;color:var(--text);background:var(--page);margin:0;overflow-wrap:anywhere}
main{box-sizing:border-box;max-width:52rem;margin:0 auto;padding:1rem 1.25rem 3rem}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
a{color:var(--link)}
:focus-visible{outline:3px solid #f59e0b;outline-offset:2px}
.quiet,dt{color:var(--quiet)}
form{display:flex;flex-wrap:wrap;align-items:end;gap:.75rem;margin:1.5rem 0}
label{flex:1 1 14rem;font-weight:600}
input,button{box-sizing:border-box;font:inherit;min-height:2.75rem;border-radius:.375rem}
input{display:block;width:100%;margin-top:.25rem;padding:.5rem .75rem;color:inherit;background:var(--page);border:1px solid #6b7280}
button{padding:.5rem 1.25rem;font-weight:600;color:#fff;background:#1d4ed8;border:0;cursor:pointer}
.mails{list-style:none;margin:0;padding:0;border-top:1px solid var(--line)}
.mails li{padding:.75rem 0;border-bottom:1px solid var(--line)}
.mails a{font-weight:600}
.mails p{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1.5rem;margin:.125rem 0 0}
.pages{display:flex;gap:1.5rem;margin-top:1rem}
.pages a{padding:.5rem 0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.25rem 1.25rem;margin:1rem 0}
dd{margin:0}
iframe{box-sizing:border-box;width:100%;height:36rem;border:1px solid var(--line);border-radius:.375rem;background:#fff}
pre{white-space:pre-wrap;margin:0;padding:1rem;background:var(--panel);border-radius:.375rem}
</style>`
