import { sql } from '../../db/builder.ts'
import type { Connection } from '../../db/client.ts'
import type { Scope } from '../../db/queries.ts'
import { tenantDb } from '../../db/tenant-db.ts'
import type { ServiceContext } from '../context.ts'
import { MAX_TAG_NAME_LENGTH } from '../limits.ts'
import { caseKey, nameKeys } from '../text/fold-text.ts'

/** Names to try before the one with the tag's id, which is always free. */
const NUMBERED_NAMES = 9

/**
 * Renames the test tags that have one of these names to "X (test)", so that live tags can have the names. Runs in the transaction that
 * writes the live tags.
 *
 * @returns the renamed tags.
 */
export async function renameTestTags(
  { db, deps, organization }: Pick<ServiceContext, 'db' | 'deps'> & Pick<Scope, 'organization'>,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  const tenant = tenantDb(db, { organization, mode: 'test' })
  const testTags = tenant
    .selectFrom('tags')
    .where('mode', '=', 'test')
    .where(sql<boolean>`tags.name_key = any(${names.map(caseKey)}::text[])`)
  const renamed: { id: string; name: string }[] = []
  for (const { id, name } of await testTags.select(['id', 'name']).orderBy('id').forNoKeyUpdate().execute()) {
    const free = await findFreeName(db, organization, newNames(id, name)).executeTakeFirstOrThrow()
    const change = { name: free.name, ...nameKeys(free.name), updatedAt: deps.clock() }
    await tenant.updateTable('tags').set(change).where('id', '=', id).execute()
    renamed.push({ id, name: free.name })
  }
  return renamed
}

const newNames = (id: string, name: string): string[] => {
  const numbered = Array.from({ length: NUMBERED_NAMES }, (_, i) => (i === 0 ? 'test' : `test ${i + 1}`))
  return [...numbered, id].map((word) => addSuffix(name, ` (${word})`))
}

const addSuffix = (name: string, suffix: string): string =>
  [...name].slice(0, MAX_TAG_NAME_LENGTH - suffix.length).join('') + suffix

/** The first of the names that no tag of the organization has. */
function findFreeName(db: Connection, organization: Scope['organization'], names: readonly string[]) {
  const wanted = sql<{
    name: string
    key: string
    position: number
  }>`unnest(${names}::text[], ${names.map(caseKey)}::text[]) with ordinality`.as<'wanted'>(sql`wanted (name, key, position)`)
  const tenant = tenantDb(db, { organization, mode: 'all' })
  const existingTags = tenant.selectFrom('tags').where(sql<boolean>`tags.name_key = wanted.key`)
  return tenant
    .selectFrom(wanted)
    .where(({ not, exists }) => not(exists(existingTags.select('tags.id'))))
    .orderBy('wanted.position')
    .limit(1)
    .select('wanted.name')
}
