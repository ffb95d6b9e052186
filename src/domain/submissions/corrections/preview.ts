import type { KeyMode } from '../../../generated/prisma/client.ts'
import type { Context } from '../../context.ts'
import { findAffected, findPapers } from './affected.ts'
import { type Change, checkChange, getCorrectable } from './correct-key.ts'
import { type Counts, count, NO_COUNTS } from './judge.ts'
import { judgeInTurn } from './judge-in-turn.ts'

/** Papers looked at by one statement. */
const READ_AT_ONCE = 1_000
/** A page is not waited for longer. */
const MOST_PREVIEWED = 100_000

/**
 * What a correction would do.
 *
 * @property counts of live and of test data, whichever of them is looked at: a key is one for both. @property isCut it was looked at no further
 *   than the first of very many papers.
 */
export type Preview = { assessments: { id: string; name: string; counts: Record<KeyMode, Counts> }[]; isCut: boolean }

/**
 * What would become of what was handed in, of each assessment that asks it. Nothing is written.
 *
 * @throws DomainError not_permitted; question_not_found; invalid.
 */
export async function previewCorrection(ctx: Context, versionId: string, change: Change): Promise<Preview> {
  const version = await getCorrectable(ctx, versionId)
  checkChange(ctx, version, change)
  const corrected = { ...version, key: change.key, effect: change.effect, keyNumber: version.newest.number + 1 }
  const both: Context = { ...ctx, mode: 'all' }
  const byAssessment = new Map<string, Preview['assessments'][number]>()
  let seen = 0
  for (let after: string | null = null; seen < MOST_PREVIEWED; ) {
    const papers = await findPapers(both, versionId, after, READ_AT_ONCE)
    // As if only what is raised were released anew, which is what the page offers first.
    for (const judged of judgeInTurn(ctx, await findAffected(both, versionId, papers), corrected, 'raise')) {
      const { assessmentId: id, assessment: name, mode } = judged.of
      const one = byAssessment.get(id) ?? { id, name, counts: { live: { ...NO_COUNTS }, test: { ...NO_COUNTS } } }
      byAssessment.set(id, one)
      count(one.counts[mode], judged)
    }
    seen += papers.length
    if (papers.length < READ_AT_ONCE) return { assessments: sorted(byAssessment), isCut: false }
    after = papers.at(-1)!
  }
  return { assessments: sorted(byAssessment), isCut: true }
}

const sorted = (found: Map<string, Preview['assessments'][number]>) =>
  [...found.values()].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : 1))
