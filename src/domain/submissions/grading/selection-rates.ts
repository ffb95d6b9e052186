import { sql } from '../../../db/builder.ts'
import { recordAudit } from '../../audit/record-audit.ts'
import { runExport, type WriteBatch } from '../../audit/run-export.ts'
import { authorize } from '../../authorization/permissions.ts'
import type { Context } from '../../context.ts'
import { DomainError } from '../../errors.ts'
import { isUuid } from '../../text/uuid.ts'
import { inTransaction } from '../../transaction.ts'
import { MIN_RESULTS } from './item-analysis.ts'
import { findAssessment, MAX_SAMPLE } from './statistics.ts'

// Selection rates of groups of candidates, which the organization marks by tags. An admin has to switch them on.

/** Tags to choose from: the chosen ones, then the most frequent. */
const MAX_TAGS = 50

/** @property selected candidates whom a decision shortlists or advances. @property decided those, and rejected ones. */
export type TagGroup = { id: string; name: string; decided: number; selected: number }
/**
 * @property rate from 0 to 1. @property ofHighest rate as a share of the highest one; null if nobody is selected.
 * @property isBelowFourFifths true if that share is below four fifths: the four-fifths rule, 29 CFR 1607.4 D.
 */
export type ComparedGroup = TagGroup & { rate: number; ofHighest: number | null; isBelowFourFifths: boolean }
/**
 * @property decided results with a decision. @property tags to choose from. @property compared chosen groups; empty for fewer than
 *   MIN_RESULTS results.
 */
export type SelectionRates = { isOn: boolean; decided: number; tags: TagGroup[]; compared: ComparedGroup[] }

/** True if an admin has switched selection rates on. */
export async function showsSelectionRates({ db, organization }: Context): Promise<boolean> {
  const select = { selectionRates: true }
  return (await db.organization.findUniqueOrThrow({ where: { id: organization.id }, select })).selectionRates
}

/** @throws DomainError not_permitted. */
export async function changeSelectionRates(ctx: Context, isOn: boolean): Promise<void> {
  authorize(ctx, 'manage_settings')
  await inTransaction(ctx, async (inside) => {
    const { db, deps, organization } = inside
    const where = { id: organization.id, selectionRates: !isOn }
    const { count } = await db.organization.updateMany({ where, data: { selectionRates: isOn, updatedAt: deps.clock() } })
    if (count > 0) await recordAudit(inside, { action: 'changed_selection_rates', details: { isOn } })
  })
}

/**
 * Selection rates among the newest released results, by their decisions.
 *
 * @param tagIds groups to compare. @throws DomainError not_permitted; assessment_not_found.
 */
export async function readSelectionRates(ctx: Context, assessmentId: string, tagIds: readonly string[]): Promise<SelectionRates> {
  const id = await findAssessment(ctx, assessmentId)
  if (!(await showsSelectionRates(ctx))) return { isOn: false, decided: 0, tags: [], compared: [] }
  const newest = ctx.db
    .selectFrom('submissions')
    .where('submissions.assessmentId', '=', id)
    .where('submissions.releasedAt', 'is not', null)
    .orderBy('submissions.releasedAt', 'desc')
    .orderBy('submissions.id', 'desc')
    .limit(MAX_SAMPLE)
    .select(['submissions.id', 'submissions.inviteId', 'submissions.decision'])
  const decided = ctx.db.selectFrom(newest.as('newest')).where('newest.decision', 'in', ['shortlist', 'advance', 'reject'])
  const { count } = await decided
    .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
    .executeTakeFirstOrThrow()
  const tags = await decided
    .innerJoin(ctx.db.table('inviteTags'), 'inviteTags.inviteId', 'newest.inviteId')
    .innerJoin(ctx.db.table('tags'), 'tags.id', 'inviteTags.tagId')
    .select(({ fn, cast, ref }) => [
      'tags.id',
      'tags.name',
      cast<number>(fn.countAll(), 'integer').as('decided'),
      cast<number>(fn.countAll().filterWhere(ref('newest.decision'), '<>', 'reject'), 'integer').as('selected'),
    ])
    .groupBy(['tags.id', 'tags.name'])
    .orderBy(({ ref }) => sql`${ref('tags.id')} = any(${tagIds.filter(isUuid)}::uuid[])`, 'desc')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('tags.name')
    .limit(MAX_TAGS)
    .execute()
  const chosen = tags.filter((tag) => tagIds.includes(tag.id))
  return { isOn: true, decided: count, tags, compared: count < MIN_RESULTS ? [] : compareGroups(chosen) }
}

/** Highest rate first. */
export function compareGroups(groups: readonly TagGroup[]): ComparedGroup[] {
  const rated = groups.map((group) => ({ ...group, rate: group.selected / group.decided }))
  const ordered = rated.sort((one, other) => other.rate - one.rate || one.name.localeCompare(other.name))
  const highest = ordered[0]
  return ordered.map((group) => ({
    ...group,
    ofHighest: highest && highest.rate > 0 ? group.rate / highest.rate : null,
    // In integers: as fractions, exactly four fifths can come out as less.
    isBelowFourFifths: highest !== undefined && group.selected * 5 * highest.decided < highest.selected * 4 * group.decided,
  }))
}

/** @throws DomainError not_permitted, also while selection rates are off; assessment_not_found; too_many_exports. */
export async function exportSelectionRates(
  ctx: Context,
  assessmentId: string,
  tagIds: readonly string[],
  write: WriteBatch<ComparedGroup>,
): Promise<void> {
  authorize(ctx, 'export')
  const { isOn, compared } = await readSelectionRates(ctx, assessmentId, tagIds)
  if (!isOn) throw new DomainError('not_permitted')
  await runExport(ctx, { action: 'exported_selection_rates', filter: { assessmentId } }, async () => compared, write)
}
