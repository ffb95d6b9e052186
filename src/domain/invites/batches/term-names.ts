import type { Prisma } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { findMembers } from '../../members/members.ts'
import { findTags } from '../../tags/tags.ts'
import type { BatchTerms } from './check-rows.ts'

/** Names of the tags and addresses of the graders in a list's settings, by id. */
export type TermNames = Map<string, string>

/** Terms as createBatch checked and stored them. */
export const parseTerms = (stored: Prisma.JsonValue): BatchTerms => stored as BatchTerms

/** Names for the ids in these terms. Deleted rows have none. */
export async function readTermNames(ctx: Context, stored: Prisma.JsonValue[]): Promise<TermNames> {
  const terms = stored.map(parseTerms)
  const tags = await findTags(ctx, [...new Set(terms.flatMap(({ tagIds }) => tagIds ?? []))])
  const graders = await findMembers(ctx, [...new Set(terms.flatMap(({ assignedGraderId }) => assignedGraderId ?? []))])
  return new Map([
    ...tags.map(({ id, name }): [string, string] => [id, name]),
    ...graders.map(({ id, email }): [string, string] => [id, email]),
  ])
}
