import { readPicture } from '../assets/picture-file.ts'
import { storeFile } from '../assets/store-file.ts'
import type { AuditDetails } from '../audit/audit-details.ts'
import { versionOf } from '../audit/find-last-change.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { HEX_COLOR_PATTERN, MAX_LOGO, MAX_LOGO_BYTES } from '../limits.ts'
import { BRAND, type Brand } from '../ports/brand.ts'
import { inTransaction } from '../transaction.ts'
import { findIssues } from '../validation/checks.ts'
import { refuseUnseenChanges, type SeenAt, timeOfChange } from '../validation/refuse-unseen-changes.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'

/** Colors as #rrggbb; empty: the service's own. */
export type Colors = { primaryColor: string; backgroundColor: string }

/** With when the organization was last changed. @throws DomainError not_permitted. */
export async function readBrand(ctx: Context): Promise<Brand & { updatedAt: Date }> {
  authorize(ctx, 'manage_settings')
  return ctx.db.organization.findUniqueOrThrow({ where: { id: ctx.organization.id }, select: { ...BRAND, updatedAt: true } })
}

const HEX_COLOR = new RegExp(HEX_COLOR_PATTERN, 'u')

/** Issues of colors. */
export const findColorIssues = ({ primaryColor, backgroundColor }: Colors): Issue[] => {
  const check = (color: string) =>
    color.trim() === '' || HEX_COLOR.test(color.trim()) ? undefined : ({ rule: 'color' } as const)
  return findIssues([
    ['primaryColor', check(primaryColor)],
    ['backgroundColor', check(backgroundColor)],
  ])
}

/** Normalizes entered colors. */
export const tidyColors = ({ primaryColor, backgroundColor }: Colors): Pick<Brand, 'primaryColor' | 'backgroundColor'> => {
  const tidy = (color: string) => color.trim().toLowerCase() || null
  return { primaryColor: tidy(primaryColor), backgroundColor: tidy(backgroundColor) }
}

/**
 * Also changes emails that are already queued.
 *
 * @throws DomainError not_permitted; invalid for an invalid color, or `changed` for values that somebody else changed since `seenAt`.
 */
export async function changeColors(ctx: Context, input: Colors, seenAt: SeenAt): Promise<void> {
  authorize(ctx, 'manage_settings')
  throwIfIssues(findColorIssues(input))
  const colors = tidyColors(input)
  await changeBrand(ctx, colors, ({ updatedAt, ...before }, inside) =>
    refuseUnseenChanges(versionOf(inside, { updatedAt, seen: seenAt, action: 'changed_brand' }), before, colors),
  )
}

/**
 * Sets the logo. Its size is read from the header; nothing is decoded. The earlier logo stays available for sent emails, see
 * assets/check-unused.ts.
 *
 * @throws DomainError not_permitted; invalid at `logo`: too large, neither PNG nor JPEG, or over quota.
 */
export async function changeLogo(ctx: Context, file: Buffer): Promise<void> {
  authorize(ctx, 'manage_settings')
  if (file.length > MAX_LOGO_BYTES) throwIfIssues([issue(TOO_LARGE)])
  const picture = readPicture(file)
  if (!picture || !TYPES.includes(picture.contentType)) throw new DomainError('invalid', { issues: [issue(NO_LOGO)] })
  if (picture.width > MAX_LOGO.width || picture.height > MAX_LOGO.height) throwIfIssues([issue(TOO_WIDE)])
  const logo = await storeFile(ctx, 'logo', picture)
  if (!logo) throw new DomainError('invalid', { issues: [issue(NO_ROOM)] })
  const { width: logoWidth, height: logoHeight } = picture
  const logoHash = Buffer.from(logo.sha256 ?? []).toString('hex')
  await changeBrand(ctx, { logoHash, logoWidth, logoHeight }, async (_before, inside) => {
    // A logo that was about to be deleted stays. One that was just deleted no longer exists, so it can't be named.
    const where = { organizationId_id: { organizationId: ctx.organization.id, id: logo.id } }
    await inside.db.asset.update({ where, data: { unusedSince: null } })
  })
}

/** Repeatable. @throws DomainError not_permitted. */
export async function removeLogo(ctx: Context): Promise<void> {
  authorize(ctx, 'manage_settings')
  await changeBrand(ctx, { logoHash: null, logoWidth: null, logoHeight: null })
}

/** @param check runs on the stored brand, in the same transaction. */
async function changeBrand(
  ctx: Context,
  data: Partial<Omit<Brand, 'id' | 'name' | 'language' | 'pageLinks'>>,
  check: (before: Brand & { updatedAt: Date }, inside: Context) => void | Promise<void> = () => {},
): Promise<void> {
  await inTransaction(ctx, async (inside) => {
    await inside.db.selectFrom('organizations').select('organizations.id').forNoKeyUpdate().execute()
    const before = await readBrand(inside)
    await check(before, inside)
    const after = { ...before, ...data }
    if (AUDITED.every((field) => before[field] === after[field])) return
    const updatedAt = timeOfChange(ctx.deps.clock(), before)
    await inside.db.organization.update({ where: { id: ctx.organization.id }, data: { ...data, updatedAt } })
    await recordAudit(inside, { action: 'changed_brand', details: { before: pickAudited(before), after: pickAudited(after) } })
  })
}

const AUDITED = ['primaryColor', 'backgroundColor', 'logoHash'] as const
const pickAudited = ({ primaryColor, backgroundColor, logoHash }: Brand): AuditDetails => ({
  primaryColor,
  backgroundColor,
  logoHash,
})

const TYPES = ['image/png', 'image/jpeg']
const issue = (text: string): Issue => ({ field: 'logo', rule: 'malformed', text })
const SIDES = `${MAX_LOGO.width.toLocaleString('en')} × ${MAX_LOGO.height.toLocaleString('en')}`
const TOO_LARGE = `A logo can have at most ${MAX_LOGO_BYTES / 1e3} kB. Make it smaller first.`
const TOO_WIDE = `A logo can have at most ${SIDES} pixels. Make it smaller first.`
const NO_LOGO = 'This file is not a whole PNG or JPEG.'
const NO_ROOM = 'There is no space for more pictures and recordings. Ask the operator of this service.'
