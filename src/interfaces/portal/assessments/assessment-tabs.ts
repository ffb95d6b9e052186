import type { Assessment } from '../../../domain/assessments/assessments.ts'
import { may } from '../../../domain/authorization/permissions.ts'
import type { Context } from '../../../domain/context.ts'
import type { Html } from '../../../html/html.ts'
import { pathOf } from '../kit/layout.ts'
import { tabs } from '../kit/parts.ts'

export function assessmentTabs(
  ctx: Context,
  assessment: Assessment,
  current: 'questions' | 'settings' | 'open-link' | 'invites' | 'results' | 'statistics',
): Html {
  const path = pathOf(ctx, `assessments/${assessment.id}`)
  return tabs('Assessment', [
    { label: 'Questions', address: path, isCurrent: current === 'questions' },
    ...(may(ctx, 'write_assessments') ? [{ label: 'Settings', address: `${path}/edit`, isCurrent: current === 'settings' }] : []),
    ...(assessment.audience === 'public' || current === 'open-link'
      ? [{ label: 'Open link', address: `${path}/open-link`, isCurrent: current === 'open-link' }]
      : []),
    ...(may(ctx, 'read')
      ? [
          { label: 'Invites', address: `${path}/invites`, isCurrent: current === 'invites', count: assessment.inviteCount },
          { label: 'Results', address: `${path}/results`, isCurrent: current === 'results' },
          { label: 'Statistics', address: `${path}/statistics`, isCurrent: current === 'statistics' },
        ]
      : []),
  ])
}
