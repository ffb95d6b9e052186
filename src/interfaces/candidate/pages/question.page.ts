import type { SessionProblem } from '../../../domain/errors.ts'
import { MAX_ANSWER_LENGTH } from '../../../domain/limits.ts'
import { isChosen, isRecorded } from '../../../domain/submissions/needs.ts'
import type { OpenQuestion, Progress } from '../../../domain/submissions/taking/read-progress.ts'
import type { Submission } from '../../../domain/submissions/taking/session.ts'
import { type Html, html } from '../../../html/html.ts'
import { isWebAddress, wordCount, wordDuration, written } from '../../../http/pages/candidate-view.ts'
import { button, form, hidden, invitePage, type Page, pathOf, type View, withScript } from '../kit/layout.ts'
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
    html`<p>Your assessment has begun. The time that it has runs from when you go on.</p>
${form(view, 'open', html`${hidden('number', 1)}<button type="submit">Go on</button>`)}`,
  )

/** Where the candidate is: at an open question, before the next one, or at the end. */
export function progressPage(here: Here): Page {
  const { progress, view } = here
  const { title, body } = progress.open
    ? openQuestion(here, progress.open)
    : progress.next
      ? nextQuestion(here, progress.next)
      : end(here)
  return withScript(
    invitePage(view, `${title}: ${view.invite.assessment.name}`, html`${lateNotice(here)}${notSharedNotice(here)}${body}`),
  )
}

const lateNotice = ({ isLate }: Here): Html | false =>
  isLate &&
  html`<div class="notice" role="alert"><p>That came too late: the time for the question was over. What had been saved before is your answer.</p></div>`

const notSharedNotice = ({ refusal, view }: Here): Html | false =>
  refusal === 'not_shared' &&
  html`<div class="notice" role="alert"><p>The question was not opened: your screen has to be recorded, and is not. Share it, then open the question. If you can not, tell ${view.invite.organization.name}: they can let you go on without it.</p></div>`

/** What the browser needs to know of the whole: what is recorded all the time, and until when. */
function session({ view, submission, terms, now }: Here, content: Html): Html {
  const capture = [terms.needs.screen && 'screen', view.invite.webcamMonitoring && 'webcam'].filter((medium) => medium !== false)
  return html`<div data-taking data-session="${`${pathOf(view)}/session`}" data-now="${now.toISOString()}" data-deadline-at="${submission.deadlineAt?.toISOString()}" data-capture="${capture.filter((medium) => !view.invite.waivedChecks.includes(medium === 'webcam' ? 'camera' : medium)).join(' ')}" data-webcam="${terms.webcam}">
${content}
</div>`
}

function nextQuestion(here: Here, { number, timeLimit }: NonNullable<Progress['next']>): Page {
  const { view, progress, submission, now } = here
  const title = `Question ${number} of ${progress.of}`
  return {
    title,
    body: session(
      here,
      html`<section data-next data-number="${number}">
${number === 1 && html`<p>Your assessment has begun.</p>`}
<h2>${title}</h2>
<p>${timeLimit > 0 ? `You have ${wordDuration(timeLimit)} for it, from when you open it.` : 'It has no time limit of its own.'}${submission.deadlineAt && html`<span data-whole> For the whole there are ${remaining(submission.deadlineAt, now)} left.</span>`}</p>
${form(view, 'open', html`${hidden('number', number)}<button type="submit">Open question ${number}</button>`)}</section>`,
    ),
  }
}

function openQuestion(here: Here, question: OpenQuestion): Page {
  const { view, progress, submission, now } = here
  const { number, closesAt } = question
  const title = `Question ${number} of ${progress.of}`
  const kinds = isChosen(question) ? 'text audio video' : isRecorded(question) ? question.responseType : 'text'
  return {
    title,
    body: session(
      here,
      html`<section data-question aria-labelledby="question-heading" data-number="${number}" data-of="${progress.of}" data-kinds="${kinds}" data-closes-at="${closesAt?.toISOString()}" data-record-limit="${submission.answerRecordLimit}" data-takes-left="${question.takesLeft}" data-play-limit="${submission.questionReplayLimit}" data-plays-left="${question.playsLeft}">
<h2 id="question-heading">${title}</h2>
${question.script && written(question.script, question.sourceLanguage)}
${isWebAddress(question.audioUrl) && html`<p data-prompt="audio"><a href="${question.audioUrl}" rel="noreferrer">Listen to the question</a></p>`}
${isWebAddress(question.videoUrl) && html`<p data-prompt="video"><a href="${question.videoUrl}" rel="noreferrer">Watch the question</a></p>`}
<p class="facts">Answer by ${isChosen(question) ? 'text, audio or video' : question.responseType}${question.timeLimit > 0 && `, within ${wordDuration(question.timeLimit)}`}${question.points > 0 && `, ${wordCount(question.points, 'point')}`}</p>
${closesAt && html`<p class="facts" data-clock="${question.timeLimit > 0 ? 'question' : 'whole'}">When this page was loaded, you had ${remaining(closesAt, now)} left.</p>`}
${isRecorded(question) ? recordedAnswer(view, number) : writtenAnswer(view, question)}</section>`,
    ),
  }
}

function writtenAnswer(view: View, question: OpenQuestion): Html {
  const { number, text } = question
  return html`${isChosen(question) && html`<div data-recorder></div>`}
${form(
  view,
  'answer',
  html`${hidden('number', number)}
<label for="answer">Your answer</label>
<textarea id="answer" name="text" lang="${question.targetLanguage ?? ''}" dir="auto" data-answer data-revision="${text?.revision ?? 0}" maxlength="${MAX_ANSWER_LENGTH}">
${text?.text}</textarea>
<p class="hint" data-length>At most ${MAX_ANSWER_LENGTH.toLocaleString('en')} characters.</p>
<div class="actions"><button type="submit" name="then" value="save" class="plain">Save</button><button type="submit" name="then" value="next">Save and go on</button></div>`,
)}`
}

const recordedAnswer = (view: View, number: number): Html => html`<div data-recorder></div>
<noscript><div class="notice"><p>This question is answered by a recording, and that needs JavaScript: please allow it for this page, and load it again.</p></div></noscript>
${form(view, 'next', html`${hidden('number', number)}<button type="submit" class="plain">Go on</button>`)}`

function end(here: Here): Page {
  const { view, progress } = here
  const { of, unanswered, isOver } = progress
  return {
    title: 'Finish',
    body: session(
      here,
      html`<section data-end aria-labelledby="end-heading">
<h2 id="end-heading">${isOver ? 'The time is over' : 'This is the end'}</h2>
<p>${wordUnanswered(of, unanswered)}</p>
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
  invitePage(view, view.invite.assessment.name, html`<p>Your assessment has begun, and its time runs.</p>\n${consent}`)
