import type { OpenLink as OpenLinkRow } from '../../generated/prisma/client.ts'
import { type Assessment, getAssessment } from '../assessments/assessments.ts'
import { lockAssessment } from '../assessments/edit-assessments.ts'
import type { AuditField } from '../audit/audit-details.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { modeOf } from '../authorization/author.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import type { Issue } from '../errors.ts'
import { DEFAULT_EXPIRES_IN_DAYS, EXPIRY_DAYS, MAX_INVITE_TAGS } from '../limits.ts'
import { newOpenToken } from '../secrets/registration-tokens.ts'
import { lockTags } from '../tags/tags.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, checkSize, findIssues } from '../validation/checks.ts'
import { domainOf, isPlainAddress, toStoredAddress } from '../validation/email-address.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { LINK_INVITES, MAX_EMAIL_DOMAINS } from './limits.ts'

export type OpenLinkSettings = Pick<
  OpenLinkRow,
  'isOn' | 'opensAt' | 'closesAt' | 'maxInvites' | 'emailDomains' | 'inviteDays' | 'dailyInvites' | 'notifiesMembers'
> & { tagIds: string[] }

/** @property url null until the settings are first saved. @property invitesCreated includes erased invites. */
export type OpenLink = OpenLinkSettings & { url: string | null; invitesCreated: number; updatedAt: Date | null }

/** Settings of a link that nobody has changed. */
export const DEFAULT_OPEN_LINK: OpenLinkSettings = {
  isOn: false,
  opensAt: null,
  closesAt: null,
  maxInvites: null,
  emailDomains: [],
  tagIds: [],
  inviteDays: DEFAULT_EXPIRES_IN_DAYS,
  dailyInvites: 500,
  notifiesMembers: false,
}
const SETTINGS = Object.keys(DEFAULT_OPEN_LINK) as (keyof OpenLinkSettings)[]

/** The open link of an assessment, of the context's mode. @throws DomainError not_permitted, assessment_not_found. */
export async function getOpenLink(ctx: Context, assessmentId: string): Promise<OpenLink> {
  authorize(ctx, 'read_assessments')
  const { id } = await getAssessment(ctx, assessmentId)
  return readOpenLink(ctx, id)
}

async function readOpenLink(ctx: Context, assessmentId: string): Promise<OpenLink> {
  const row = await ctx.db.openLink.findUnique({
    where: keyOf(ctx, assessmentId),
    include: { tags: { select: { tagId: true }, orderBy: { position: 'asc' } } },
  })
  if (!row) return { ...DEFAULT_OPEN_LINK, url: null, invitesCreated: 0, updatedAt: null }
  const { tags, token, ...settings } = row
  return { ...settings, tagIds: tags.map(({ tagId }) => tagId), url: ctx.deps.links.openUrl(token) }
}

const keyOf = (ctx: Context, assessmentId: string) => ({
  organizationId_assessmentId_mode: { organizationId: ctx.organization.id, assessmentId, mode: modeOf(ctx) },
})

/**
 * Changes the given settings of an assessment's open link, and keeps the others.
 *
 * @throws DomainError not_permitted, assessment_not_found; invalid with an issue for each wrong field.
 */
export async function changeOpenLink(ctx: Context, assessmentId: string, change: Partial<OpenLinkSettings>): Promise<OpenLink> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, assessmentId)
    const before = await readOpenLink(inside, assessment.id)
    const settings = normalize({ ...before, ...change })
    throwIfIssues(findOpenLinkIssues(settings))
    const knownTags = await lockTags(inside, settings.tagIds)
    throwIfIssues(
      settings.tagIds.filter((id) => !knownTags.has(id)).map((value): Issue => ({ field: 'tagIds', rule: 'reference', value })),
    )
    await save(inside, assessment, settings)
    const changed = SETTINGS.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(settings[field]))
    if (changed.length > 0) await record(inside, 'changed_open_link', assessment, changed)
    return readOpenLink(inside, assessment.id)
  })
}

const normalize = (settings: OpenLinkSettings): OpenLinkSettings => ({
  isOn: settings.isOn,
  opensAt: settings.opensAt,
  closesAt: settings.closesAt,
  maxInvites: settings.maxInvites,
  emailDomains: [...new Set(settings.emailDomains.map(toDomain).filter((domain) => domain !== ''))],
  tagIds: [...new Set(settings.tagIds.map((id) => id.toLowerCase()))],
  inviteDays: settings.inviteDays,
  dailyInvites: settings.dailyInvites,
  notifiesMembers: settings.notifiesMembers,
})

/** A domain as addresses are stored; `@example.com` is one, too. */
const toDomain = (typed: string): string => {
  const domain = typed.trim().replace(/^@/, '')
  return domain === '' ? '' : domainOf(`x@${domain}`)
}

const findOpenLinkIssues = (settings: OpenLinkSettings): Issue[] => {
  const { opensAt, closesAt, maxInvites, emailDomains, tagIds, inviteDays, dailyInvites } = settings
  return findIssues([
    ['closesAt', opensAt && closesAt && closesAt <= opensAt ? { rule: 'later', limit: opensAt } : undefined],
    ['maxInvites', maxInvites === null ? undefined : checkInteger(maxInvites, LINK_INVITES)],
    ['emailDomains', checkDomains(emailDomains)],
    ['tagIds', checkSize('maxItems', tagIds.length, MAX_INVITE_TAGS)],
    ['inviteDays', checkInteger(inviteDays, EXPIRY_DAYS)],
    ['dailyInvites', checkInteger(dailyInvites, LINK_INVITES)],
  ])
}

const checkDomains = (domains: string[]) =>
  checkSize('maxItems', domains.length, MAX_EMAIL_DOMAINS) ??
  (domains.every((domain) => isPlainAddress(toStoredAddress(`x@${domain}`)))
    ? undefined
    : ({ rule: 'account', problem: 'notDomain' } as const))

async function save(ctx: Context, { id: assessmentId }: Assessment, { tagIds, ...settings }: OpenLinkSettings): Promise<void> {
  const { db, deps, organization } = ctx
  const now = deps.clock()
  const { id } = await db.openLink.upsert({
    where: keyOf(ctx, assessmentId),
    create: {
      id: deps.newId(),
      ...{ organizationId: organization.id, assessmentId, mode: modeOf(ctx), token: newOpenToken() },
      ...settings,
      ...{ createdAt: now, updatedAt: now },
    },
    update: { ...settings, updatedAt: now },
    select: { id: true },
  })
  await db.openLinkTag.deleteMany({ where: { organizationId: organization.id, openLinkId: id } })
  if (tagIds.length === 0) return
  await db.openLinkTag.createMany({
    data: tagIds.map((tagId, position) => ({ organizationId: organization.id, openLinkId: id, tagId, position })),
  })
}

/**
 * Gives the link a new address. The previous one stops working immediately, also in mails to people who have not begun.
 *
 * @throws DomainError not_permitted, assessment_not_found.
 */
export async function replaceOpenLink(ctx: Context, assessmentId: string): Promise<OpenLink> {
  authorize(ctx, 'write_assessments')
  return inTransaction(ctx, async (inside) => {
    const assessment = await lockAssessment(inside, assessmentId)
    const links = inside.db.updateTable('openLinks').where('assessmentId', '=', assessment.id).where('mode', '=', modeOf(inside))
    const renewed = await links.set({ token: newOpenToken(), updatedAt: inside.deps.clock() }).returning('id').execute()
    for (const { id } of renewed) {
      await inside.db.deleteFrom('registrations').where('openLinkId', '=', id).where('inviteId', 'is', null).execute()
      await record(inside, 'replaced_open_link', assessment, [])
    }
    return readOpenLink(inside, assessment.id)
  })
}

const record = (
  ctx: Context,
  action: 'changed_open_link' | 'replaced_open_link',
  { id, name }: Assessment,
  changed: readonly AuditField[],
): Promise<void> =>
  recordAudit(ctx, {
    action,
    target: { kind: 'assessment', id },
    details: { name, ...(changed.length > 0 && { changed: [...changed] }) },
  })
