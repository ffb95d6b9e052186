import { sql } from '../../db/builder.ts'
import type { Expressions } from '../../db/queries.ts'
import type { Context } from '../context.ts'
import { DOMAIN_GRACE_MS } from '../sign-in/domain-owners.ts'

/**
 * Effect of requiring single sign-on on joined members without an exception.
 *
 * @property linked members with a linked identity. @property byDomain members with an address of a verified domain: they are linked at
 *   their first sign-in.
 * @property shutOut all others, who could not sign in any more; @property examples the first of them.
 */
export type EnforcementReach = {
  linked: number
  byDomain: number
  shutOut: number
  examples: { id: string; email: string; name: string }[]
}

const EXAMPLES = 50

export async function countReach(ctx: Context): Promise<EnforcementReach> {
  const lostBefore = new Date(ctx.deps.clock().getTime() - DOMAIN_GRACE_MS)
  const isLinked = ({ exists, selectFrom }: Expressions<'members'>) =>
    exists(selectFrom(ctx.db.table('identities')).select('identities.id').whereRef('identities.memberId', '=', 'members.id'))
  const isOfDomain = ({ exists, selectFrom }: Expressions<'members'>) =>
    exists(
      selectFrom(ctx.db.table('signInDomains'))
        .select('signInDomains.id')
        .where('signInDomains.verifiedAt', 'is not', null)
        .where((eb) => eb.or([eb('signInDomains.failingSince', 'is', null), eb('signInDomains.failingSince', '>=', lostBefore)]))
        .where(
          ({ ref }) =>
            sql<boolean>`${ref('signInDomains.domain')} = address_key(substring(${ref('members.email')} from '@([^@]*)$'))`,
        ),
    )
  const joined = ctx.db
    .selectFrom('members')
    .where('members.status', '=', 'active')
    .where('members.credentialId', 'is not', null)
    .where('members.signInException', 'is', null)
  const counts = await joined
    .select((eb) => [
      eb.fn.countAll().filterWhere(isLinked(eb)).as('linked'),
      eb.fn
        .countAll()
        .filterWhere(eb.and([eb.not(isLinked(eb)), isOfDomain(eb)]))
        .as('byDomain'),
      eb.fn.countAll().as('all'),
    ])
    .executeTakeFirst()
  const examples = await joined
    .where((eb) => eb.not(isLinked(eb)))
    .where((eb) => eb.not(isOfDomain(eb)))
    .innerJoin(ctx.db.table('users'), 'users.id', 'members.userId')
    .select(['members.id', 'members.email', 'users.firstName', 'users.lastName'])
    .orderBy('members.email')
    .orderBy('members.id')
    .limit(EXAMPLES)
    .execute()
  const [linked, byDomain] = [Number(counts!.linked), Number(counts!.byDomain)]
  return {
    linked,
    byDomain,
    shutOut: Number(counts!.all) - linked - byDomain,
    examples: examples.map(({ id, email, firstName, lastName }) => ({ id, email, name: `${firstName} ${lastName}`.trim() })),
  }
}
