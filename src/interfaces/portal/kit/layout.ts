import type { FastifyReply, FastifyRequest } from 'fastify'
import { may, type Permission } from '../../../domain/access/permissions.ts'
import type { SignedIn } from '../../../domain/access/sessions.ts'
import { enabledSystems } from '../../../domain/ats/connections.ts'
import type { Context } from '../../../domain/context.ts'
import { hostOf } from '../../../domain/webhooks/change-endpoint.ts'
import { findFailingEndpoints } from '../../../domain/webhooks/state.ts'
import { type Html, html, toText, type Value } from '../../../html/html.ts'
import { PORTAL_PREFIX, portalPathOf } from '../../../http/addresses/links.ts'
import { assets } from './assets.ts'
import { time } from './wording.ts'

/** What a page says; the frame is the same for all. */
export type Page = {
  title: string
  body: Html
  /** What has just been done, for whoever has done it. */
  notice?: string | undefined
}

/** Who looks at a page of an organization. */
export type Viewer = { ctx: Context; signedIn: SignedIn; path: string }

/** The pages of the bar besides Home and Settings. */
const PAGES: { path: string; label: string; permission: Permission }[] = [
  { path: 'assessments', label: 'Assessments', permission: 'read' },
  { path: 'grading', label: 'Grading', permission: 'grade' },
  { path: 'results', label: 'Results', permission: 'read_as_client' },
  { path: 'members', label: 'Members', permission: 'manage_members' },
  { path: 'tags', label: 'Tags', permission: 'write_tags' },
]

/** The sections of Settings, by the last part of their address, and who may see each. */
const SETTINGS: { path: string; label: string; permission: Permission; isThere?: (ctx: Context) => boolean }[] = [
  { path: 'organization', label: 'Organization', permission: 'manage_settings' },
  { path: 'integrations', label: 'Integrations', permission: 'manage_keys' },
  { path: 'webhooks', label: 'Webhooks', permission: 'manage_webhooks' },
  { path: 'ats', label: 'Recruiting systems', permission: 'manage_ats', isThere: (ctx) => enabledSystems(ctx).length > 0 },
  { path: 'audit-log', label: 'Audit log', permission: 'read_audit_log' },
]

/** The address of an organization's first page. */
export const homeOf = (organization: { id: string }): string => portalPathOf({ organization, mode: 'live' })

/** The address of a page of the context's organization, which shows the data that the page does from which it leads there. */
export const pathOf = (ctx: Pick<Context, 'organization' | 'mode'>, path = ''): string => portalPathOf(ctx) + path

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
  const warning = viewer && hasWarnings(viewer) && (await warnOfWebhooks(viewer.ctx))
  return renderPage({ ...page, warning, isRefused: status === 422 }, viewer)
}

/** Home and Settings, where those come by who can do something about it. */
const hasWarnings = ({ ctx, path }: Viewer): boolean =>
  may(ctx, 'manage_webhooks') && (isHome({ ctx, path }) || path.startsWith(pathOf(ctx, 'settings/')))

/** Which webhooks fail, or have been disabled for that; nothing when all is well. */
async function warnOfWebhooks(ctx: Context): Promise<Html | false> {
  const failing = await findFailingEndpoints(ctx)
  const items = failing.map(({ id, url, state, stateSince, failingSince }) => {
    const link = html`<a href="${pathOf(ctx, `settings/webhooks/${id}`)}">${hostOf(url)}</a>`
    return state === 'active' && failingSince
      ? html`<li>The webhook to ${link} has been failing since ${time(failingSince)}.</li>`
      : html`<li>The webhook to ${link} was disabled for failing at ${time(stateSince)}.</li>`
  })
  return items.length > 0 && html`<div class="notice bad" role="status"><ul>${items}</ul></div>\n`
}

const isHome = ({ ctx, path }: Pick<Viewer, 'ctx' | 'path'>): boolean => path.replace(/\/?$/, '/') === pathOf(ctx)

/** `isRefused`: it shows what is wrong with a form, which its name in the browser says as well. */
type Sent = Page & { warning?: Value; isRefused?: boolean }

/** The text of a page. @param viewer null: somebody who is not signed in, or has not chosen an organization. */
export const renderPage = ({ title, body, notice, warning, isRefused }: Sent, viewer: Viewer | null): string =>
  toText(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isRefused && 'Mistake: '}${title}${viewer && ` · ${viewer.ctx.organization.name}`}</title>
<link rel="icon" href="${assets.icon.address}">
<link rel="stylesheet" href="${assets.stylesheet.address}">
<script type="module" src="${assets.script.address}"></script>
</head>
<body>
${viewer && bar(viewer)}
${viewer?.ctx.mode === 'test' && testData(viewer.ctx)}<main id="main" class="${viewer ? 'wide' : 'narrow'}">
<h1>${title}</h1>
${viewer && sections(viewer)}
${warning}${notice && html`<p class="notice good" role="status" tabindex="-1" autofocus>${notice}</p>`}
${body}
</main>
</body>
</html>`)

/** A part of a page, with its heading. */
export const panel = (
  id: string,
  heading: string,
  body: Html,
): Html => html`<section class="panel" aria-labelledby="${id}-heading">
<h2 id="${id}-heading">${heading}</h2>
${body}
</section>
`

const mayReadInvites = (ctx: Context): boolean =>
  (['read', 'read_as_grader', 'read_as_client'] as const).some((permission) => may(ctx, permission))

function bar({ ctx, signedIn, path }: Viewer): Html {
  const settings = SETTINGS.find(({ permission }) => may(ctx, permission))
  const { firstName, lastName, email } = signedIn.memberships.find(
    ({ organizationId }) => organizationId === ctx.organization.id,
  )!.user
  return html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar">
<p class="organization">${ctx.organization.name}</p>
<nav aria-label="Portal">
${link(pathOf(ctx), 'Home', isHome({ ctx, path }))}
${PAGES.filter(({ permission }) => may(ctx, permission)).map((page) =>
  link(pathOf(ctx, page.path), page.label, isWithin(path, pathOf(ctx, page.path))),
)}
${mayReadInvites(ctx) && link(pathOf(ctx, 'invites'), 'Invites', path.startsWith(pathOf(ctx, 'invites')))}
${settings && link(pathOf(ctx, `settings/${settings.path}`), 'Settings', path.startsWith(pathOf(ctx, 'settings/')))}
</nav>
<div class="who">
${signedIn.memberships.length > 1 && html`<a href="${PORTAL_PREFIX}">Other organizations</a>`}
${link(pathOf(ctx, 'account'), `${firstName} ${lastName}`.trim() || email, path.startsWith(pathOf(ctx, 'account')))}
${ctx.mode === 'live' && mayReadInvites(ctx) && html`<a href="${pathOf({ ...ctx, mode: 'test' })}">Test data</a>\n`}<form method="post" action="${PORTAL_PREFIX}/sign-out"><button class="plain">Sign out</button></form>
</div>
</header>`
}

/** Marks every page that shows test data. */
const testData = (ctx: Context): Html =>
  html`<p class="notice test-data" role="note"><strong>Test data.</strong> These invites are mailed to nobody, and no live key or live figure knows of them. <a href="${pathOf({ ...ctx, mode: 'live' })}">Back to live data</a></p>
`

function sections({ ctx, path }: Viewer): Html | false {
  if (!path.startsWith(pathOf(ctx, 'settings/'))) return false
  const visible = SETTINGS.filter(({ permission, isThere }) => may(ctx, permission) && (isThere?.(ctx) ?? true))
  return html`<nav class="sections" aria-label="Settings">${visible.map((section) => {
    const address = pathOf(ctx, `settings/${section.path}`)
    return link(address, section.label, path.startsWith(address))
  })}</nav>`
}

const isWithin = (path: string, address: string): boolean => path === address || path.startsWith(`${address}/`)

const link = (address: string, label: string, isCurrent: boolean): Html =>
  isCurrent ? html`<a href="${address}" aria-current="page">${label}</a>\n` : html`<a href="${address}">${label}</a>\n`
