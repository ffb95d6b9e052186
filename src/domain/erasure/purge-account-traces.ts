import { sql } from '../../db/builder.ts'
import { anyOfIds } from '../../db/queries.ts'
import { unscoped } from '../../db/unscoped.ts'
import type { Context } from '../context.ts'

/**
 * Removes the authentications by the organization's identity providers, sessions that have no others, saved forms for its pages, and its id
 * from sessions that are closed to it.
 */
export async function purgeAccountTraces(inside: Context, credentialIds: string[]): Promise<void> {
  const { db, organization } = inside
  const ofTheirs = { credentialId: { in: credentialIds } }
  const providers = await db.signInProvider.findMany({ where: { organizationId: organization.id }, select: { id: true } })
  const ids = providers.map(({ id }) => id)
  const word = { providerId: { in: ids } }
  // A session without proofs would count as signed in by password, see domain/sign-in/session-access.ts.
  const otherAuthentications = { OR: [{ kind: { in: ['password', 'passkey'] } }, { kind: 'oidc', providerId: { notIn: ids } }] }
  await db.session.deleteMany({ where: { ...ofTheirs, proofs: { some: word, none: otherAuthentications } } })
  await db.sessionAuthentication.deleteMany({ where: { ...word, session: ofTheirs } })
  await db.savedForm.deleteMany({ where: { ...ofTheirs, url: { contains: organization.id } } })
  const closed = unscoped(inside.db).updateTable('sessions').where('credentialId', '=', anyOfIds(credentialIds))
  await closed
    .where(({ ref }) => sql<boolean>`${organization.id}::uuid = any(${ref('closedOrganizationIds')})`)
    .set(({ ref }) => ({
      closedOrganizationIds: sql`array_remove(${ref('closedOrganizationIds')}, ${organization.id}::uuid)`,
    }))
    .execute()
}
