import type { Context } from '../../../domain/context.ts'
import { chooseAnswer } from '../../../domain/submissions/choose-answer.ts'
import { formatMoment, formatNote } from '../../../domain/submissions/grading/format-note.ts'
import type { GradedQuestion, SubmissionGradingView } from '../../../domain/submissions/grading/grading-view.ts'
import { type GradingNote, MAX_NOTE_LENGTH } from '../../../domain/submissions/grading/notes.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { Form } from '../kit/forms.ts'
import { formatIssue } from '../kit/issue-messages.ts'
import { pathOf } from '../kit/layout.ts'

// Notes of graders at moments of a recorded answer.

type NotesFacts = { ctx: Context; sheet: SubmissionGradingView; question: GradedQuestion; queue: string }

const recordingOf = ({ attempts }: GradedQuestion) => chooseAnswer(attempts)?.media ?? null

const notesOf = (question: GradedQuestion): GradingNote[] => {
  const recording = recordingOf(question)
  return question.notes.filter(({ mediaId }) => mediaId === recording?.id)
}

/** Pins and the list, by the name of their part. */
export const noteParts = (facts: NotesFacts): [name: string, part: Html][] => [
  [`pins-${facts.question.number}`, notePins(facts.question)],
  [`notes-${facts.question.number}`, noteList(facts)],
]

/** Notes on the answer's recording: above the player, and below it. @property isFailed true if the refused form is of this recording. */
export function recordingNotes(form: Form, facts: NotesFacts & { categories: readonly string[] }): { above: Html; below: Html } {
  const [[pinsName, pins], [listName, list]] = noteParts(facts) as [[string, Html], [string, Html]]
  return {
    above: html`<div class="empty:hidden" data-part="${pinsName}">${pins}</div>`,
    below: html`<div class="mt-3 empty:hidden" data-part="${listName}">${list}</div>${noteForm(form, facts)}`,
  }
}

/** Dots, and bars for ranges, in the width of the waveform. */
function notePins(question: GradedQuestion): Html {
  const length = recordingOf(question)?.milliseconds ?? 0
  const notes = notesOf(question)
  if (notes.length === 0 || length === 0) return html``
  const percent = (ms: number): string => `${((100 * ms) / length).toFixed(2)}%`
  const pin = ({ startMs, endMs }: GradingNote) =>
    html`${endMs !== null && html`<rect x="${percent(startMs)}" y="4" width="${percent(endMs - startMs)}" height="4"></rect>`}<circle cx="${percent(startMs)}" cy="6" r="4"></circle>`
  return html`<svg class="fill-primary mb-1 block h-3 w-full overflow-visible" aria-hidden="true" data-pins>${notes.map(pin)}</svg>`
}

function noteList({ ctx, sheet, question, queue }: NotesFacts): Html {
  const notes = notesOf(question)
  if (notes.length === 0) return html``
  const isClosed = sheet.submission.state === 'released'
  const sum = notes.reduce((points, { pointsOff }) => points + (pointsOff ?? 0), 0)
  return html`<h3>Notes</h3>
<ul class="divide-base-300 divide-y">${notes.map((note) => html`${noteItem(note, { ctx, isClosed, queue, submissionId: sheet.submission.id })}\n`)}</ul>
${sum > 0 && html`<p class="facts">Notes take ${formatCount(sum, 'point')} off. They don’t change the points: the grader gives those.</p>`}`
}

type ItemFacts = { ctx: Context; isClosed: boolean; queue: string; submissionId: string }

function noteItem(note: GradingNote, { ctx, isClosed, queue, submissionId }: ItemFacts): Html {
  const { id, mediaId, startMs, category, text, pointsOff, graderId, name } = note
  const isOwn = ctx.actor.kind === 'member' && ctx.actor.id === graderId
  const byline = [pointsOff !== null && `${formatCount(pointsOff, 'point')} off`, isOwn ? 'you' : name].filter(Boolean).join(', ')
  const moment = formatMoment(note)
  return html`<li class="flex items-start gap-3 py-1.5 text-sm" data-note="${formatNote(note)}" data-from="${startMs / 1_000}"><a class="btn btn-xs tabular-nums" href="${`${pathOf(ctx, `media/${mediaId}`)}#t=${startMs / 1_000}`}" data-at="${startMs / 1_000}">${moment}</a><span class="min-w-0 grow" dir="auto">${category && html`<strong class="font-medium">${category}</strong> `}${text} <span class="text-base-content/70">${byline}</span></span>${
    isOwn &&
    !isClosed &&
    html`<form method="post" action="${`${pathOf(ctx, `grading/${submissionId}/notes/${id}/delete`)}${queue}`}"><button class="btn btn-ghost btn-xs btn-square" aria-label="${`Delete the note at ${moment}`}" title="Delete">${icon('x', 'size-3.5')}</button></form>`
  }</li>`
}

function noteForm(
  form: Form,
  { ctx, sheet, question, queue, categories }: NotesFacts & { categories: readonly string[] },
): Html | false {
  const recording = recordingOf(question)
  const isClosed = sheet.submission.state === 'released' || question.assignedTo !== null
  if (recording?.state !== 'ready' || isClosed) return false
  const isFailed = form.values.get('media') === recording.id
  const typed = (name: string, otherwise = ''): string => (isFailed ? form.values.get(name) : null) ?? otherwise
  const idOf = (name: string): string => (isFailed ? name : `${name}-note-${question.number}`)
  const input = (name: string, label: string, look: string, { placeholder = '', inputmode = 'text' } = {}) =>
    html`<div class="${name === 'text' ? 'grow' : ''}"><label class="mb-1 block text-sm" for="${idOf(name)}">${label}</label><input class="${`input input-sm ${look}`}" id="${idOf(name)}" name="${name}" value="${typed(name)}" placeholder="${placeholder}" inputmode="${inputmode}" maxlength="${MAX_NOTE_LENGTH}" autocomplete="off" dir="auto"></div>`
  return html`<form method="post" action="${`${pathOf(ctx, `grading/${sheet.submission.id}/notes`)}${queue}`}" class="mt-3 print:hidden" aria-label="${`Note on the answer to question ${question.number}`}" data-note-form>
<input type="hidden" name="id" value="${typed('id', ctx.deps.newId())}">
<input type="hidden" name="media" value="${recording.id}">
<input type="hidden" name="number" value="${question.number}">
<div class="flex flex-wrap items-end gap-2">
${input('at', 'At', 'w-20 tabular-nums', { placeholder: '0:00' })}
${input('until', 'Until', 'w-20 tabular-nums', { placeholder: 'optional' })}
${input('text', 'Note', 'w-full min-w-40')}
${
  categories.length > 0 &&
  html`<div><label class="mb-1 block text-sm" for="${idOf('category')}">Category</label><select class="select select-sm w-36" id="${idOf('category')}" name="category"><option value="">None</option>${categories.map((category) => html`<option ${typed('category') === category && html`selected`}>${category}</option>`)}</select></div>`
}
${question.points > 0 && input('pointsOff', 'Points off', 'w-20 tabular-nums', { inputmode: 'decimal' })}
<button class="btn btn-sm">Add<kbd class="kbd kbd-sm noscript:hidden pointer-coarse:hidden" aria-hidden="true">m</kbd></button>
</div>
<p class="mistake empty:hidden" role="alert" data-note-mistake>${isFailed && form.issues.map(formatIssue).join(' ')}</p>
</form>`
}
