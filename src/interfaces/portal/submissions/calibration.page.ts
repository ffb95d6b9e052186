import type { Context } from '../../../domain/context.ts'
import {
  type Calibration,
  type GraderComparison,
  MAX_COMPARED_SUBMISSIONS,
  MIN_COMPARED_GRADES,
} from '../../../domain/submissions/grading/calibration.ts'
import { type Html, html } from '../../../html/html.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { empty } from '../kit/parts.ts'
import { table } from '../kit/table.ts'

/** Graders of an assessment beside each other. */
export const calibrationPage = (ctx: Context, { assessment, graders, criteria }: Calibration): Page => ({
  title: 'Graders',
  subtitle: assessment.name,
  trail: [
    ['Results', pathOf(ctx, 'results')],
    [`Report on ${assessment.name}`, pathOf(ctx, `results/assessments/${assessment.id}`)],
  ],
  body:
    graders.length === 0
      ? empty('users', 'Nobody has graded a submission of this assessment yet.')
      : html`${panel(
          'graders',
          'Points compared with the other graders’',
          html`${table(
            'graders-heading',
            ['Grader', 'Grades', 'Mean', 'Others’ mean', 'Difference', 'Spread', 'Others’ spread'],
            graders.map((grader) => [grader.name, grader.grades, ...figures(grader)]),
          )}
<p class="hint">In percent of each question’s points. The others’ figures are of the same questions, and each question counts as often as this grader graded it. The spread is the standard deviation. Figures are shown from ${MIN_COMPARED_GRADES} grades on, of the last ${MAX_COMPARED_SUBMISSIONS.toLocaleString('en')} submissions. Decisions between two graders don’t count.</p>`,
        )}
${criteria.length > 0 && panel('agreement', 'Agreement of two graders by criterion', agreement(criteria))}`,
})

const agreement = (criteria: Calibration['criteria']): Html => html`${table(
  'agreement-heading',
  ['Question', 'Criterion', 'Answers', 'Same level', 'Mean difference'],
  criteria.map(({ question, isRemoved, criterion, answers, same, distance }) => [
    isRemoved ? `Removed ${question}` : question,
    html`<span dir="auto">${criterion}</span>`,
    answers,
    percent(same),
    `${distance.toFixed(2)} levels`,
  ]),
)}
<p class="hint">Of the answers for which the first and the second grader both chose a level of the criterion.</p>`

function figures({ grades, ownSpread, othersSpread }: GraderComparison): string[] {
  if (!ownSpread || !othersSpread) return [`from ${MIN_COMPARED_GRADES - grades} more`, '', '', '', '']
  const difference = ownSpread.mean - othersSpread.mean
  return [
    percent(ownSpread.mean),
    percent(othersSpread.mean),
    `${difference > 0 ? '+' : ''}${percent(difference)}`,
    percent(ownSpread.deviation),
    percent(othersSpread.deviation),
  ]
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
