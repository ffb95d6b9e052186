import { isSimultaneous } from '../../../domain/assessments/simultaneous.ts'
import { assetIdIn } from '../../../domain/assets/references.ts'
import type { SessionProblem } from '../../../domain/errors.ts'
import { findContactOf } from '../../../domain/invites/find-contact.ts'
import { attemptLimitOf } from '../../../domain/submissions/taking/attempt-limits.ts'
import { isPreparing } from '../../../domain/submissions/taking/paper.ts'
import type { CandidateProgress, OpenQuestion, SectionProgress } from '../../../domain/submissions/taking/read-progress.ts'
import type { Submission } from '../../../domain/submissions/taking/session.ts'
import { withExtraTime } from '../../../domain/time/extra-time.ts'
import { type Html, html } from '../../../html/html.ts'
import { isWebAddress, questionText } from '../../../http/pages/candidate-view.ts'
import type { ConsentTerms } from '../../../http/pages/consent-terms.ts'
import { icon } from '../../../http/pages/icon.ts'
import type { Pictures } from '../../../http/pages/pictures.ts'
import { answerControl, formatInstruction } from '../../../kinds/answer-control.ts'
import { kinds } from '../../../kinds/index.ts'
import type { CandidateTexts } from '../../../locales/languages.ts'
import { nameLanguageIn } from '../../../locales/names.ts'
import {
  button,
  form,
  hidden,
  invitePage,
  mailtoOf,
  notice,
  type Page,
  type ProgressHeader,
  pathOf,
  takingPage,
  type View,
  withScript,
} from '../kit/layout.ts'
import { freeButtons, sectionIntro, sectionOverview } from './section.page.ts'
import { simultaneousNote, simultaneousPanel } from './simultaneous.parts.ts'

// Pages during the assessment: questions, sections, and the end.

type TakingFacts = {
  view: View
  submission: Pick<
    Submission,
    'deadlineAt' | 'isDeadlineOfQuestion' | 'extraTimePercent' | 'answerRecordLimit' | 'questionReplayLimit' | 'penaltyPercent'
  >
  progress: CandidateProgress
  terms: ConsentTerms
  now: Date
  pictures: Pictures
  isPreview?: boolean
  isLate: boolean
  /** True if the candidate tries to leave the open question without an answer. Without scripts, the page asks. */
  isUnanswered?: boolean
  refusal: SessionProblem | undefined
}

/** Page of a started invite without a submission. Continuing creates one. */
export const begunPage = (view: View): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">${view.t.text(view.invite.assessment.timeLimit > 0 ? 'question.begun.clock' : 'question.begun')}</p>
${form(view, 'open', html`${hidden('number', 1)}<button type="submit" class="btn btn-primary btn-lg mt-6">${view.t.text('question.continue')}</button>`)}`,
  )

/** Chooses the page: an open question, the next one, or the end. */
export function progressPage(facts: TakingFacts): Page {
  const { view } = facts
  const { title, body, header } = chooseStep(facts)
  return withScript(
    takingPage(
      view,
      view.t.text('question.page', { title, assessment: view.invite.assessment.name }),
      header,
      html`${lateNotice(facts)}${unansweredNotice(facts)}${notSharedNotice(facts)}${body}`,
    ),
  )
}

function chooseStep(facts: TakingFacts): PageParts {
  const { open, next, section } = facts.progress
  if (open) return openQuestion(facts, open)
  if (section && (section.openedAt === null || section.isFree)) return sectionStep(facts, section)
  return next ? nextQuestion(facts, next) : end(facts)
}

const lateNotice = ({ isLate, view: { t }, progress: { open }, now }: TakingFacts): Html | false =>
  isLate &&
  notice('warning', html`<p>${t.text(open && isPreparing(open, now) ? 'question.early' : 'question.late')}</p>`, 'alert')

const unansweredNotice = ({ isUnanswered, progress: { open }, view }: TakingFacts): Html | false =>
  isUnanswered === true &&
  open !== undefined &&
  notice(
    'warning',
    html`<p>${view.t.text('question.unanswered', { number: open.number })}</p>
${form(view, 'next', html`${hidden('number', open.number)}<button type="submit" class="btn btn-sm">${view.t.text('question.leave_unanswered')}</button>`)}`,
    'alert',
  )

const notSharedNotice = ({ refusal, view: { t, invite } }: TakingFacts): Html | false =>
  refusal === 'not_shared' &&
  notice('error', html`<p>${t.text('question.not_shared', { organization: invite.organization.name })}</p>`, 'alert')

type PageParts = Pick<Page, 'title' | 'body'> & { header: ProgressHeader }

function captured({ view: { invite }, terms }: TakingFacts): ('screen' | 'webcam')[] {
  const media = [terms.needs.screen && 'screen', invite.webcamMonitoring && 'webcam'] as const
  return media
    .filter((kind) => kind !== false)
    .filter((kind) => !invite.waivedChecks.includes(kind === 'webcam' ? 'camera' : kind))
}

const isRecordedAllTheTime = (facts: TakingFacts): boolean => captured(facts).length > 0

/** Attributes for the script: continuous recordings, and the deadline. */
function session(facts: TakingFacts, content: Html): Html {
  const { view, submission, terms, now } = facts
  return html`<div data-taking data-session="${`${pathOf(view)}/session`}" data-now="${now.toISOString()}" data-deadline-at="${submission.deadlineAt?.toISOString()}" data-capture="${captured(facts).join(' ')}" data-webcam="${terms.webcam}">
${content}
</div>`
}

/** The page before a section, or the overview of one with free navigation. */
function sectionStep(facts: TakingFacts, section: SectionProgress): PageParts {
  const { view, progress, submission, now } = facts
  const { t } = view
  const { closesAt, openedAt, questions } = section
  const { deadlineAt } = submission
  const whole = deadlineAt && html`<span data-whole>${t.text('question.whole', { time: remaining(t, deadlineAt, now) })}</span>`
  const limit = Math.floor(withExtraTime(section.timeLimit, submission.extraTimePercent))
  return {
    title: section.name,
    header: {
      done: openedAt ? questions.at(-1)!.number : questions[0]!.number - 1,
      questionCount: progress.of,
      clock: openedAt !== null && closesAt !== null && clock(t, 'section', remaining(t, closesAt, now)),
      isRecorded: isRecordedAllTheTime(facts),
    },
    body: session(facts, openedAt ? sectionOverview(view, section) : sectionIntro(view, section, { limit, whole })),
  }
}

function nextQuestion(facts: TakingFacts, { number, ...next }: NonNullable<CandidateProgress['next']>): PageParts {
  const { view, progress, submission, now } = facts
  const { timeLimit, preparationTime } = ownTimes(facts, next)
  const { records } = kinds.answering(next.responseType)
  const { t } = view
  const shared = preparationTime > 0 ? 'prepares' : 'shared'
  const title = t.text('question.number', { number, of: progress.of })
  return {
    title,
    header: { done: number - 1, questionCount: progress.of, clock: false, isRecorded: isRecordedAllTheTime(facts) },
    body: session(
      facts,
      html`<section class="panel p-8 text-center" data-next data-number="${number}">
${number === 1 && html`<p class="quiet mb-2">${t.text('question.begun')}</p>`}
<h2 class="text-2xl">${title}</h2>
${direction(t, next)}<p class="mt-2" data-way>${describeAnswering(facts, next)}</p>
<p class="mt-2">${formatTimes(t, { timeLimit, preparationTime })}${submission.deadlineAt && html`<span data-whole> ${t.text('question.whole', { time: remaining(t, submission.deadlineAt, now) })}</span>`}</p>
${(timeLimit > 0 || preparationTime > 0) && html`<p class="quiet mt-1">${t.text(timeLimit > 0 && records.length > 0 ? `card.${shared}.recording` : `card.${shared}`)}</p>`}
${form(view, 'open', html`${hidden('number', number)}<button type="submit" class="btn btn-primary btn-lg mt-6">${t.text('question.open', { number })}</button>`)}</section>`,
    ),
  }
}

/** Time limit and preparation time of a question. */
function formatTimes(t: CandidateTexts, { timeLimit, preparationTime }: Times): string {
  const [time, preparation] = [t.duration(timeLimit), t.duration(preparationTime)]
  if (preparationTime > 0)
    return timeLimit > 0 ? t.text('card.times', { preparation, time }) : t.text('card.times.unlimited', { preparation })
  return timeLimit > 0 ? t.text('question.limit', { time }) : t.text('question.unlimited')
}

/** Kind of answer, attempts, and plays, shown before the question is opened. */
function describeAnswering(
  { view: { t }, submission }: TakingFacts,
  next: Omit<NonNullable<CandidateProgress['next']>, 'number'>,
): string {
  const { records } = kinds.answering(next.responseType)
  const isPlayed = next.audioUrl !== '' || next.videoUrl !== ''
  if (isSimultaneous(next)) return t.text('card.simultaneous')
  const sentences = [
    t.text('card.answer', { kind: next.responseType as never }), // a kind without its own text gets the text of `other`
    records.length > 0 && t.text('card.attempts', { count: submission.answerRecordLimit }),
    isPlayed && t.text('card.plays', { count: submission.questionReplayLimit }),
  ]
  return sentences.filter((sentence) => sentence !== false).join(' ')
}

function openQuestion(facts: TakingFacts, question: OpenQuestion): PageParts {
  const { progress, submission, now, view } = facts
  const { t } = view
  const { number, answersAt, closesAt } = question
  const isHeld = isPreparing(question, now)
  const title = t.text('question.number', { number, of: progress.of })
  const { records } = kinds.answering(question.responseType)
  const control = answerControl(t, question, facts.pictures)
  const answerKinds = [...(control.fields ? ['text'] : []), ...records].join(' ')
  const answering = formatInstruction(t, { ...question, ...ownTimes(facts, question) })
  return {
    title,
    header: {
      done: number - 1,
      questionCount: progress.of,
      clock: html`${isHeld && preparationClock(t, remaining(t, answersAt!, now))}${closesAt && clock(t, clockOf(question, progress.section), remaining(t, closesAt, now))}`,
      hasAnswer: Boolean(control.fields) && !isHeld,
      isRecorded: isRecordedAllTheTime(facts),
    },
    body: session(
      facts,
      html`<section data-question aria-labelledby="question-heading" data-free="${progress.section?.isFree && 'yes'}" data-number="${number}" data-of="${progress.of}" data-kinds="${answerKinds}" data-answers-at="${isHeld && answersAt?.toISOString()}" data-closes-at="${closesAt?.toISOString()}" data-record-limit="${attemptLimitOf(question, submission)}" data-attempts-left="${question.attemptsLeft}" data-play-limit="${submission.questionReplayLimit}" data-plays-left="${question.playsLeft}">
<h2 id="question-heading" class="quiet text-sm font-medium">${title}${question.points > 0 && html` <span aria-hidden="true">·</span> ${t.text('paper.points', { count: question.points })}`}</h2>
${direction(t, question)}${question.script && html`<div class="${question.scriptFormat === 'markdown' ? 'mt-2 text-lg' : 'mt-2 text-xl font-semibold tracking-tight'}">${questionText(question, question.sourceLanguage, facts.pictures)}</div>`}
${isSimultaneous(question) ? simultaneousNote(t) : html`${promptLink(facts, 'audio', question.audioUrl)}\n${promptLink(facts, 'video', question.videoUrl)}`}
${answering && html`<p class="quiet mt-3">${answering}</p>`}
${penalty(facts, question)}
${isHeld && preparation(facts, question)}
<div class="peer-data-preparation:hidden" data-answering>${isSimultaneous(question) && simultaneousPanel(t, question, facts.isPreview ? facts.pictures : null)}${answer(facts, number, control)}
${records.length > 0 && html`<p class="quiet mt-6 text-sm" data-ask hidden>${formatContact(view, number)}</p>`}</div></section>`,
    ),
  }
}

type Directed = Pick<OpenQuestion, 'responseType' | 'sourceLanguage' | 'targetLanguage'>

/** Task that names the languages of the question and the answer; nothing if only the question has a language. */
function direction(t: CandidateTexts, { responseType, sourceLanguage, targetLanguage }: Directed): Html | false {
  if (!targetLanguage) return false
  const target = nameLanguageIn(t.language, targetLanguage)
  const isFromOther = sourceLanguage && sourceLanguage !== targetLanguage
  const task = isFromOther
    ? t.text('question.direction', {
        kind: directionKindOf(responseType),
        source: nameLanguageIn(t.language, sourceLanguage),
        target,
      })
    : t.text('question.answer_language', { target })
  return html`<p class="mt-2 font-semibold" data-direction>${task}</p>`
}

function directionKindOf(responseType: string): 'spoken' | 'written' | 'either' | 'other' {
  const { savedBy } = kinds.answering(responseType)
  if (!savedBy.includes('recording')) return savedBy.includes('text') ? 'written' : 'other'
  return savedBy.includes('text') ? 'either' : 'spoken'
}

/**
 * Hides the answer and its clock until answering begins. The script then removes it; without scripts, its button does.
 */
const preparation = ({ view }: TakingFacts, { number }: OpenQuestion): Html =>
  html`<div class="panel peer mt-6 flex min-h-56 flex-col items-center justify-center gap-3 py-8 text-center" data-preparation>
<h3 class="text-xl">${view.t.text('question.prepare')}</h3>
<p class="quiet">${view.t.text('question.prepare.text')}</p>
<noscript><p class="quiet">${view.t.text('question.prepare.noscript')}</p></noscript>
${form(view, 'begin', html`${hidden('number', number)}<button type="submit" class="btn btn-primary btn-lg mt-3">${view.t.text('question.prepare.end')}</button>`)}</div>`

/** Contact for a candidate whose recording was interrupted. */
function formatContact({ t, invite }: View, number: number): Html | string {
  const contact = findContactOf(invite)
  if (!contact) return t.text('question.ask.anybody', { organization: invite.organization.name })
  const subject = t.text('question.ask.subject', { number, assessment: invite.assessment.name })
  const mail = html`<a class="link" href="${`${mailtoOf(contact.address)}?subject=${encodeURIComponent(subject)}`}">${contact.address}</a>`
  return t.html('question.ask', { person: contact.name, address: mail })
}

function penalty({ submission: { penaltyPercent }, view: { t } }: TakingFacts, { version, points }: OpenQuestion): Html | false {
  const costs = version !== null && kinds.get(version.responseType)?.penalizes === true
  return (
    costs &&
    penaltyPercent > 0 &&
    points > 0 &&
    html`<p class="quiet mt-3">${t.text('question.penalty', { percent: penaltyPercent })}</p>`
  )
}

/** Prompt of a question. Stored media have no address before a play is granted, except in previews. */
function promptLink({ view: { t }, pictures, isPreview }: TakingFacts, kind: 'audio' | 'video', address: string): Html | false {
  const id = assetIdIn(address)
  if (id !== null && !isPreview) return html`<p data-prompt="${kind}"><noscript>${t.text('paper.noscript')}</noscript></p>`
  const source = id === null ? address : pictures.urlOf(id)
  if (id === null && !isWebAddress(address)) return false
  return html`<p data-prompt="${kind}"><a href="${source}" rel="noreferrer">${t.text(kind === 'audio' ? 'paper.listen' : 'paper.watch')}</a></p>`
}

type Times = Pick<OpenQuestion, 'timeLimit' | 'preparationTime'>

/** Times of a question in whole seconds; 0 for none. */
function ownTimes({ submission: { extraTimePercent } }: TakingFacts, { timeLimit, preparationTime }: Times): Times {
  const withExtra = (seconds: number) => Math.floor(withExtraTime(seconds, extraTimePercent))
  return { timeLimit: withExtra(timeLimit), preparationTime: withExtra(preparationTime) }
}

/** Clock of the preparation. Never red, because nothing is lost at its end. */
const preparationClock = (t: CandidateTexts, timeLeft: string): Html =>
  html`<p class="clock peer text-base-content!" role="timer" data-clock="preparation">${t.text('question.clock.preparation', { time: timeLeft })}</p>`

type Clock = 'question' | 'section' | 'whole'

/** Limit that ends a question first. */
function clockOf({ timeLimit, closesAt }: OpenQuestion, section: SectionProgress | null): Clock {
  if (closesAt !== null && section?.closesAt?.getTime() === closesAt.getTime()) return 'section'
  return timeLimit > 0 ? 'question' : 'whole'
}

const clock = (t: CandidateTexts, kind: Clock, timeLeft: string): Html =>
  html`<p class="clock peer-data-[clock=preparation]:hidden" data-clock="${kind}">${t.text('question.clock', { time: timeLeft })}</p>`

/** Foot of a question: recording status and buttons. Stays in view below a long question. */
const foot = (facts: TakingFacts, buttons: Html): Html => {
  const media = captured(facts)
  return html`<div class="sticky bottom-0 z-10 -mx-4 mt-6 flex flex-wrap items-center justify-end gap-x-4 gap-y-2 border-t border-base-300 bg-base-200 px-4 py-3" data-foot>${media.length > 0 && html`<p class="quiet me-auto flex items-center gap-2 text-sm">${icon('video')}${facts.view.t.text(RECORDED[media.join(' ') as keyof typeof RECORDED])}</p>`}${buttons}</div>`
}

const RECORDED = {
  screen: 'question.records.screen',
  webcam: 'question.records.webcam',
  'screen webcam': 'question.records.both',
} as const

/** Label of the button that leaves a question. */
const labelLeaveButton = ({ progress, view: { t } }: TakingFacts, number: number): Html =>
  html`${t.text(number < progress.of ? 'question.next' : 'question.last')} ${icon('arrow-right', 'size-4 rtl:-scale-x-100')}`

function answer(facts: TakingFacts, number: number, { recorder, fields }: ReturnType<typeof answerControl>): Html {
  const { view } = facts
  const { t } = view
  const isFree = facts.progress.section?.isFree === true
  const leave = html`<button type="submit" class="btn btn-lg" data-leave>${labelLeaveButton(facts, number)}</button>`
  if (!fields) {
    const buttons = isFree ? freeButtons(view, facts.progress, facts.progress.open!) : leave
    return html`${recorder}\n${form(view, 'next', html`${hidden('number', number)}${foot(facts, buttons)}`)}`
  }
  return html`${recorder}
${form(
  view,
  'answer',
  html`${hidden('number', number)}
${fields}
${foot(facts, html`<button type="submit" name="then" value="save" class="btn btn-outline ${!isFree && 'btn-lg'}">${t.text('question.save')}</button>${isFree ? freeButtons(view, facts.progress, facts.progress.open!) : html`<button type="submit" name="then" value="next" class="btn btn-primary btn-lg">${labelLeaveButton(facts, number)}</button>`}`)}`,
)}`
}

function end(facts: TakingFacts): PageParts {
  const { view, progress } = facts
  const { t } = view
  const { of: questionCount, unanswered, isOver, wasCutByClock } = progress
  const { deadlineAt, isDeadlineOfQuestion } = facts.submission
  return {
    title: t.text('end.title'),
    header: { done: questionCount, questionCount, clock: false, isRecorded: isRecordedAllTheTime(facts) },
    body: session(
      facts,
      html`<section class="panel p-8 text-center" data-end aria-labelledby="end-heading">
<h2 id="end-heading" class="text-2xl">${t.text(wasCutByClock ? 'end.over' : 'end.heading')}</h2>
<p class="mt-2">${formatUnanswered(t, questionCount, unanswered)}</p>
<p>${t.text(isOver ? 'end.submit.over' : 'end.submit')}${!isOver && deadlineAt && isDeadlineOfQuestion && ` ${t.text('end.submit.later')}`}</p>
${button(view, 'finish', t.text('end.finish'))}</section>`,
    ),
  }
}

function formatUnanswered(t: CandidateTexts, questionCount: number, unanswered: number[]): string {
  const count = unanswered.length
  if (questionCount === 0) return t.text('end.empty')
  if (count === 0) return t.text('end.answered')
  if (count === questionCount) return t.text('end.unanswered.all')
  return t.text('end.unanswered', { count, numbers: t.list(unanswered.map(String)) })
}

/** At least a second, because an open question is not over. */
const remaining = (t: CandidateTexts, until: Date, now: Date): string =>
  t.duration(Math.max(1, Math.floor((until.getTime() - now.getTime()) / 1_000)))

/** Asks for consent before the first question of an assessment that began without it. */
export const consentMissingPage = (view: View, hasDeadline: boolean, consent: Html): Page =>
  invitePage(
    view,
    view.invite.assessment.name,
    html`<p class="mt-2">${view.t.text(hasDeadline ? 'consent.late' : 'question.begun')}</p>\n${consent}`,
  )
