import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context, Mode } from '../../../domain/context.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { countForMenu, type MenuCounts } from '../../../domain/submissions/grading/queue.ts'
import { DAY_MS } from '../../../domain/time/days.ts'
import { hostOf } from '../../../domain/webhooks/change-endpoint.ts'
import { findFailingEndpoints } from '../../../domain/webhooks/state.ts'
import { type Html, html, toText, type Value } from '../../../html/html.ts'
import { PORTAL_PREFIX, portalPathOf } from '../../../http/addresses/links.ts'
import type { Asset } from '../../../http/pages/assets.ts'
import { icon } from '../../../http/pages/icon.ts'
import { assets } from './assets.ts'
import { isHome, membershipOf, sections, sidebar, type Viewer } from './sidebar.ts'
import { time } from './wording.ts'

/** What a page says; the frame is the same for all. */
export type Page = {
  title: string
  body: Html
  /** What has just been done, for whoever has done it. */
  notice?: string | undefined
  /** What it is called on itself, where its name in the browser says more. */
  heading?: string
  /** How what it is about stands. */
  state?: Html | false
  /** What there is to know of it, in a line. */
  subtitle?: Value
  /** The pages above it. */
  trail?: [label: string, address: string][]
  /** What can be done on it; the main action last. */
  actions?: Html | false
  /** The ways between the parts of what it is about. */
  tabs?: Html
  /** What it loads besides the script of all pages. */
  script?: Asset | undefined
}

/** The address of an organization's first page. */
export const homeOf = (organization: { id: string }): string => portalPathOf({ organization, mode: 'live' })

/** The address of a page of the context's organization, which shows the data that the page does from which it leads there. */
export const pathOf = (ctx: { organization: { id: string }; mode: Mode }, path = ''): string => portalPathOf(ctx) + path

/** Sends a page: of an organization in its frame, with what the viewer's roles may see; else in a plain one. */
export const show = async (request: FastifyRequest, reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> =>
  sendPage(reply, await render(request, page, status), status)

/** Sends the text of a page. */
export const sendPage = (reply: FastifyReply, text: string, status = 200): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(text)

type Asked = Pick<FastifyRequest, 'ctx' | 'signedIn' | 'originalUrl'>

/** Who sees the answer of a request; null: somebody who is not signed in, or has not chosen an organization. */
export const viewerOf = ({ ctx, signedIn, originalUrl }: Asked): Viewer | null =>
  ctx && signedIn ? { ctx, signedIn, path: originalUrl.split('?')[0]! } : null

/** The text of a page as whoever sent the request sees it. */
export async function render(request: Asked, page: Page, status = 200): Promise<string> {
  const viewer = viewerOf(request)
  const warning = viewer && (await findWarnings(viewer))
  const counts = viewer ? await countForMenu(viewer.ctx) : {}
  return renderPage({ ...page, warning, counts, isRefused: status === 422 }, viewer)
}

const findWarnings = async (viewer: Viewer): Promise<Value> => [
  await remindOfSecondStep(viewer),
  hasWarnings(viewer) && (await warnOfWebhooks(viewer.ctx)),
]

/** That a second step will be asked for, as long as whoever looks has none. */
async function remindOfSecondStep(viewer: Viewer): Promise<Html | false> {
  const { ctx, signedIn, path } = viewer
  const from = membershipOf(viewer)?.organization.security?.secondFactorFrom
  if (!from || from <= ctx.deps.clock() || (await hasFactor(ctx, signedIn.credential.id))) return false
  const days = Math.ceil((from.getTime() - ctx.deps.clock().getTime()) / DAY_MS)
  return html`<div class="alert alert-soft alert-warning" role="status">${icon('shield-check', 'size-5')}<p class="grow">${ctx.organization.name} asks for a second step at sign-in ${days === 1 ? 'from tomorrow' : `in ${days} days`}.</p><a class="btn btn-sm" href="${`${PORTAL_PREFIX}/factors?${new URLSearchParams({ next: path })}`}">Set it up</a></div>\n`
}

/** Home and Settings, where those come by who can do something about it. */
const hasWarnings = ({ ctx, path }: Viewer): boolean =>
  may(ctx, 'manage_webhooks') && (isHome({ ctx, path }) || path.startsWith(pathOf(ctx, 'settings')))

/** Which webhooks fail, or have been disabled for that; nothing when all is well. */
async function warnOfWebhooks(ctx: Context): Promise<Html | false> {
  const failing = await findFailingEndpoints(ctx)
  const items = failing.map(({ id, url, state, stateSince, failingSince }) => {
    const link = html`<a href="${pathOf(ctx, `settings/webhooks/${id}`)}">${hostOf(url)}</a>`
    return state === 'active' && failingSince
      ? html`<li>The webhook to ${link} has been failing since ${time(failingSince)}.</li>`
      : html`<li>The webhook to ${link} was disabled at ${time(stateSince)} because it kept failing.</li>`
  })
  return (
    items.length > 0 &&
    html`<div class="alert alert-soft alert-error" role="status">${icon('webhook', 'size-5')}<ul>${items}</ul></div>\n`
  )
}

/** `isRefused`: it shows what is wrong with a form, which its name in the browser says as well. */
type Sent = Page & { warning?: Value; isRefused?: boolean; counts?: MenuCounts }

/** The text of a page. @param viewer null: somebody who is not signed in, or has not chosen an organization. */
export const renderPage = (page: Sent, viewer: Viewer | null): string =>
  toText(html`<!doctype html>
<html lang="en" data-zone="${viewer && membershipOf(viewer)?.timeZone}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.isRefused && 'Error: '}${page.title}${viewer && ` · ${viewer.ctx.organization.name}`}</title>
<link rel="icon" href="${assets.icon.address}">
<link rel="stylesheet" href="${assets.stylesheet.address}">
<script type="module" src="${assets.script.address}"></script>
${page.script && html`<script type="module" src="${page.script.address}"></script>`}
</head>
<body>
${viewer ? framed(page, viewer) : alone(page)}
</body>
</html>`)

/** A page of an organization, beside the menu. */
const framed = (
  page: Sent,
  viewer: Viewer,
): Html => html`<a class="btn btn-sm sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50" href="#main">Skip to content</a>
<div class="min-h-screen lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
<header class="drawer lg:drawer-open sticky top-0 z-20 h-auto lg:static print:hidden">
<input id="menu" type="checkbox" class="drawer-toggle" aria-label="Menu">
<div class="drawer-content navbar border-base-300 bg-base-100 min-h-14 gap-2 border-b px-4 lg:hidden"><label for="menu" class="btn btn-ghost btn-square">${icon('menu', 'size-5')}<span class="sr-only">Menu</span></label><span class="min-w-0 truncate font-semibold">${viewer.ctx.organization.name}</span></div>
${sidebar(viewer, page.counts ?? {})}
</header>
<div class="min-w-0">
${viewer.ctx.mode === 'test' && testData(viewer.ctx)}<main id="main" class="mx-auto max-w-7xl space-y-6 p-4 sm:p-6 lg:p-8">
${heading(page)}
${sections(viewer)}${page.tabs}
${page.warning}${page.notice && html`<p class="alert alert-soft alert-success" role="status" tabindex="-1" autofocus>${icon('circle-check', 'size-5')}<span>${page.notice}</span></p>`}
${page.body}
</main>
</div>
</div>`

/** A page for whoever is not signed in. */
const alone = ({
  title,
  notice,
  body,
}: Sent): Html => html`<main id="main" class="mx-auto grid min-h-screen w-full max-w-md content-center gap-6 p-4 py-8">
<p class="flex items-center justify-center gap-3 text-lg font-semibold"><span class="bg-primary text-primary-content grid size-10 place-items-center rounded-lg font-bold" aria-hidden="true">A</span>Assessments</p>
${notice && html`<p class="alert alert-soft alert-success" role="status" tabindex="-1" autofocus>${icon('circle-check', 'size-5')}<span>${notice}</span></p>`}
<div class="panel space-y-4 p-6">
<h1 class="text-xl font-semibold tracking-tight">${title}</h1>
${body}
</div>
</main>`

/** Where one is, what it is, and what one can do there: the main action at the right. */
const heading = ({
  title,
  heading,
  state,
  subtitle,
  trail = [],
  actions,
}: Page): Html => html`<div class="flex flex-wrap items-start gap-4">
<div class="min-w-0 grow basis-80">
${trail.length > 0 && html`<nav class="text-base-content/70 mb-1 flex flex-wrap items-center gap-x-2 text-sm print:hidden" aria-label="Breadcrumbs">${trail.map(([label, address]) => html`<a class="py-0.5 hover:underline" href="${address}">${label}</a>${icon('chevron-right', 'size-3.5')}`)}<span class="min-w-0 truncate">${heading ?? title}</span></nav>`}
<div class="flex flex-wrap items-center gap-3"><h1>${heading ?? title}</h1>${state}</div>
${subtitle && html`<p class="text-base-content/70 mt-1">${subtitle}</p>`}
</div>
${actions && html`<div class="flex flex-wrap gap-2 print:hidden">${actions}</div>`}
</div>`

/** A part of a page, with its heading. @param action what can be done with it, beside its heading. */
export const panel = (
  id: string,
  heading: Value,
  body: Html,
  action?: Html | false,
): Html => html`<section class="panel" aria-labelledby="${id}-heading">
<div class="mb-4 flex flex-wrap items-center gap-3"><h2 id="${id}-heading">${heading}</h2>${action && html`<div class="ml-auto">${action}</div>`}</div>
${body}
</section>
`

/** A part of a page of settings: what it is about, and beside that its form. */
export const settingsPanel = (
  id: string,
  heading: string,
  about: Value,
  body: Html,
): Html => html`<section class="panel grid gap-x-10 gap-y-4 lg:grid-cols-[16rem_minmax(0,1fr)]" aria-labelledby="${id}-heading">
<div><h2 id="${id}-heading">${heading}</h2><p class="hint mt-1">${about}</p></div>
<div class="min-w-0">${body}</div>
</section>
`

/** Marks every page that shows test data. */
const testData = (ctx: Context): Html =>
  html`<p class="bg-warning/10 border-warning border-b-2 border-dashed px-4 py-2 text-sm sm:px-6 lg:px-8" role="note"><strong>Test data.</strong> These invites send no emails and do not count in live figures. <a href="${pathOf({ ...ctx, mode: 'live' })}">Back to live data</a></p>
`
