import type { Context } from '../../../domain/context.ts'
import {
  type Calibration,
  type GraderComparison,
  MAX_COMPARED_SUBMISSIONS,
  MIN_COMPARED_GRADES,
} from '../../../domain/submissions/grading/calibration.ts'
import { html } from '../../../html/html.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { empty } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Graders of an assessment beside each other. */
export const calibrationPage = (ctx: Context, { assessment, graders }: Calibration): Page => ({
  title: 'Graders',
  subtitle: assessment.name,
  trail: [
    ['Results', pathOf(ctx, 'results')],
    [`Report on ${assessment.name}`, pathOf(ctx, `results/assessments/${assessment.id}`)],
  ],
  body:
    graders.length === 0
      ? empty('users', 'Nobody has graded a submission of this assessment yet.')
      : panel(
          'graders',
          'Points compared with the other graders’',
          html`${table(
            'graders-heading',
            ['Grader', 'Grades', 'Mean', 'Others’ mean', 'Difference', 'Spread', 'Others’ spread'],
            graders.map((grader) => [grader.name, grader.grades, ...figures(grader)]),
          )}
<p class="hint">In percent of each question’s points. The others’ figures are of the same questions, and each question counts as often as this grader graded it. The spread is the standard deviation. Figures are shown from ${MIN_COMPARED_GRADES} grades on, of the last ${MAX_COMPARED_SUBMISSIONS.toLocaleString('en')} submissions. Decisions between two graders don’t count.</p>`,
        ),
})

function figures({ grades, own, others }: GraderComparison): string[] {
  if (!own || !others) return [`from ${MIN_COMPARED_GRADES - grades} more`, '', '', '', '']
  const difference = own.mean - others.mean
  return [
    percent(own.mean),
    percent(others.mean),
    `${difference > 0 ? '+' : ''}${percent(difference)}`,
    percent(own.deviation),
    percent(others.deviation),
  ]
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
