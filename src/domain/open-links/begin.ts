import { sql } from '../../db/builder.ts'
import type { SqlBool } from '../../db/queries.ts'
import { affectedRows } from '../../db/statements.ts'
import { pickProctoring } from '../assessments/assessment-input.ts'
import type { Context, ServiceContext } from '../context.ts'
import { DomainError } from '../errors.ts'
import { createInvite } from '../invites/create-invite.ts'
import { moveInvite } from '../invites/move-invite.ts'
import { hmacOfAddress } from '../secrets/address-hmacs.ts'
import type { InvitationRef } from '../secrets/invitation-tokens.ts'
import { inTransaction } from '../transaction.ts'
import { asVisitor, isVisible } from './find-open-link.ts'
import { type Closure, findClosure, LINK_STATE } from './link-state.ts'
import { findRegistration, type RegistrationEmail } from './registration-emails.ts'

/** A mailed link. @property begun its invite; null before *Begin*. @property closure null while the open link is open. */
export type OpenedRegistration = { registration: RegistrationEmail; begun: InvitationRef | null; closure: Closure | null }

/** The registration of a signed link; null if it has ended, or its organization is suspended. It changes nothing: mail scanners open links. */
export async function openRegistration(service: ServiceContext, id: string): Promise<OpenedRegistration | null> {
  const registration = await findRegistration(service, id)
  if (!registration || !isReadable(registration, service.deps.clock())) return null
  const { openLink } = registration
  const closure = isVisible(openLink)
    ? await findClosure(asVisitor(service, openLink), openLink, openLink.assessment)
    : ({ why: 'closed', until: null } as const)
  return { registration, begun: invitationOf(registration), closure }
}

const isReadable = ({ openLink, expiresAt }: RegistrationEmail, now: Date): boolean =>
  openLink.assessment.organization.suspension === null && (expiresAt === null || expiresAt > now)

const invitationOf = ({ inviteId, linkVersion }: Pick<RegistrationEmail, 'inviteId' | 'linkVersion'>): InvitationRef | null =>
  inviteId === null || linkVersion === null ? null : { inviteId, linkVersion }

/**
 * Finds the invite of a registration. If its address has none yet, creates one and accepts it, in one transaction. Locks the link's row, so that
 * two tabs make one invite, and limits hold.
 *
 * @returns the closure if the link is closed.
 * @throws DomainError invite_not_found if the registration has ended.
 */
export async function begin(service: ServiceContext, id: string): Promise<InvitationRef | Closure> {
  const opened = await openRegistration(service, id)
  if (!opened) throw new DomainError('invite_not_found')
  const { registration, begun } = opened
  if (begun) return begun
  return inTransaction(asVisitor(service, registration.openLink), (inside) => beginInside(inside, registration))
}

async function beginInside(ctx: Context, { id, openLink }: RegistrationEmail): Promise<InvitationRef | Closure> {
  const { db } = ctx
  const links = db.selectFrom('openLinks').where('id', '=', openLink.id)
  const link = await links
    .select([...LINK_STATE, 'inviteDays'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  const registrations = db.selectFrom('registrations').where('id', '=', id)
  const columns = ['email', 'name', 'language', 'inviteId', 'linkVersion'] as const
  const registration = await registrations.select(columns).forUpdate().executeTakeFirst()
  if (!link || !registration) throw new DomainError('invite_not_found')
  const earlier = invitationOf(registration) ?? (await findInvite(ctx, registration, link.assessmentId))
  if (earlier) return assign(ctx, id, earlier)
  const assessment = { ...openLink.assessment, ...(await readAssessment(ctx, link.assessmentId)) }
  if (!isVisible({ ...openLink, isOn: link.isOn, assessment })) return { why: 'closed', until: null }
  const closure = await findClosure(ctx, link, assessment)
  if (closure) return closure
  const tags = db.selectFrom('openLinkTags').where('openLinkId', '=', link.id).select('tagId').orderBy('position')
  const tagIds = (await tags.execute()).map(({ tagId }) => tagId)
  const input = {
    assessmentId: link.assessmentId,
    recipientEmail: registration.email,
    recipientName: registration.name,
    language: registration.language,
    ...pickProctoring(assessment),
    expiresInDays: link.inviteDays,
    tagIds,
    sendEmail: false,
  }
  try {
    const invite = await inTransaction(ctx, (inside) => createInvite(inside, input))
    await moveInvite(ctx, 'accept', { inviteId: invite.id })
    await db
      .updateTable('openLinks')
      .set(({ eb, ref }) => ({ invitesCreated: eb(ref('openLinks.invitesCreated'), '+', 1) }))
      .where('id', '=', link.id)
      .execute()
    ctx.deps.metrics.registered('begun')
    return await assign(ctx, id, { inviteId: invite.id, linkVersion: invite.linkVersion })
  } catch (error) {
    // The organization has invited the address meanwhile.
    if (!(error instanceof DomainError) || error.kind !== 'duplicate_invite') throw error
    const existing = await findInvite(ctx, registration, link.assessmentId)
    if (!existing) throw error
    return assign(ctx, id, existing)
  }
}

const readAssessment = ({ db }: Context, id: string) =>
  db.selectFrom('assessments').where('id', '=', id).select(['audience', 'archivedAt', 'questionCount']).executeTakeFirstOrThrow()

/** The newest invite of the address at the assessment. */
async function findInvite(
  { db }: Context,
  { email }: { email: string },
  assessmentId: string,
): Promise<InvitationRef | undefined> {
  const invites = db
    .selectFrom('invites')
    .where('assessmentId', '=', assessmentId)
    .where(({ ref }) => sql<SqlBool>`address_key(${ref('recipientEmail')}) = address_key(${email})`)
  return invites.select(['id as inviteId', 'linkVersion']).orderBy('attempt', 'desc').executeTakeFirst()
}

/** Makes the mailed link lead to the invite, and end with it. */
async function assign({ db }: Context, id: string, invitation: InvitationRef): Promise<InvitationRef> {
  const { inviteId, linkVersion } = invitation
  await db.updateTable('registrations').set({ inviteId, linkVersion, expiresAt: null }).where('id', '=', id).execute()
  return invitation
}

/**
 * For *This wasn't me*: deletes the address's registrations that have not begun, and stops further mails of the link to it. Does nothing once the
 * registration has begun.
 */
export async function refuseRegistration(service: ServiceContext, id: string): Promise<void> {
  const opened = await openRegistration(service, id)
  if (!opened || opened.begun) return
  const { email, openLink } = opened.registration
  await inTransaction(asVisitor(service, openLink), async ({ db, deps, organization }) => {
    const addressHmac = new Uint8Array(hmacOfAddress(deps.secretKeys, organization.id, email))
    await db
      .insertInto('openLinkRefusals')
      .values({ openLinkId: openLink.id, addressHmac, createdAt: deps.clock() })
      .onConflict((conflict) => conflict.columns(['organizationId', 'openLinkId', 'addressHmac']).doNothing())
      .execute()
    const unbegun = db
      .deleteFrom('registrations')
      .where('openLinkId', '=', openLink.id)
      .where('inviteId', 'is', null)
      .where(({ ref }) => sql<SqlBool>`address_key(${ref('email')}) = address_key(${email})`)
    await affectedRows(unbegun)
    deps.metrics.registered('refused')
  })
}
