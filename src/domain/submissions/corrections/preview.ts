import type { KeyMode } from '../../../generated/prisma/client.ts'
import { type Context, inMode } from '../../context.ts'
import { findAffected, findPapers } from './affected.ts'
import { type AnswerKeyChange, checkChange, getCorrectable, RELEASES, type ReleaseHandling } from './correct-key.ts'
import { addToCounts, type CorrectionCounts, NO_COUNTS, type RescoredAnswer } from './rescore.ts'
import { needsNewRelease, rescoreBatch } from './rescore-batch.ts'

/** Papers looked at by one statement. */
const READ_AT_ONCE = 1_000
/** A page is not waited for longer. */
const MOST_PREVIEWED = 100_000

/** Counts by mode: a key applies to live and test data. */
type CountsByMode = Record<KeyMode, CorrectionCounts>

/**
 * Preview of a correction, for each way to treat released results.
 *
 * @property counts of a paper with the version twice, the second depends on that choice. @property releasedAnew results.
 * @property isCut true if only the first of very many papers were read.
 */
export type CorrectionPreview = {
  assessments: { id: string; name: string; counts: Record<ReleaseHandling, CountsByMode> }[]
  releasedAnew: Record<ReleaseHandling, number>
  isCut: boolean
}

/**
 * Previews a correction for every assessment that uses the version. Writes nothing.
 *
 * @throws DomainError not_permitted; question_not_found; invalid.
 */
export async function previewCorrection(ctx: Context, versionId: string, change: AnswerKeyChange): Promise<CorrectionPreview> {
  const version = await getCorrectable(ctx, versionId)
  checkChange(ctx, version, change)
  const corrected = { ...version, key: change.key, effect: change.effect, keyNumber: version.newest.number + 1 }
  const bothModes: Context = inMode(ctx, 'all')
  const byAssessment = new Map<string, CorrectionPreview['assessments'][number]>()
  const releasedAnew = { raise: 0, all: 0 }
  let previewedPapers = 0
  for (let after: string | null = null; previewedPapers < MOST_PREVIEWED; ) {
    const papers = await findPapers(bothModes, versionId, after, READ_AT_ONCE)
    const affected = await findAffected(bothModes, versionId, papers)
    for (const releases of RELEASES) {
      const judged = rescoreBatch(ctx, affected, corrected, releases)
      for (const rescored of judged) addToCounts(countsOf(rescored, releases)[rescored.answer.mode], rescored)
      const releasedAgain = judged.filter((rescored) => needsNewRelease(rescored, releases))
      releasedAnew[releases] += new Set(releasedAgain.map(({ answer }) => answer.submissionId)).size
    }
    previewedPapers += papers.length
    if (papers.length < READ_AT_ONCE) return { assessments: sortByName(byAssessment), releasedAnew, isCut: false }
    after = papers.at(-1)!
  }
  return { assessments: sortByName(byAssessment), releasedAnew, isCut: true }

  function countsOf({ answer: { assessmentId: id, assessment: name } }: RescoredAnswer, releases: ReleaseHandling): CountsByMode {
    const assessmentPreview = byAssessment.get(id) ?? {
      id,
      name,
      counts: { raise: createEmptyCounts(), all: createEmptyCounts() },
    }
    byAssessment.set(id, assessmentPreview)
    return assessmentPreview.counts[releases]
  }
}

const createEmptyCounts = (): CountsByMode => ({ live: { ...NO_COUNTS }, test: { ...NO_COUNTS } })

const sortByName = (found: Map<string, CorrectionPreview['assessments'][number]>) =>
  [...found.values()].sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : one.id < other.id ? -1 : 1))
