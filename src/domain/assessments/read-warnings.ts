import { authorize } from '../authorization/permissions.ts'
import { type Context, inMode } from '../context.ts'
import type { Assessment } from './assessments.ts'

/** Warnings for people who edit or use an assessment. */
export type AssessmentWarnings = {
  /** Number of its questions without points. */
  withoutPoints: number
  /** Required devices. Optional recordings need none. */
  devices: ('camera' | 'microphone')[]
  /** Invites that have not started, live and test: they get the questions as they are at their start. */
  open: number
}

/** Reads them by counts and one look at the questions. @throws DomainError not_permitted. */
export async function readWarnings(ctx: Context, { id }: Pick<Assessment, 'id'>): Promise<AssessmentWarnings> {
  authorize(ctx, 'read_assessments')
  const key = { organizationId: ctx.organization.id, assessmentId: id }
  const withoutPoints = await ctx.db.question.count({ where: { ...key, points: 0 } })
  const recorded = await ctx.db.question.findMany({
    where: { ...key, responseType: { in: [...ctx.deps.kinds.recorded] } },
    distinct: ['responseType'],
    select: { responseType: true },
  })
  const { _sum } = await inMode(ctx, 'all').db.assessmentInviteCount.aggregate({
    where: { ...key, status: { in: ['pending', 'accepted'] } },
    _sum: { count: true },
  })
  const needed = recorded.flatMap(({ responseType }) => ctx.deps.kinds.answering(responseType).needs)
  const devices = (['camera', 'microphone'] as const).filter((device) => needed.includes(device))
  return { withoutPoints, devices, open: _sum.count ?? 0 }
}
