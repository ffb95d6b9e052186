import type { Context } from '../../../domain/context.ts'
import type { ListPage } from '../../../domain/lists/page.ts'
import type { GradeByPerson } from '../../../domain/submissions/grading/grades.ts'
import { html } from '../../../html/html.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { pager } from '../kit/paging.ts'
import { gradeTable } from './sheet.parts.ts'

type Facts = { ctx: Context; submissionId: string; number: number; list: ListPage<GradeByPerson> }

export function gradeHistoryPage({ ctx, submissionId, number, list }: Facts): Page {
  const sheet = pathOf(ctx, `grading/${submissionId}`)
  return {
    title: `Grades of question ${number}`,
    trail: [
      ['Grading', pathOf(ctx, 'grading')],
      ['Submission', `${sheet}#question-${number}`],
    ],
    body: html`${panel(
      'grades',
      'Newest first',
      html`${list.items.length === 0 ? html`<p>${list.total > 0 ? 'No grades here.' : 'Not graded yet.'}</p>` : gradeTable('grades-heading', list.items)}
${pager(`${sheet}/questions/${number}`, new URLSearchParams(), list)}`,
    )}
<p><a href="${`${sheet}#question-${number}`}">Back to grading</a></p>`,
  }
}
