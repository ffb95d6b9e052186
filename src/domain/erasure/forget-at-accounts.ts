import { sql } from '../../db/builder.ts'
import { everyones } from '../../db/everyone.ts'
import { among } from '../../db/own.ts'
import { run } from '../../db/statements.ts'
import type { Context } from '../context.ts'

/** Sessions that rest on the organization's word, forms that wait to be sent to it, and that others are closed for it. */
export async function forgetAtAccounts(inside: Context, credentialIds: string[]): Promise<void> {
  const { db, organization } = inside
  const ofTheirs = { credentialId: { in: credentialIds } }
  const providers = await db.signInProvider.findMany({ where: { organizationId: organization.id }, select: { id: true } })
  const providerId = { in: providers.map(({ id }) => id) }
  await db.session.deleteMany({ where: { ...ofTheirs, proofs: { some: { providerId } } } })
  await db.parkedForm.deleteMany({ where: { ...ofTheirs, url: { contains: organization.id } } })
  const closed = everyones.updateTable('sessions').where('credentialId', '=', among(credentialIds))
  await run(
    db,
    closed
      .where(({ ref }) => sql<boolean>`${organization.id}::uuid = any(${ref('closedFor')})`)
      .set(({ ref }) => ({ closedFor: sql`array_remove(${ref('closedFor')}, ${organization.id}::uuid)` })),
  )
}
