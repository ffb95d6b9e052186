import { may, type Permission } from '../../../domain/authorization/permissions.ts'
import type { Context, Mode } from '../../../domain/context.ts'
import type { Membership, SignedIn } from '../../../domain/sign-in/sessions.ts'
import type { MenuCounts } from '../../../domain/submissions/grading/queue.ts'
import { displayNameOf } from '../../../domain/text/display-name.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { PORTAL_PREFIX, portalPathOf } from '../../../http/addresses/links.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { avatar, tabs } from './parts.ts'
import { settingsOf } from './settings-pages.ts'

export type Viewer = { ctx: Context; signedIn: SignedIn; path: string }

const pathOf = (ctx: { organization: { id: string }; mode: Mode }, path = ''): string => portalPathOf(ctx) + path

/** The reader's membership in the organization. */
export const membershipOf = ({ ctx, signedIn }: Pick<Viewer, 'ctx' | 'signedIn'>): Membership | undefined =>
  signedIn.memberships.find(({ organizationId }) => organizationId === ctx.organization.id)

export const isHome = ({ ctx, path }: Pick<Viewer, 'ctx' | 'path'>): boolean => path.replace(/\/?$/, '/') === pathOf(ctx)

type Item = { path: string; label: string; icon: IconName; isFor: (ctx: Context) => boolean; count?: keyof MenuCounts }

const withPermission =
  (...permissions: Permission[]) =>
  (ctx: Context): boolean =>
    permissions.some((permission) => may(ctx, permission))

const WORK: Item[] = [
  { path: '', label: 'Home', icon: 'house', isFor: () => true },
  { path: 'invites', label: 'Invites', icon: 'send', isFor: mayReadInvites },
  { path: 'assessments', label: 'Assessments', icon: 'clipboard-list', isFor: withPermission('read_assessments') },
  { path: 'questions', label: 'Questions', icon: 'book-open', isFor: withPermission('read_library') },
  { path: 'grading', label: 'Grading', icon: 'pencil-line', isFor: withPermission('grade', 'release_results'), count: 'waiting' },
  { path: 'candidates', label: 'Candidates', icon: 'users', isFor: withPermission('read') },
  { path: 'results', label: 'Results', icon: 'chart-column', isFor: withPermission('read', 'read_as_client') },
]

const AUDIT_LOG: Item = {
  path: 'settings/audit-log',
  label: 'Audit log',
  icon: 'scroll-text',
  isFor: withPermission('read_audit_log'),
}

/** Administration. An entry with several pages leads to the first that the member may see. */
const ORGANIZATION: Item[] = [
  { path: 'members', label: 'Members', icon: 'user-cog', isFor: withPermission('manage_members') },
  { path: 'tags', label: 'Tags', icon: 'tags', isFor: withPermission('write_tags') },
  { path: 'settings/integrations', label: 'Integrations', icon: 'webhook', isFor: withPermission('manage_keys') },
  { path: 'settings', label: 'Settings', icon: 'settings', isFor: (ctx) => settingsOf(ctx).length > 0 },
  AUDIT_LOG,
]

type Section = { path: string; label: string; isFor: (ctx: Context) => boolean }

const INTEGRATIONS: Section[] = [
  { path: 'settings/integrations', label: 'API keys', isFor: withPermission('manage_keys') },
  { path: 'settings/webhooks', label: 'Webhooks', isFor: withPermission('manage_webhooks') },
  { path: 'settings/ats', label: 'Recruiting systems', isFor: withPermission('manage_ats') },
]

export function mayReadInvites(ctx: Context): boolean {
  return withPermission('read', 'read_as_grader', 'read_as_client')(ctx)
}

/** The menu of all pages: at the side or, on a phone, behind a checkbox that needs no script. */
export function sidebar(viewer: Viewer, counts: MenuCounts): Html {
  const { ctx, signedIn } = viewer
  const { name } = ctx.organization
  const organization = ORGANIZATION.filter(({ isFor }) => isFor(ctx))
  const links = (items: Item[]) => items.filter(({ isFor }) => isFor(ctx)).map((item) => menuLink(viewer, item, counts))
  return html`<div class="drawer-side z-30">
<label for="menu" class="drawer-overlay" aria-hidden="true"></label>
<div class="bg-base-100 border-base-300 flex min-h-full w-60 flex-col border-r">
<p class="flex items-center gap-3 px-5 py-4 leading-tight font-semibold"><span class="bg-primary text-primary-content grid size-9 shrink-0 place-items-center rounded-lg font-bold" aria-hidden="true">${[...name][0]?.toUpperCase()}</span>${name}</p>
<nav class="grow" aria-label="Portal">
<ul class="menu w-full gap-0.5 px-3">${links(WORK)}</ul>
${organization.length > 0 && html`<p class="menu-title mt-2 px-6">Organization</p><ul class="menu w-full gap-0.5 px-3 pt-0">${links(organization)}</ul>`}
</nav>
${signedIn.memberships.length > 1 && asideLink(PORTAL_PREFIX, 'building-2', 'Other organizations')}
${ctx.mode === 'live' && mayReadInvites(ctx) && asideLink(pathOf({ ...ctx, mode: 'test' }), 'flask-conical', 'Test data')}
${account(viewer)}
</div>
</div>`
}

const asideLink = (address: string, name: IconName, label: string): Html =>
  html`<p class="menu w-full px-3 py-0"><a class="flex items-center gap-2 rounded-field px-3 py-1.5 hover:bg-base-200" href="${address}">${icon(name)}${label}</a></p>
`

const ITEM = 'flex items-center gap-2 rounded-field px-3 py-1.5'

function menuLink(viewer: Viewer, { path, label, icon: name, count }: Item, counts: MenuCounts): Html {
  const address = pathOf(viewer.ctx, path)
  const number = count && counts[count]
  const content: Value = html`${icon(name)}<span>${label}</span>${number && html`<span class="badge badge-sm badge-ghost ml-auto tabular-nums">${number}</span>`}`
  return isCurrent(viewer, path)
    ? html`<li><a class="${ITEM} bg-primary/10 text-primary font-medium" href="${address}" aria-current="page">${content}</a></li>\n`
    : html`<li><a class="${ITEM}" href="${address}">${content}</a></li>\n`
}

function isCurrent({ ctx, path }: Viewer, item: string): boolean {
  if (item === '') return isHome({ ctx, path })
  const isIn = (pages: readonly { path: string }[]) => pages.some((page) => isWithin(path, pathOf(ctx, page.path)))
  // Archives are outside of /settings, but belong to that entry. Pages below /settings with their own entry don't.
  if (item === 'settings') return isIn([{ path: item }, { path: 'archives' }]) && !isIn([...INTEGRATIONS, AUDIT_LOG])
  if (item === INTEGRATIONS[0]?.path) return isIn(INTEGRATIONS)
  return isWithin(path, pathOf(ctx, item))
}

const isWithin = (path: string, address: string): boolean => path === address || path.startsWith(`${address}/`)

/** Account and sign-out. */
function account({ ctx, signedIn, path }: Viewer): Html {
  const { user, roles, portalRoles } = membershipOf({ ctx, signedIn })!
  const name = displayNameOf(user)
  const role = [...portalRoles, ...roles].join(', ')
  const content = html`${avatar(name)}<span class="min-w-0 leading-tight"><span class="block truncate text-sm font-medium">${name}</span><span class="text-base-content/70 block truncate text-xs first-letter:uppercase">${role}</span></span>`
  const address = pathOf(ctx, 'account')
  const look = 'flex min-w-0 grow items-center gap-3 rounded-field p-1 hover:bg-base-200'
  return html`<div class="border-base-300 mt-2 flex items-center gap-1 border-t p-3">
${isWithin(path, address) ? html`<a class="${look}" href="${address}" aria-current="page">${content}</a>` : html`<a class="${look}" href="${address}">${content}</a>`}
<form method="post" action="${PORTAL_PREFIX}/sign-out"><button class="btn btn-ghost btn-square btn-sm" aria-label="Sign out" title="Sign out">${icon('log-out')}</button></form>
</div>`
}

/** Tabs between the pages of Integrations. */
export function integrationTabs({ ctx, path }: Viewer): Html | false {
  const isHere = (item: { path: string }) => isWithin(path, pathOf(ctx, item.path))
  if (!INTEGRATIONS.some(isHere)) return false
  return tabs(
    'Integrations',
    INTEGRATIONS.filter(({ isFor }) => isFor(ctx)).map((page) => ({
      label: page.label,
      address: pathOf(ctx, page.path),
      isCurrent: isHere(page),
    })),
  )
}
