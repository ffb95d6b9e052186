import { sql } from '../../db/builder.ts'
import { own, ownUpdate } from '../../db/own.ts'
import { first, run } from '../../db/statements.ts'
import type { Context } from '../context.ts'
import { inTransaction } from '../transaction.ts'
import type { ErasedCounts, ErasedKind } from './erasures.ts'

/** An erasure that is being worked on. @property address in lower case. @property until what was made later stays. */
export type Erasing = { ctx: Context; id: string; address: string; until: Date }

/**
 * Does a part of the work and counts what is gone by it, in one transaction: killed at any point, an erasure has counted what it has
 * erased. Whoever else works on the same one waits meanwhile.
 *
 * @param work nothing is done where the erasure is finished.
 * @returns how many of all kinds.
 */
export const eraseCounted = ({ ctx, id }: Erasing, work: (inside: Context) => Promise<ErasedCounts>): Promise<number> =>
  inTransaction(ctx, async (inside) => {
    const its = own(inside, 'erasures').where('id', '=', id).where('finishedAt', 'is', null)
    const row = await first(inside.db, its.select('counts').forUpdate())
    if (!row) return 0
    const gone = Object.entries(await work(inside)) as [ErasedKind, number][]
    const sum = gone.reduce((all, [, count]) => all + count, 0)
    if (sum === 0) return 0
    const before = row.counts as ErasedCounts
    const counts = { ...before, ...Object.fromEntries(gone.map(([kind, count]) => [kind, (before[kind] ?? 0) + count])) }
    await run(
      inside.db,
      ownUpdate(inside, 'erasures')
        .where('id', '=', id)
        .set({ counts: sql`${JSON.stringify(counts)}::jsonb` }),
    )
    return sum
  })

/**
 * Finds an address in a text that somebody else has written: a regular expression, as PostgreSQL and JavaScript both read it, in either case. It
 * may stand as it is or as in a web address; not as the end of a longer one, nor as its beginning. A hyphen behind it is none of its domain's:
 * keys of requests are made so.
 */
export function patternOf(address: string): string {
  const spellings = [...new Set([address, encodeURIComponent(address)])].map((one) => one.replace(/[^A-Za-z0-9]/g, '\\$&'))
  // In JSON and in web addresses what stands before it may end in a letter.
  const before = String.raw`(?:(?<![A-Za-z0-9._+])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))`
  return String.raw`${before}(?:${spellings.join('|')})(?![A-Za-z0-9]|\.[A-Za-z0-9])`
}

/** Whether a text has the address in it. */
export const names = (address: string, text: string): boolean => new RegExp(patternOf(address), 'i').test(text)
