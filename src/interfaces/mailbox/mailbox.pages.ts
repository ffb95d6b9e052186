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
/** Where the mailbox stands, and what its pages load. */
type Place = { home: string; icon: string; stylesheet: string }

const page = ({ icon, stylesheet }: Place, title: string, body: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<main class="mx-auto max-w-4xl px-4 py-8">
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
<p class="quiet mt-1">No mail server is configured: the service keeps its mails here.</p>
<form role="search" action="${place.home}" class="my-6 flex flex-wrap items-end gap-3">
<label class="min-w-0 flex-1 basis-56 text-sm font-medium">Recipient, organization or assessment <input class="input mt-1 w-full" type="search" name="search" value="${search}"></label>
<button class="btn btn-primary">Search</button>
</form>
${search !== '' && html`<p>${rows.length === 0 ? 'None' : rows.length} found, in ${searched} mails. <a href="${place.home}">All mails</a></p>`}
${search === '' && rows.length === 0 && html`<p>No mail${links.newest ? ' older than that' : ' yet'}.</p>`}
${rows.length > 0 && html`<ul class="panel divide-y divide-base-300 py-0">${rows.map((row) => listItem(place, row))}</ul>`}
${(links.newest || links.older) && html`<nav class="mt-4 flex gap-6" aria-label="Pages">${links.newest && html`<a href="${links.newest}">Newest</a>`} ${links.older && html`<a href="${links.older}" rel="next">Older</a>`}</nav>`}`,
  )

const listItem = ({ home }: Place, { id, state, at, subject, to }: Row): Html => html`
<li class="py-3"><a class="font-medium hover:underline" href="${home}/${id}">${subject}</a><p class="flex flex-wrap justify-between gap-x-6 text-sm"><span>${to.address}</span> <span class="quiet">${state}, ${at} UTC</span></p></li>`

/** @param at when it was queued. */
export const mailPage = (place: Place, { id, state, reason }: Mail, at: string, message: Message): Html =>
  page(
    place,
    message.subject,
    html`<p><a href="${place.home}">Mailbox</a></p>
<h1 class="mt-2">${message.subject}</h1>
<dl class="details my-4">
<dt>To</dt><dd>${message.to.name} &lt;${message.to.address}&gt;</dd>
<dt>From</dt><dd>${typeof message.from === 'string' ? message.from : `${message.from.name} <${message.from.address}>`}</dd>
<dt>Reply to</dt><dd>${typeof message.replyTo === 'string' ? message.replyTo : message.replyTo.address}</dd>
<dt>Message-ID</dt><dd>${message.messageId}</dd>
<dt>State</dt><dd>${state}, ${at} UTC${reason && ` (${reason})`}</dd>
</dl>
<h2 class="mb-2">HTML</h2>
<iframe class="h-144 w-full rounded-box border border-base-300 bg-base-100" title="The mail as HTML" sandbox="allow-popups allow-top-navigation-by-user-activation" src="${place.home}/${id}?part=html"></iframe>
<h2 class="mt-8 mb-2">Text</h2>
<pre class="panel preformatted">${message.text}</pre>`,
  )
