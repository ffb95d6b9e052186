import type { SessionProblem } from '../../../domain/errors.ts'
import { MAX_ANSWER_LENGTH } from '../../../domain/limits.ts'
import { isChosen, isRecorded } from '../../../domain/submissions/needs.ts'
import type { OpenQuestion, Progress } from '../../../domain/submissions/taking/read-progress.ts'
import type { Submission } from '../../../domain/submissions/taking/session.ts'
import { type Html, html } from '../../../html/html.ts'
import { isWebAddress, wordCount, wordDuration, written } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import {
  button,
  form,
  hidden,
  invitePage,
  notice,
  type Page,
  pathOf,
  takingPage,
  type View,
  type Way,
  withScript,
} from '../kit/layout.ts'
import type { Terms } from './consent.page.ts'

// The way through the paper: a question is opened, answered and left; then the end.

type Here = {
  view: View
  submission: Submission
  progress: Progress
  terms: Terms
  now: Date
  isLate: boolean
  refusal: SessionProblem | undefined
}

/** Of an invite that was started without a submission: it gets one by going on. */
export const begunPage = (view: View): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">Your assessment has begun. The time that it has runs from when you continue.</p>
${form(view, 'open', html`${hidden('number', 1)}<button type="submit" class="btn btn-primary btn-lg mt-6">Continue</button>`)}`,
  )

/** Where the candidate is: at an open question, before the next one, or at the end. */
export function progressPage(here: Here): Page {
  const { progress, view } = here
  const { title, body, way } = progress.open
    ? openQuestion(here, progress.open)
    : progress.next
      ? nextQuestion(here, progress.next)
      : end(here)
  return withScript(
    takingPage(view, `${title}: ${view.invite.assessment.name}`, way, html`${lateNotice(here)}${notSharedNotice(here)}${body}`),
  )
}

const lateNotice = ({ isLate }: Here): Html | false =>
  isLate &&
  notice(
    'warning',
    html`<p>That came too late: the time for the question was over. What had been saved before is your answer.</p>`,
    'alert',
  )

const notSharedNotice = ({ refusal, view }: Here): Html | false =>
  refusal === 'not_shared' &&
  notice(
    'error',
    html`<p>The question was not opened: your screen has to be recorded, and is not. Share it, then open the question. If you can not, tell ${view.invite.organization.name}: they can let you go on without it.</p>`,
    'alert',
  )

/** What a page on the way shows. */
type Shown = Pick<Page, 'title' | 'body'> & { way: Way }

/** What the browser needs to know of the whole: what is recorded all the time, and until when. */
function session({ view, submission, terms, now }: Here, content: Html): Html {
  const capture = [terms.needs.screen && 'screen', view.invite.webcamMonitoring && 'webcam'].filter((medium) => medium !== false)
  return html`<div data-taking data-session="${`${pathOf(view)}/session`}" data-now="${now.toISOString()}" data-deadline-at="${submission.deadlineAt?.toISOString()}" data-capture="${capture.filter((medium) => !view.invite.waivedChecks.includes(medium === 'webcam' ? 'camera' : medium)).join(' ')}" data-webcam="${terms.webcam}">
${content}
</div>`
}

function nextQuestion(here: Here, { number, timeLimit }: NonNullable<Progress['next']>): Shown {
  const { view, progress, submission, now } = here
  const title = `Question ${number} of ${progress.of}`
  return {
    title,
    way: { done: number - 1, of: progress.of, clock: false },
    body: session(
      here,
      html`<section class="panel p-8 text-center" data-next data-number="${number}">
${number === 1 && html`<p class="quiet">Your assessment has begun.</p>`}
<h2 class="text-2xl">${title}</h2>
<p class="mt-2">${timeLimit > 0 ? `You have ${wordDuration(timeLimit)} for it, from when you open it.` : 'It has no time limit of its own.'}${submission.deadlineAt && html`<span data-whole> For the whole there are ${remaining(submission.deadlineAt, now)} left.</span>`}</p>
${form(view, 'open', html`${hidden('number', number)}<button type="submit" class="btn btn-primary btn-lg mt-6">Open question ${number}</button>`)}</section>`,
    ),
  }
}

function openQuestion(here: Here, question: OpenQuestion): Shown {
  const { progress, submission, now } = here
  const { number, closesAt } = question
  const title = `Question ${number} of ${progress.of}`
  const kinds = isChosen(question) ? 'text audio video' : isRecorded(question) ? question.responseType : 'text'
  return {
    title,
    way: { done: number - 1, of: progress.of, clock: closesAt !== null && clock(question, remaining(closesAt, now)) },
    body: session(
      here,
      html`<section data-question aria-labelledby="question-heading" data-number="${number}" data-of="${progress.of}" data-kinds="${kinds}" data-closes-at="${closesAt?.toISOString()}" data-record-limit="${submission.answerRecordLimit}" data-takes-left="${question.takesLeft}" data-play-limit="${submission.questionReplayLimit}" data-plays-left="${question.playsLeft}">
<h2 id="question-heading" class="quiet text-sm font-medium">${title}${question.points > 0 && html` <span aria-hidden="true">·</span> ${wordCount(question.points, 'point')}`}</h2>
${question.script && html`<div class="mt-2 text-xl font-semibold tracking-tight">${written(question.script, question.sourceLanguage)}</div>`}
${isWebAddress(question.audioUrl) && html`<p data-prompt="audio"><a href="${question.audioUrl}" rel="noreferrer">Listen to the question</a></p>`}
${isWebAddress(question.videoUrl) && html`<p data-prompt="video"><a href="${question.videoUrl}" rel="noreferrer">Watch the question</a></p>`}
<p class="quiet mt-3">Answer by ${isChosen(question) ? 'text, audio or video' : question.responseType}${question.timeLimit > 0 && `, within ${wordDuration(question.timeLimit)}`}.</p>
${isRecorded(question) ? recordedAnswer(here, number) : writtenAnswer(here, question)}</section>`,
    ),
  }
}

const clock = ({ timeLimit }: OpenQuestion, left: string): Html =>
  html`<p class="clock" data-clock="${timeLimit > 0 ? 'question' : 'whole'}">When this page was loaded, you had ${left} left.</p>`

/** The words of the button that leaves a question. */
const wordLeaving = ({ progress }: Here, number: number): Html =>
  number < progress.of ? html`Next question ${icon('arrow-right')}` : html`Continue ${icon('arrow-right')}`

function writtenAnswer(here: Here, question: OpenQuestion): Html {
  const { view } = here
  const { number, text } = question
  return html`${isChosen(question) && html`<div data-recorder></div>`}
${form(
  view,
  'answer',
  html`${hidden('number', number)}
<label for="answer" class="mt-6 block font-medium">Your answer</label>
<textarea id="answer" class="textarea mt-1 min-h-48 w-full text-base" name="text" lang="${question.targetLanguage ?? ''}" dir="auto" data-answer data-revision="${text?.revision ?? 0}" maxlength="${MAX_ANSWER_LENGTH}">
${text?.text}</textarea>
<p class="hint" data-length>At most ${MAX_ANSWER_LENGTH.toLocaleString('en')} characters.</p>
<div class="mt-4 flex flex-wrap justify-end gap-3"><button type="submit" name="then" value="save" class="btn btn-outline btn-lg">Save</button><button type="submit" name="then" value="next" class="btn btn-primary btn-lg">${wordLeaving(here, number)}</button></div>`,
)}`
}

const recordedAnswer = (here: Here, number: number): Html => html`<div data-recorder></div>
<noscript><div class="notice alert alert-soft alert-warning my-4"><p>This question is answered by a recording, and that needs JavaScript: please allow it for this page, and load it again.</p></div></noscript>
${form(here.view, 'next', html`${hidden('number', number)}<div class="mt-4 flex justify-end"><button type="submit" class="btn btn-lg" data-leave>${wordLeaving(here, number)}</button></div>`)}`

function end(here: Here): Shown {
  const { view, progress } = here
  const { of, unanswered, isOver } = progress
  return {
    title: 'Finish',
    way: { done: of, of, clock: false },
    body: session(
      here,
      html`<section class="panel p-8 text-center" data-end aria-labelledby="end-heading">
<h2 id="end-heading" class="text-2xl">${isOver ? 'The time is over' : 'This is the end'}</h2>
<p class="mt-2">${wordUnanswered(of, unanswered)}</p>
<p>${isOver ? 'What you have answered is handed in by itself within minutes, or now:' : 'Finish to hand in your answers: that can not be undone.'}</p>
${button(view, 'finish', 'Finish')}</section>`,
    ),
  }
}

function wordUnanswered(of: number, unanswered: number[]): string {
  if (of === 0) return 'Your assessment has begun. It has no questions.'
  if (unanswered.length === 0) return 'You have answered every question.'
  if (unanswered.length === of) return 'You have answered no question.'
  const [last, ...others] = unanswered.toReversed()
  if (others.length === 0) return `Question ${last} has no answer.`
  return `Questions ${others.reverse().join(', ')} and ${last} have no answer.`
}

/** At least a second: what is shown is not over. */
const remaining = (until: Date, now: Date): string =>
  wordDuration(Math.max(1, Math.floor((until.getTime() - now.getTime()) / 1_000)))

/** Of an assessment that began without consent: it is asked for before the first question. */
export const consentMissingPage = (view: View, consent: Html): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">Your assessment has begun, and its time runs.</p>\n${consent}`,
  )
