import { type AsJson, rawStatement } from '../../../db/statements.ts'
import { type Combination, searchFacts, searchInvites } from '../../../db/statements-by-hand/search-invites.ts'
import type { Context } from '../../context.ts'
import { readWords } from '../../lists/filters.ts'
import type { Projection } from '../../lists/listing.ts'
import { type ListPage, type PageRequest, pageNumber } from '../../lists/page.ts'
import { expireDueInvites } from '../expire-due-invites.ts'
import { addressPattern, addressWord, type InviteOrder, namePattern, type SearchFilter } from './invite-filter.ts'
import { chooseParts } from './search-parts.ts'

// Search whose cost depends on the matches, not on the organization. Each word must be in the recipient's address or the assessment's name.
// Few combinations of words match names; for each, a trigram index (migration address_grams) finds invites with the remaining words in the
// address.

/** With more matches by address, reading all invites is as fast. */
const MOST_BY_ADDRESS = 10_000
/** Most combinations of the words in names; more are not to be expected. */
const MOST_COMBINATIONS = 8

/**
 * A page of search results. It uses the stored status, so due invites are first set to expired.
 *
 * @returns null if the index doesn't help, because no word that must be in the address has three characters, or too many addresses match;
 *   also if a due invite can't be set to expired because another transaction has locked it.
 */
export async function listByIndexedSearch<Row>(
  ctx: Context,
  { show }: Projection<'invites', Row>,
  filter: SearchFilter,
  { field, direction }: InviteOrder,
  page: PageRequest,
): Promise<ListPage<AsJson<Row>> | null> {
  const words = readWords(filter.search)
  const combinations = (await readCombinations(ctx, words)) ?? (await readAfterExpiry(ctx, words))
  if (!combinations) return null
  if (combinations.length > MOST_COMBINATIONS || combinations.some(({ parts }) => parts.length === 0)) return null
  const { assessmentId, status } = filter
  const searched = { ...searchedBy(ctx, words), assessmentId, status }
  const query = searchInvites(ctx.db, searched, combinations, { field, direction, ...page }, MOST_BY_ADDRESS, show)
  const { rows, total, tooMany } = await rawStatement(ctx.db, query).executeTakeFirstOrThrow()
  if (tooMany) return null
  return { items: rows, total, page: pageNumber(page, total), pageSize: page.size }
}

const searchedBy = ({ organization, mode }: Context, words: string[]) => ({
  organizationId: organization.id,
  mode,
  namePatterns: words.map(namePattern),
})

async function readAfterExpiry(ctx: Context, words: string[]): Promise<Combination[] | null> {
  await expireDueInvites(ctx)
  return readCombinations(ctx, words)
}

/**
 * Combinations of search words in names, and the words that the index has to find in addresses for each.
 *
 * @returns null while an expired invite still has another status.
 */
async function readCombinations(ctx: Context, words: string[]): Promise<Combination[] | null> {
  const { next, sample, names } = await rawStatement(ctx.db, searchFacts(searchedBy(ctx, words))).executeTakeFirstOrThrow()
  if (next && next <= ctx.deps.clock()) return null
  return [[], ...(names ?? [])]
    .map((numbers) => ({
      nameWords: words.filter((_, i) => numbers.includes(i)),
      addressWords: words.filter((_, i) => !numbers.includes(i)),
    }))
    .filter(({ addressWords }) => addressWords.length > 0)
    .map(({ nameWords, addressWords }) => ({
      namePatterns: nameWords.map(namePattern),
      addressPatterns: addressWords.map(addressPattern),
      parts: chooseParts(addressWords.map(addressWord), sample),
    }))
}
