import type { Prisma } from '../../generated/prisma/client.ts'
import { recordAudit } from '../audit/record-audit.ts'
import { authorize, may } from '../authorization/permissions.ts'
import type { Context } from '../context.ts'
import { DomainError, type Issue } from '../errors.ts'
import { MAX_NAME_LENGTH, PERCENT } from '../limits.ts'
import { isUuid } from '../text/uuid.ts'
import { inTransaction } from '../transaction.ts'
import { checkInteger, checkName, checkSize, findIssues } from '../validation/checks.ts'
import { throwIfIssues } from '../validation/throw-if-issues.ts'
import { lockAssessment } from './edit-assessments.ts'

// Names for ranges of results, and questions that a candidate has to reach a percentage in. Neither decides anything: both are frozen in
// each release, and knock-outs are shown to the organization only.

/** A band of results. @property from lowest percentage. */
export type Band = { name: string; from: number }
export const MAX_BANDS = 10

/** Stored bands, the highest first. */
export const readBands = (stored: readonly string[]): Band[] =>
  stored.map((band) => ({ from: Number.parseInt(band, 10), name: band.slice(band.indexOf(' ') + 1) }))

/** Name of the band that a percentage falls into; null: none, or no points. @param bands the highest first. */
export const bandOf = (bands: readonly Band[], percent: number | null): string | null =>
  percent === null ? null : (bands.find(({ from }) => percent >= from)?.name ?? null)

const select = {
  id: true,
  name: true,
  bands: true,
  questions: {
    select: { id: true, script: true, scriptFormat: true, points: true, requiredPercent: true },
    orderBy: [{ order: 'asc' }, { id: 'asc' }],
  },
} satisfies Prisma.AssessmentSelect

/** Bands of an assessment, and required percentages of its questions. */
export type BandSettings = Omit<Prisma.AssessmentGetPayload<{ select: typeof select }>, 'bands'> & { bands: Band[] }

/** @throws DomainError not_permitted; assessment_not_found. */
export async function readBandSettings(ctx: Context, assessmentId: string): Promise<BandSettings> {
  authorize(ctx, 'write_assessments')
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const found = isUuid(assessmentId) ? await ctx.db.assessment.findFirst({ where, select }) : null
  if (!found) throw new DomainError('assessment_not_found')
  return { ...found, bands: readBands(found.bands) }
}

/** @property required percentage by question; questions that are missing need none. */
export type NewBandSettings = { bands: Band[]; required: Map<string, number> }

/** Changes bands and required percentages. Released results keep theirs. @throws DomainError not_permitted; assessment_not_found; invalid. */
export async function changeBandSettings(
  ctx: Context,
  assessmentId: string,
  { bands, required }: NewBandSettings,
): Promise<void> {
  authorize(ctx, 'write_assessments')
  throwIfIssues([
    ...findBandIssues(bands),
    ...findIssues([...required.values()].map((percent) => ['required', checkInteger(percent, PERCENT)])),
  ])
  await inTransaction(ctx, async (inside) => {
    const { id } = await lockAssessment(inside, assessmentId)
    const { questions } = await readBandSettings(inside, id)
    const scope = { organizationId: inside.organization.id }
    const sorted = bands.toSorted((a, b) => b.from - a.from).map(({ name, from }) => `${from} ${name.trim()}`)
    await inside.db.assessment.updateMany({ where: { ...scope, id }, data: { bands: sorted } })
    for (const question of questions) {
      const requiredPercent = required.get(question.id) ?? null
      if (requiredPercent !== question.requiredPercent)
        await inside.db.question.updateMany({ where: { ...scope, id: question.id }, data: { requiredPercent } })
    }
    await recordAudit(inside, { action: 'changed_bands', target: { kind: 'assessment', id } })
  })
}

function findBandIssues(bands: Band[]): Issue[] {
  const isRepeated = (values: unknown[]) => new Set(values).size < values.length
  const names = bands.map(({ name }) => name.trim().toLowerCase())
  if (isRepeated(names) || isRepeated(bands.map(({ from }) => from)))
    return [{ field: 'bands', rule: 'account', problem: 'bandTwice' }]
  return findIssues([
    ['bands', checkSize('maxItems', bands.length, MAX_BANDS)],
    ...bands.flatMap(({ name, from }): Parameters<typeof findIssues>[0] => [
      ['bands', checkName(name, MAX_NAME_LENGTH)],
      ['bands', checkInteger(from, PERCENT)],
    ]),
  ])
}

/** Bands to filter results by; empty for actors who may not see all results. */
export async function findBands(ctx: Context, assessmentId: string | undefined): Promise<Band[]> {
  if (assessmentId === undefined || !isUuid(assessmentId) || !may(ctx, 'read')) return []
  const where = { organizationId: ctx.organization.id, id: assessmentId }
  const found = await ctx.db.assessment.findFirst({ where, select: { bands: true } })
  return readBands(found?.bands ?? [])
}
