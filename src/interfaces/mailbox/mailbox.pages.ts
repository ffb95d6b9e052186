import { type Html, html } from '../../html/html.ts'
import type { Mail } from './mails.ts'

type Message = ReturnType<Mail['render']>
type Row = { id: string; state: string; at: string; subject: string; to: { name: string; address: string } }
type List = {
  rows: Row[]
  search: string
  /** Number of emails searched. */
  searched: number
  links: { newest: string | false; older: string | undefined }
}
/** Addresses of the mailbox and its assets. */
export type Place = { home: string; icon: string; stylesheet: string }

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
<p class="quiet mt-1">No mail server is configured: emails are kept here instead of being sent.</p>
<form role="search" action="${place.home}" class="my-6 flex flex-wrap items-end gap-3">
<label class="min-w-0 flex-1 basis-56 text-sm font-medium">Recipient, organization or assessment <input class="input mt-1 w-full" type="search" name="search" value="${search}"></label>
<button class="btn btn-primary">Search</button>
</form>
${search !== '' && html`<p class="mb-3">${rows.length === 0 ? 'None' : rows.length} found in ${searched.toLocaleString('en')} emails. <a href="${place.home}">Show all</a></p>`}
${search === '' && rows.length === 0 && html`<p>${links.newest ? 'No older emails.' : 'No emails yet. Invite a candidate, and the invitation appears here.'}</p>`}
${rows.length > 0 && html`<ul class="panel divide-y divide-base-300 py-0">${rows.map((row) => listItem(place, row))}</ul>`}
${(links.newest || links.older) && html`<nav class="mt-4 flex gap-6" aria-label="Pages">${links.newest && html`<a href="${links.newest}">Newest</a>`} ${links.older && html`<a href="${links.older}" rel="next">Older</a>`}</nav>`}`,
  )

/** Visited links are paler. */
const listItem = ({ home }: Place, { id, state, at, subject, to }: Row): Html => html`
<li class="py-3"><a class="font-medium text-primary visited:text-base-content/75 hover:underline" href="${home}/${id}">${subject}</a><p class="flex flex-wrap justify-between gap-x-6 text-sm"><span>${to.name && `${to.name}, `}${to.address}</span> <span class="quiet">${stateBadge(state)} <time datetime="${`${at.replace(' ', 'T')}Z`}">${at} UTC</time></span></p></li>`

/** A badge for failed mails; for others, the state as text. */
const stateBadge = (state: string): Html =>
  state === 'failed' ? html`<span class="badge badge-soft badge-error badge-sm">Failed</span>` : html`${state},`

/** Shown to a browser without the token. */
export const lockedPage = (place: Place): Html =>
  page(
    place,
    'Mailbox',
    html`<h1>Open the mailbox by its link</h1>
<p class="my-4">When the service starts, it prints a link to the captured mails. Open that link in this browser.</p>`,
  )

export const unknownPage = (place: Place): Html =>
  page(
    place,
    'Email not found',
    html`<h1>Email not found</h1>
<p class="my-4">There is no such email. It may have been deleted.</p>
<p><a href="${place.home}">Go to the mailbox</a></p>`,
  )

/** Alternative parts of an email. */
export type View = 'html' | 'text'

/** @param shown.at time when the mail was queued. @param shown.view part to show. */
export const mailPage = (
  place: Place,
  { id, state, reason }: Mail,
  message: Message,
  { at, view }: { at: string; view: View },
): Html =>
  page(
    place,
    message.subject,
    html`<p><a href="${place.home}">Mailbox</a></p>
<h1 class="mt-2">${message.subject}</h1>
${state === 'failed' && html`<p class="alert alert-soft alert-error mt-4">This email was not sent${reason && `: ${reason}`}</p>`}
<dl class="details panel my-4">
<dt>Status</dt><dd>${stateBadge(state)} ${at} UTC</dd>
<dt>To</dt><dd>${message.to.name} &lt;${message.to.address}&gt;<br><a href="${`${place.home}?${new URLSearchParams({ search: message.to.address })}`}">All emails to this address</a></dd>
<dt>From</dt><dd>${typeof message.from === 'string' ? message.from : `${message.from.name} <${message.from.address}>`}</dd>
<dt>Reply to</dt><dd>${typeof message.replyTo === 'string' ? message.replyTo : message.replyTo.address}</dd>
${reason && state !== 'failed' && html`<dt>Reason</dt><dd>${reason}</dd>`}
<dt>Subject</dt><dd>${message.subject}</dd>
<dt>Message-ID</dt><dd><code>${message.messageId}</code></dd>
</dl>
<nav class="border-base-300 mb-4 border-b" aria-label="Parts"><div class="tabs tabs-border">
${tab(`${place.home}/${id}`, `HTML, ${sizeOf(message.html)}`, view === 'html')}
${tab(`${place.home}/${id}?view=text`, `Plain text, ${sizeOf(message.text)}`, view === 'text')}
</div></nav>
${
  view === 'html'
    ? html`<iframe class="h-144 w-full rounded-box border border-base-300 bg-base-100" title="The email as HTML" sandbox="allow-popups allow-top-navigation-by-user-activation" src="${place.home}/${id}?part=html"></iframe>`
    : html`<pre class="panel preformatted">${message.text}</pre>`
}`,
  )

const tab = (address: string, label: string, isCurrent: boolean): Html =>
  isCurrent
    ? html`<a class="tab tab-active font-medium" href="${address}" aria-current="page">${label}</a>`
    : html`<a class="tab" href="${address}">${label}</a>`

/** Size of the decoded part. */
const sizeOf = (part: string): string => `${(Buffer.byteLength(part) / 1_000).toFixed(1)} kB`
