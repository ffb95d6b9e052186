import { assetIdIn } from '../../../domain/assets/references.ts'
import type { Context } from '../../../domain/context.ts'
import { chooseAnswer } from '../../../domain/submissions/choose-answer.ts'
import type { AttemptDetail, QuestionDetail, SubmissionDetail } from '../../../domain/submissions/reading/submission.ts'
import { countWords } from '../../../domain/text/count-words.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, questionText, userText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { picturesBelow } from '../../../http/pages/pictures.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'

// Answers as shown on the submission's page and in the grading view.

type Medium = SubmissionDetail['media'][number]

export function questionBody(ctx: Context, question: QuestionDetail): Html {
  const { script, audioUrl, videoUrl, responseType, points, timeLimit, openedAt, answersAt, closedAt, closesAt } = question
  const { plays, attempts } = question
  const answer = chooseAnswer(attempts)
  const others = attempts.filter((attempt) => attempt !== answer)
  const until = closedAt ?? closesAt
  return html`${script && html`<div class="text-lg">${questionText(question, question.sourceLanguage, picturesBelow(pathOf(ctx, 'pictures')))}</div>`}
${[audioUrl, videoUrl].map((address) => address && questionPlayer(ctx, address))}
<p class="facts">Answer format: ${labelKind(responseType)}${timeLimit > 0 && `, within ${formatDuration(timeLimit)}`}${points > 0 && `, ${formatCount(points, 'point')}`}. ${openedAt ? html`Opened ${time(openedAt)}${answersAt && `, prepared for ${formatPosition(preparedFor(openedAt, answersAt, closedAt))}`}${until && html`, closed ${time(until)}`}` : 'Never opened'}${plays > 0 && `, played ${formatCount(plays, 'time')}`}</p>
<h3>Answer</h3>
${answer ? attemptView(ctx, answer, question.targetLanguage) : html`<p class="facts">No answer.</p>`}
${
  others.length > 0 &&
  html`<details>
<summary class="py-2 text-sm font-medium">Other attempts: ${others.length}</summary>
<div class="space-y-4">${others.map((attempt) => attemptView(ctx, attempt, question.targetLanguage))}</div>
</details>`
}`
}

/** Milliseconds of preparation: less than planned if the candidate left the question during it. */
const preparedFor = (openedAt: Date, answersAt: Date, closedAt: Date | null): number =>
  Math.min(answersAt.getTime(), closedAt?.getTime() ?? Number.POSITIVE_INFINITY) - openedAt.getTime()

/** Media of a question: uploaded files in a player, other addresses as links. */
function questionPlayer(ctx: Context, address: string): Html {
  const id = assetIdIn(address)
  if (id === null) return html`<p><a href="${address}" rel="noreferrer">${address}</a></p>`
  return html`<video class="rounded-box video-ground max-h-72 w-full max-w-xl" controls preload="metadata" src="${pathOf(ctx, `pictures/${id}`)}" aria-label="What the question plays"></video>`
}

function attemptView(ctx: Context, attempt: AttemptDetail, language: string | null): Html {
  const { kind, state, media, createdAt, completedAt, wasInterrupted, selectedAt, interruptions, restarted } = attempt
  if (kind === 'text') return textView(attempt, language)
  const ended = html`${wasInterrupted ? 'cut off' : 'saved'} ${time(completedAt ?? createdAt)}${selectedAt && html`, chosen ${time(selectedAt)}`}`
  const length = media?.milliseconds
    ? html`<span class="text-base-content font-medium tabular-nums">${formatPosition(media.milliseconds)}</span>, `
    : ''
  const when = html`<p class="facts mt-2">${kind}, ${length}${state === 'complete' ? ended : html`begun ${time(createdAt)}, ${state}`}</p>`
  const marks = [
    interruptions > 0 && `Interrupted ${formatCount(interruptions, 'time')} and continued by the candidate.`,
    restarted && 'Interrupted, and started over by the candidate: it doesn’t count as an attempt.',
  ].filter((mark) => mark !== false)
  const marked = marks.length > 0 && html`<p class="alert alert-soft alert-warning mt-2" data-interrupted>${marks.join(' ')}</p>`
  return html`${media ? mediumPlayer(ctx, media, `Answer by ${kind}`) : html`<p>No recording was stored.</p>`}\n${when}${marked}`
}

/** A text answer with its length, and the times of its first and last save. */
function textView({ text, createdAt, completedAt, selectedAt }: AttemptDetail, language: string | null): Html {
  const until = completedAt && completedAt > createdAt && completedAt
  return html`<div class="bg-base-200 rounded-field p-4">${userText(text, language)}</div>
<p class="facts mt-2">${formatCount(countWords(text), 'word')}, first typed ${time(createdAt)}${until && html`, last changed ${time(until)}`}${selectedAt && html`, chosen ${time(selectedAt)}`}</p>`
}

const UNSEEN: Record<Exclude<Medium['state'], 'ready' | 'failed'>, string> = {
  uploading: 'still being uploaded',
  joining: 'being processed: look again in a minute',
  deleted: 'deleted',
}

/** A recording that could not be joined into one file. @param address of the parts that arrived. */
const unjoinedRecording = (address: string, name: string): Html =>
  html`<p class="alert alert-soft alert-warning">${name}: this recording could not be processed and does not play here. The parts that arrived are kept: <a href="${address}" download>download them</a>; other programs may play them.</p>`

/** @param name what it shows. */
export function mediumPlayer(ctx: Context, one: Medium, name: string): Html {
  const { id, state, contentType, bytes, cuts } = one
  const address = pathOf(ctx, `media/${id}`)
  if (state === 'failed') return unjoinedRecording(address, name)
  if (state !== 'ready') return html`<p>${name}: ${UNSEEN[state]}.</p>`
  if (cuts.length > 0) return html`${mediumPlayer(ctx, { ...one, cuts: [] }, name)}<p class="facts">${formatGaps(cuts)}</p>`
  const file = html`<a class="btn btn-ghost btn-xs" href="${address}" aria-label="${`${name}: open the file`}">${icon('external-link', 'size-3.5')}Open the file</a>`
  if (contentType.startsWith('image/'))
    return html`<img class="max-h-96 max-w-full rounded-lg" src="${address}" alt="${name}" loading="lazy">
${file}`
  if (contentType.startsWith('audio/'))
    return html`<div>${Number(bytes) <= MOST_DRAWN_BYTES && waveform(address)}<audio class="w-full" controls preload="metadata" src="${address}" aria-label="${name}"></audio></div>
${file}`
  // Starts after 0 s: otherwise Safari shows no picture before it plays.
  return html`<video class="rounded-box video-ground aspect-video max-h-[28rem] w-full object-contain" controls preload="metadata" src="${`${address}#t=0.001`}" aria-label="${name}"></video>
${file}`
}

/** Largest audio recording with a waveform, for which the browser loads the whole file: some 20 minutes. */
const MOST_DRAWN_BYTES = 5_000_000

/** A flat line until the script draws the waveform. Decorative: the player below it offers the same. */
const waveform = (address: string): Html =>
  html`<svg class="noscript:hidden mb-2 h-16 w-full" viewBox="0 0 160 40" preserveAspectRatio="none" aria-hidden="true" data-waveform="${address}"><defs><clipPath id="${`played-${address.split('/').at(-1)}`}"><rect width="0" height="40"></rect></clipPath></defs><path class="stroke-base-content/30" d="M0 20h160" fill="none" stroke-width="0.6"></path><path class="stroke-primary" clip-path="${`url(#played-${address.split('/').at(-1)})`}" d="" fill="none" stroke-width="0.6"></path></svg>`

/** Positions where a recording has gaps; if there are many, their number. */
function formatGaps(cuts: readonly number[]): string {
  const places = cuts
    .slice(0, NAMED_CUTS)
    .map((cut) => formatPosition(cut))
    .join(', ')
  const more = cuts.length > NAMED_CUTS ? ` and ${formatCount(cuts.length - NAMED_CUTS, 'more place')}` : ''
  return `Incomplete: parts of the recording are missing at ${places}${more}. They did not arrive or could not be read.`
}

const NAMED_CUTS = 10

/** "1:02", as players show it. */
export const formatPosition = (milliseconds: number): string => {
  const seconds = Math.floor(milliseconds / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
