import type { FastifyReply, FastifyRequest } from 'fastify'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context, Mode } from '../../../domain/context.ts'
import { hasFactor } from '../../../domain/sign-in/has-factor.ts'
import { countForMenu, type MenuCounts } from '../../../domain/submissions/grading/queue.ts'
import { DAY_MS } from '../../../domain/time/days.ts'
import { hostOf } from '../../../domain/webhooks/change-endpoint.ts'
import { findFailingEndpoints } from '../../../domain/webhooks/endpoint-state.ts'
import { type Html, html, toText, type Value } from '../../../html/html.ts'
import { PORTAL_PREFIX, portalPathOf } from '../../../http/addresses/links.ts'
import type { Asset } from '../../../http/pages/assets.ts'
import { icon } from '../../../http/pages/icon.ts'
import { assets } from './assets.ts'
import { time } from './formatting.ts'
import { integrationTabs, isHome, membershipOf, sidebar, type Viewer } from './sidebar.ts'

/** Content of a page; the frame is the same for all. */
export type Page = {
  title: string
  body: Html
  /** Confirmation of the last action. */
  notice?: string | undefined
  /** Heading, if it differs from the title in the browser. */
  heading?: string
  /** Status of the page's subject. */
  state?: Html | false
  /** Key facts, in one line. */
  subtitle?: Value
  /** Parent pages. */
  trail?: [label: string, address: string][]
  /** Actions; the main one last. */
  actions?: Html | false
  /** Tabs between the parts of the page's subject. */
  tabs?: Html
  /** Script besides the one of all pages. */
  script?: Asset | undefined
}

export const homeOf = (organization: { id: string }): string => portalPathOf({ organization, mode: 'live' })

/** Address of a page of the context's organization, in the same mode (live or test data). */
export const pathOf = (ctx: { organization: { id: string }; mode: Mode }, path = ''): string => portalPathOf(ctx) + path

/** Sends a page: in the organization's frame with the menu that the member's roles allow, else in a plain frame. */
export const show = async (request: FastifyRequest, reply: FastifyReply, page: Page, status = 200): Promise<FastifyReply> =>
  sendPage(reply, await render(request, page, status), status)

export const sendPage = (reply: FastifyReply, text: string, status = 200): FastifyReply =>
  reply.code(status).type('text/html; charset=utf-8').send(text)

type PageRequest = Pick<FastifyRequest, 'ctx' | 'signedIn' | 'originalUrl'>

/** @returns null for somebody who is not signed in, or has not chosen an organization. */
export const viewerOf = ({ ctx, signedIn, originalUrl }: PageRequest): Viewer | null =>
  ctx && signedIn ? { ctx, signedIn, path: originalUrl.split('?')[0]! } : null

/** The HTML of a page as the sender of the request sees it. */
export async function render(request: PageRequest, page: Page, status = 200): Promise<string> {
  const viewer = viewerOf(request)
  const warning = viewer && (await findWarnings(viewer))
  const counts = viewer ? await countForMenu(viewer.ctx) : {}
  return renderPage({ ...page, warning, counts, isRefused: status === 422 }, viewer)
}

const findWarnings = async (viewer: Viewer): Promise<Value> => [
  await secondStepReminder(viewer),
  hasWarnings(viewer) && (await webhookWarning(viewer.ctx)),
]

/** Announces that a second factor will be required, to members without one. */
async function secondStepReminder(viewer: Viewer): Promise<Html | false> {
  const { ctx, signedIn, path } = viewer
  const from = membershipOf(viewer)?.organization.security?.secondFactorFrom
  if (!from || from <= ctx.deps.clock() || (await hasFactor(ctx, signedIn.credential.id))) return false
  const days = Math.ceil((from.getTime() - ctx.deps.clock().getTime()) / DAY_MS)
  return html`<div class="alert alert-soft alert-warning" role="status">${icon('shield-check', 'size-5')}<p class="grow">${ctx.organization.name} asks for a second step at sign-in ${days === 1 ? 'from tomorrow' : `in ${days} days`}.</p><a class="btn btn-sm" href="${`${PORTAL_PREFIX}/factors?${new URLSearchParams({ next: path })}`}">Set it up</a></div>\n`
}

/** Home and Settings, for members who can fix the problem. */
const hasWarnings = ({ ctx, path }: Viewer): boolean =>
  may(ctx, 'manage_webhooks') && (isHome({ ctx, path }) || path.startsWith(pathOf(ctx, 'settings')))

/** Webhooks that fail, or that were disabled because they failed; false if all is well. */
async function webhookWarning(ctx: Context): Promise<Html | false> {
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

/** @property isRefused true if the page shows mistakes in a form, which its title then says too. */
type PageWithFrame = Page & { warning?: Value; isRefused?: boolean; counts?: MenuCounts }

/** The HTML of a page. @param viewer null for somebody who is not signed in, or has not chosen an organization. */
export const renderPage = (page: PageWithFrame, viewer: Viewer | null): string =>
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
${viewer ? framedPage(page, viewer) : plainPage(page)}
</body>
</html>`)

const footer = ({ deps: { release } }: Context): Html =>
  html`<footer class="text-base-content/70 mx-auto max-w-7xl px-4 pb-6 text-xs sm:px-6 lg:px-8">Assessment Invitation Service ${release.version}${release.commit && ` (${release.commit.slice(0, 7)})`}</footer>`

const framedPage = (
  page: PageWithFrame,
  viewer: Viewer,
): Html => html`<a class="btn btn-sm sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50" href="#main">Skip to content</a>
<div class="min-h-screen lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
<header class="drawer lg:drawer-open sticky top-0 z-20 h-auto lg:static print:hidden">
<input id="menu" type="checkbox" class="drawer-toggle" aria-label="Menu">
<div class="drawer-content navbar border-base-300 bg-base-100 min-h-14 gap-2 border-b px-4 lg:hidden"><label for="menu" class="btn btn-ghost btn-square">${icon('menu', 'size-5')}<span class="sr-only">Menu</span></label><span class="min-w-0 truncate font-semibold">${viewer.ctx.organization.name}</span></div>
${sidebar(viewer, page.counts ?? {})}
</header>
<div class="min-w-0">
${viewer.ctx.mode === 'test' && testDataBanner(viewer.ctx)}<main id="main" class="mx-auto max-w-7xl space-y-6 p-4 sm:p-6 lg:p-8">
${heading(page)}
${integrationTabs(viewer)}${page.tabs}
${page.warning}${page.notice && html`<p class="alert alert-soft alert-success" role="status" tabindex="-1" autofocus>${icon('circle-check', 'size-5')}<span>${page.notice}</span></p>`}
${page.body}
</main>
${footer(viewer.ctx)}
</div>
</div>`

const plainPage = ({
  title,
  notice,
  body,
}: PageWithFrame): Html => html`<main id="main" class="mx-auto grid min-h-screen w-full max-w-md content-center gap-6 p-4 py-8">
<p class="flex items-center justify-center gap-3 text-lg font-semibold"><span class="bg-primary text-primary-content grid size-10 place-items-center rounded-lg font-bold" aria-hidden="true">A</span>Assessments</p>
${notice && html`<p class="alert alert-soft alert-success" role="status" tabindex="-1" autofocus>${icon('circle-check', 'size-5')}<span>${notice}</span></p>`}
<div class="panel space-y-4 p-6">
<h1 class="text-xl font-semibold tracking-tight">${title}</h1>
${body}
</div>
</main>`

/** Breadcrumbs, heading, and actions, the main one at the right. */
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

/** A section with a heading. @param action shown beside the heading. */
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

/** A section of a settings page: description, and its form beside it. */
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

const testDataBanner = (ctx: Context): Html =>
  html`<p class="bg-warning/10 border-warning border-b-2 border-dashed px-4 py-2 text-sm sm:px-6 lg:px-8" role="note"><strong>Test data.</strong> These invites send no emails and do not count in live figures. <a href="${pathOf({ ...ctx, mode: 'live' })}">Back to live data</a></p>
`
