import type { Assessment } from '../../../domain/assessments/assessments.ts'
import type { ListedQuestion } from '../../../domain/assessments/questions.ts'
import type { AssessmentPool } from '../../../domain/assessments/structure.ts'
import type { Context } from '../../../domain/context.ts'
import { html } from '../../../html/html.ts'
import { plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { confirmButton } from '../kit/confirm.ts'
import { checkboxes, type Form, field, mistakes } from '../kit/forms.ts'
import { type Page, pathOf } from '../kit/layout.ts'
import { onceField } from '../kit/once.ts'

/** @property questions of the assessment. */
type PoolPage = {
  ctx: Context
  assessment: Assessment
  pool: AssessmentPool | null
  questions: readonly (Pick<ListedQuestion, 'id' | 'script' | 'scriptFormat' | 'points'> & { poolId: string | null })[]
}

const EXCERPT = 100

/** Form of a pool. @param pool null for a new one. */
export function poolPage(form: Form, { ctx, assessment, pool, questions }: PoolPage): Page {
  const assessmentPath = pathOf(ctx, `assessments/${assessment.id}`)
  const path = pool ? `${assessmentPath}/pools/${pool.id}` : `${assessmentPath}/pools`
  const heading = pool ? pool.name : 'New question pool'
  const options = questions.flatMap((question, i) =>
    question.poolId === null || question.poolId === pool?.id ? [[question.id, `${i + 1}. ${excerpt(question)}`] as const] : [],
  )
  const values = questions.flatMap(({ id, poolId }) => (pool && poolId === pool.id ? [id] : []))
  return {
    title: `${heading}: ${assessment.name}`,
    heading,
    subtitle: assessment.name,
    trail: [
      ['Assessments', pathOf(ctx, 'assessments')],
      [assessment.name, assessmentPath],
    ],
    body: html`${mistakes(form)}<section class="panel max-w-3xl"><form method="post" action="${path}" data-guarded>${!pool && onceField()}
${field(form, { name: 'name', label: 'Name', value: pool?.name ?? '', hint: 'Only your organization sees it.' })}
${checkboxes(form, { name: 'questions', label: 'Questions', options, values, isLong: true, hint: 'Questions of one section. Those of another pool are not listed.' })}
<div class="side-by-side">
${field(form, { name: 'draw', label: 'Questions per candidate', value: pool ? String(pool.draw) : '', hint: 'Drawn at random when the candidate starts.' })}
${field(form, { name: 'points', label: 'Points of each question', value: pool ? String(pool.points) : '1', hint: 'The same for all, so that all candidates can reach the same total.' })}
</div>
<div class="form-foot"><button class="btn btn-primary">${pool ? 'Save' : 'Add pool'}</button><a class="btn btn-ghost" href="${assessmentPath}">Cancel</a></div>
</form>
${pool && html`<div class="border-base-300 mt-6 border-t pt-4">${confirmButton({ label: 'Delete pool', question: `Delete ${pool.name}?`, consequence: 'Its questions stay: every candidate gets all of them.', address: `${path}/delete` })}</div>`}</section>`,
  }
}

function excerpt(question: PoolPage['questions'][number]): string {
  const text = [...plainQuestionText(question)]
  const points = question.points === 1 ? '1 point' : `${question.points} points`
  return `${text.length > EXCERPT ? `${text.slice(0, EXCERPT).join('')}…` : text.join('') || 'No text'} (${points})`
}
