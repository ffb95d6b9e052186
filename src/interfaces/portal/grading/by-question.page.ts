import type { Context } from '../../../domain/context.ts'
import type { AskedQuestion } from '../../../domain/submissions/grading/answers-to-grade.ts'
import type { EqualAnswer } from '../../../domain/submissions/grading/equal-answers.ts'
import type { GradedQuestion, SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import type { QuestionsToGrade } from '../../../domain/submissions/grading/list-questions-to-grade.ts'
import type { QuestionWalk } from '../../../domain/submissions/grading/walk-question.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, plainQuestionText } from '../../../http/pages/candidate-view.ts'
import { type IconName, icon } from '../../../http/pages/icon.ts'
import { type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { empty } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import { questionBody } from '../submissions/answers.parts.ts'
import { answerAndKey } from './answer-and-key.ts'
import { gradeForm } from './grade-form.ts'
import { gradeHistory, otherGraders } from './sheet.parts.ts'
import { gradingTools } from './sheet-tools.ts'

export const questionsPath = (ctx: Context, assessmentId: string): string => pathOf(ctx, `grading/by-question/${assessmentId}`)

/** @param submissionId undefined: where the grader stopped. */
export const walkPath = (ctx: Context, { assessmentId, questionId, wording }: AskedQuestion, submissionId?: string): string =>
  `${questionsPath(ctx, assessmentId)}/${questionId}/${wording}${submissionId === undefined ? '' : `/${submissionId}`}`

export function questionsToGradePage(ctx: Context, { assessment, questions, isCut }: QuestionsToGrade): Page {
  return {
    title: 'Grade by question',
    subtitle: assessment.name,
    trail: [['Grading', pathOf(ctx, 'grading')]],
    body:
      questions.length === 0
        ? empty('circle-check', 'No answers wait for you.')
        : panel(
            'questions',
            'Questions',
            html`${table(
              'questions-heading',
              ['Question', 'Text', 'Points', 'To grade', 'Page'],
              questions.map((question) => [
                question.number,
                html`<span class="preformatted" lang="" dir="auto">${plainQuestionText(question)}</span>`,
                question.points,
                `${question.toGrade}${isCut ? ' or more' : ''}`,
                html`<a class="${`btn btn-sm ${question.toGrade > 0 && 'btn-primary'}`}" href="${walkPath(ctx, question)}" aria-label="${`Grade question ${question.number}`}">${question.toGrade > 0 ? 'Grade' : 'Look again'}</a>`,
              ]),
            )}
<p class="hint">You read all answers to one question in a row, in a random order that starts elsewhere for each grader. A question that was changed while candidates took the assessment is listed once for each wording.</p>`,
          ),
  }
}

type WalkFacts = {
  ctx: Context
  askedQuestion: AskedQuestion
  walk: QuestionWalk
  view: SubmissionGradingView
  question: GradedQuestion
  /** True if the form was refused. */
  isFailed: boolean
}

export function answerPage(form: Form, { ctx, askedQuestion, walk, view, question, isFailed }: WalkFacts): Page {
  const { submission, candidate, questions } = view
  const { number, points } = question
  const address = pathOf(ctx, `grading/${submission.id}`)
  const currentPath = walkPath(ctx, askedQuestion, submission.id)
  const next = walkPath(ctx, askedQuestion, walk.next)
  const me = ctx.actor.kind === 'member' ? ctx.actor.id : ''
  const save = html`<div class="flex flex-wrap gap-2"><button class="btn btn-primary grow" formaction="${currentPath}" data-save-next>Save and next answer<kbd class="kbd kbd-sm text-base-content noscript:hidden pointer-coarse:hidden" aria-hidden="true">↵</kbd></button>${walk.next && html`<a class="btn" href="${next}" data-go="next">Skip<kbd class="kbd kbd-sm noscript:hidden pointer-coarse:hidden" aria-hidden="true">n</kbd></a>`}</div>`
  const hasText = question.attempts.some(({ kind, text }) => kind === 'text' && text.trim() !== '')
  return {
    title: `Question ${number}: ${candidate}`,
    heading: candidate,
    subtitle: html`Question ${number} of ${questions.length} · ${formatCount(points, 'point')}`,
    trail: [
      ['Grading', pathOf(ctx, 'grading')],
      [walk.assessment.name, questionsPath(ctx, askedQuestion.assessmentId)],
    ],
    actions: html`${walk.previous && arrow(walkPath(ctx, askedQuestion, walk.previous), 'Previous answer', 'chevron-left', 'previous')}${walk.next && arrow(next, 'Next answer', 'chevron-right')}`,
    body: html`${mistakes(form)}<div class="empty:hidden" role="status" data-part="others">${otherGraders(view)}</div>
${gradingTools(walkProgress(walk), 'one')}
<div data-sheet="${address}" data-drafts="${`grade ${me} ${submission.id}`}" data-next="${next}">
<details class="group" data-question="${number}" open><summary class="sr-only"><h2>Answer</h2></summary>
<div class="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_23rem]">
<section class="panel" aria-label="${`Question ${number} and its answer`}">
${questionBody(ctx, question)}${answerAndKey(ctx, question)}
${hasText && html`<p class="mt-4"><a class="btn btn-sm" href="${`${currentPath}/equal`}">Find equal answers</a></p>`}
<div data-part="${`given-${number}`}">${gradeHistory(question, address)}</div>
</section>
<section class="panel p-4 lg:sticky lg:top-24" aria-label="${`Grade of question ${number}`}">
${gradeForm(form, { sheet: view, question, address, queue: '', isFailed, further: save })}
</section>
</div></details></div>`,
  }
}

const arrow = (address: string, label: string, name: IconName, key?: string): Html =>
  html`<a class="btn btn-ghost btn-square" href="${address}" aria-label="${label}" title="${label}" data-go="${key}">${icon(name, 'size-5')}</a>`

function walkProgress({ graded, toGrade, isMore, pace }: QuestionWalk): Html {
  const total = graded + toGrade
  const timeLeft = pace !== null && toGrade > 0 && `${isMore ? 'more than' : 'about'} ${formatTimeLeft(pace * toGrade)}`
  return html`<p class="flex flex-wrap gap-x-5 text-sm"><span><span class="quiet">Graded</span> <strong class="font-medium tabular-nums">${graded} of ${isMore ? `more than ${total}` : formatCount(total, 'answer')}</strong></span>${timeLeft && html`<span class="quiet">${timeLeft} left at your pace</span>`}</p>
<progress class="progress progress-primary mt-1 block h-1.5" value="${graded}" max="${Math.max(1, total)}" aria-label="Answers graded"></progress>`
}

function formatTimeLeft(milliseconds: number): string {
  const minutes = Math.ceil(milliseconds / 60_000)
  return minutes < 120 ? formatCount(minutes, 'minute') : `${Math.round(minutes / 60)} hours`
}

/** Everything is graded. */
export function walkEndPage(ctx: Context, askedQuestion: AskedQuestion, walk: QuestionWalk): Page {
  return {
    title: 'All answers are graded',
    trail: [
      ['Grading', pathOf(ctx, 'grading')],
      [walk.assessment.name, questionsPath(ctx, askedQuestion.assessmentId)],
    ],
    actions: html`${walk.previous && arrow(walkPath(ctx, askedQuestion, walk.previous), 'Answer graded last', 'chevron-left', 'previous')}`,
    body: html`${empty('circle-check', walk.graded > 0 ? `You have graded ${formatCount(walk.graded, 'answer')} to this question. No more wait for you.` : 'No answers to this question wait for you.')}
<p><a class="btn btn-primary" href="${questionsPath(ctx, askedQuestion.assessmentId)}">Other questions</a></p>`,
  }
}

type EqualFacts = Omit<WalkFacts, 'walk'> & { equal: EqualAnswer[] }

export function equalAnswersPage(form: Form, { ctx, askedQuestion, view, question, equal, isFailed }: EqualFacts): Page {
  const { submission } = view
  const address = `${walkPath(ctx, askedQuestion, submission.id)}/equal`
  const answers = formatCount(equal.length, 'equal answer')
  return {
    title: 'Equal answers',
    trail: [
      ['Grading', pathOf(ctx, 'grading')],
      ['Answer', walkPath(ctx, askedQuestion, submission.id)],
    ],
    body:
      equal.length < 2
        ? empty('circle-check', 'No other ungraded answer equals this one.')
        : html`${mistakes(form)}<div class="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_23rem]">
<section class="panel" aria-label="Question and answer">${questionBody(ctx, question)}</section>
<section class="panel p-4" aria-labelledby="together-heading"><h2 class="mb-2" id="together-heading">${answers}</h2>
<p class="hint mb-3">This grade is saved for each of them. They differ at most in spaces, quotation marks and dashes. You can change each one later.</p>
${gradeForm(form, { sheet: view, question, address, queue: '', isFailed, equalAnswers: { address, label: `Grade ${answers}`, submissionIds: equal.map(({ submissionId }) => submissionId) } })}
</section></div>`,
  }
}
