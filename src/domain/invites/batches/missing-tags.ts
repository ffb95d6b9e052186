import { authorize, may } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import type { Issue } from '../../errors.ts'
import { MAX_TAG_NAME_LENGTH } from '../../limits.ts'
import { createTag } from '../../tags/tags.ts'
import { caseKey } from '../../text/fold-text.ts'
import { parseTerms } from './term-names.ts'

/** A list with more unknown tags has probably taken another column for tags. */
const MAX_CREATED_TAGS = 50

/** Tags that a list names and that don't exist, and the number of rows that can't be invited without them. */
export type MissingTags = { names: string[]; rows: number }

const NOTHING: MissingTags = { names: [], rows: 0 }

/** Finds the tags that the member may create for the list. */
export async function findMissingTags(ctx: Context, batchId: string): Promise<MissingTags> {
  if (!may(ctx, 'write_tags')) return NOTHING
  const rows = await findRows(ctx, batchId)
  const names = namesIn(rows)
  return names.size > MAX_CREATED_TAGS ? NOTHING : { names: [...names.values()], rows: rows.length }
}

/**
 * Creates the missing tags of a list, and marks the rows that named them as ready. Runs in a transaction.
 *
 * @throws DomainError not_permitted.
 */
export async function createMissingTags(ctx: Context, batchId: string): Promise<void> {
  authorize(ctx, 'write_tags')
  const { db, organization } = ctx
  const rows = await findRows(ctx, batchId)
  const names = namesIn(rows)
  if (names.size > MAX_CREATED_TAGS) return
  const ids = await findTags(ctx, [...names.keys()])
  for (const [key, name] of names) if (!ids.has(key)) ids.set(key, (await createTag(ctx, { name })).id)
  for (const { number, terms, missing } of rows) {
    const tagIds = [...(terms.tagIds ?? []), ...missing.map((name) => ids.get(caseKey(name))!)]
    const where = { organizationId: organization.id, batchId, number, state: 'invalid' as const }
    await db.inviteBatchRow.updateMany({ where, data: { state: 'ready', issues: [], terms: { ...terms, tagIds } } })
  }
}

/** Rows that only lack tags. Only these keep their existing tags. */
async function findRows({ db, organization }: Context, batchId: string) {
  const where = { organizationId: organization.id, batchId, state: 'invalid' as const }
  const rows = await db.inviteBatchRow.findMany({ where, orderBy: { number: 'asc' } })
  return rows.flatMap(({ number, terms: stored, issues }) => {
    const terms = parseTerms(stored)
    const missing = (issues as Issue[]).flatMap((issue) => (issue.rule === 'reference' ? [issue.value] : []))
    return terms.tagIds && missing.every((name) => name.length <= MAX_TAG_NAME_LENGTH) ? [{ number, terms, missing }] : []
  })
}

/** Each missing tag once, by its key, as the list spells it first. */
const namesIn = (rows: { missing: string[] }[]): Map<string, string> =>
  new Map(rows.flatMap(({ missing }) => missing.map((name): [string, string] => [caseKey(name), name])).toReversed())

async function findTags(ctx: Context, keys: string[]): Promise<Map<string, string>> {
  const found = await ctx.db.selectFrom('tags').select(['id', 'nameKey']).where('nameKey', 'in', keys).execute()
  return new Map(found.map(({ id, nameKey }) => [nameKey, id]))
}
