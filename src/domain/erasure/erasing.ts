import { sql } from '../../db/builder.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import { toReadableAddress } from '../validation/email-address.ts'
import type { ErasedCounts } from './erasures.ts'

/** An erasure that is being worked on. */
export type ErasureRef = { ctx: Context; id: string }
/** Erasure by address. @property address in lower case. @property until later data stays. */
export type AddressErasure = ErasureRef & { address: string; until: Date }

/**
 * Runs a step and its counts in one transaction, so that counts are right after a crash. Locks the erasure.
 *
 * @param work not called if the erasure is finished. @returns the total of the counts.
 */
export const eraseCounted = ({ ctx, id }: ErasureRef, work: (inside: Context) => Promise<ErasedCounts>): Promise<number> =>
  inTransaction(ctx, async (inside) => {
    const openErasure = inside.db.selectFrom('erasures').where('id', '=', id).where('finishedAt', 'is', null)
    const row = await openErasure.select('counts').forUpdate().executeTakeFirst()
    if (!row) return 0
    const erasedCounts = Object.entries(await work(inside)) as [keyof ErasedCounts, number][]
    const sum = erasedCounts.reduce((total, [, count]) => total + count, 0)
    if (sum === 0) return 0
    const before = row.counts as ErasedCounts
    const counts = { ...before, ...Object.fromEntries(erasedCounts.map(([kind, count]) => [kind, (before[kind] ?? 0) + count])) }
    await inside.db
      .updateTable('erasures')
      .where('id', '=', id)
      .set({ counts: sql`${JSON.stringify(counts)}::jsonb` })
      .execute()
    return sum
  })

/** Letters of scripts that leave a space before an address. */
const LETTERS = String.raw`\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff`
/** Characters that would make the match a part of a longer address, also as URLs and JSON escape them. */
const PART = `A-Za-z0-9._+!'~${LETTERS}`
const SPELT_PART = '(?:2[17bBdDeE]|5[fF]|7[eE])'
const SPELT_LETTER = '%(?:[cC][3-9a-fA-F]|[dD][0-9a-fA-F])%[89abAB][0-9a-fA-F]'
const ESCAPED_LETTER = '0(?:0[c-fC-F]|[1-9a-dA-D][0-9A-Fa-f])[0-9A-Fa-f]'

/**
 * Regular expression that finds an address in texts by others. PostgreSQL and JavaScript read it alike, ignoring case. It matches the
 * address as it is, URL-encoded, and escaped in JSON, with the domain in Unicode or ASCII, but not as a part of a longer address.
 *
 * @param hyphenated true to match between hyphens, too, as in keys that systems generate for their requests.
 */
export function toAddressPattern(address: string, { hyphenated = false } = {}): string {
  const spellings = [...new Set([address, toReadableAddress(address)].flatMap(spellingsOf))].map((spelling) =>
    spelling.replace(/[^A-Za-z0-9\u0080-\uffff]/g, '\\$&'),
  )
  const hyphen = hyphenated ? '' : '-'
  // In JSON and URLs the text before an address may end in a letter.
  const inAddress = `(?<=%[0-9A-Fa-f]{2})(?<!%${SPELT_PART})(?<!${SPELT_LETTER})`
  const inJson = String.raw`(?<=\\u[0-9A-Fa-f]{4})(?<!\\u00${SPELT_PART})(?<!\\u${ESCAPED_LETTER})`
  const before = String.raw`(?:(?<![${PART}${hyphen}])|(?<=\\[nrt])|${inAddress}|${inJson})`
  return `${before}(?:${spellings.join('|')})(?![A-Za-z0-9${LETTERS}]|[.${hyphen}][A-Za-z0-9${LETTERS}])`
}

/** Spellings of an address in texts, web addresses, forms, and JSON. */
const spellingsOf = (address: string): string[] => [
  address,
  encodeURIComponent(address),
  new URLSearchParams({ '': address }).toString().slice(1),
  address.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
]

/** The text with something else in place of the address. */
export const replaceAddress = (address: string, text: string, replacement: string): string =>
  text.replaceAll(new RegExp(toAddressPattern(address), 'gi'), () => replacement)

/** True if the text contains the address. */
export const containsAddress = (address: string, text: string): boolean => new RegExp(toAddressPattern(address), 'i').test(text)
