import type { Prisma, Release } from '../../../generated/prisma/client.ts'
import { authorize, may } from '../../access/permissions.ts'
import type { Context } from '../../context.ts'
import { type Listing, type Page, readPage } from '../../page.ts'
import { isUuid } from '../../uuid.ts'
import { gradesBlindly } from '../blind.ts'
import { refuseUnknown } from './access.ts'
import type { ReleasedGrade } from './release.ts'

// What was released, which is the newest version, also while it is reopened.

export type Result = {
  version: number
  points: number
  ofPoints: number
  /** A whole number; null where there are no points. */
  percent: number | null
  comment: string
  message: string
  toCandidate: boolean
  grades: ReleasedGrade[]
  releasedAt: Date
}

/** Of a submission: its newest release. */
export const newestRelease = { orderBy: { version: 'desc' }, take: 1 } satisfies Prisma.Submission$releasesArgs

export function toResult(release: Release): Result {
  const { version, comment, message, toCandidate, createdAt } = release
  const [points, ofPoints] = [Number(release.points), Number(release.ofPoints)]
  const percent = ofPoints === 0 ? null : Math.round((points / ofPoints) * 100)
  const grades = release.grades as ReleasedGrade[]
  return { version, points, ofPoints, percent, comment, message, toCandidate, grades, releasedAt: createdAt }
}

const include = {
  invite: { select: { recipientName: true, recipientEmail: true } },
  assessment: { select: { name: true } },
  paper: { select: { number: true, script: true, points: true }, orderBy: { number: 'asc' } },
  releases: newestRelease,
} satisfies Prisma.SubmissionInclude
type Row = Prisma.SubmissionGetPayload<{ include: typeof include }>

/** A submission with its result, and nothing of what was sent in. */
export type Released = Pick<Row, 'id' | 'invite' | 'assessment' | 'paper' | 'submittedAt'> & { result: Result }

/** The released results, handed in last first: all for who may read everything, for clients those of their assessments. @throws DomainError not_permitted. */
export function listResults(
  ctx: Context,
  { assessmentId }: { assessmentId?: string | undefined },
  page: Page,
): Promise<Listing<Released>> {
  const where = { ...visible(ctx), ...(assessmentId !== undefined && isUuid(assessmentId) && { assessmentId }) }
  const { submission } = ctx.db
  return readPage(
    page,
    () => submission.count({ where }),
    async (window) => {
      const rows = await submission.findMany({ where, include, orderBy: [{ submittedAt: 'desc' }, { id: 'desc' }], ...window })
      return rows.flatMap(toReleased)
    },
  )
}

/** @throws DomainError not_permitted; submission_not_found, also for one without a released result. */
export async function getResult(ctx: Context, id: string): Promise<Released> {
  const where = visible(ctx)
  const row = isUuid(id) ? await ctx.db.submission.findFirst({ where: { ...where, id }, include }) : null
  return (row && toReleased(row)[0]) ?? refuseUnknown()
}

const toReleased = ({ releases, ...row }: Row): Released[] => releases.map((release) => ({ ...row, result: toResult(release) }))

function visible(ctx: Context): Prisma.SubmissionWhereInput {
  const released = { organizationId: ctx.organization.id, releases: { some: {} } }
  if (may(ctx, 'read')) return released
  authorize(ctx, 'read_as_client')
  const memberId = ctx.actor.kind === 'member' ? ctx.actor.id : refuseUnknown()
  return { ...released, assessment: { clients: { some: { memberId } }, ...(gradesBlindly(ctx) && { gradedBlind: false }) } }
}

/** What the candidate of an invite may see of its result; null: nothing (yet). */
export async function findOwnResult({ db, organization }: Context, submissionId: string): Promise<Result | null> {
  const where = { organizationId: organization.id, submissionId }
  const release = await db.release.findFirst({ where, orderBy: { version: 'desc' } })
  return release?.toCandidate ? toResult(release) : null
}
