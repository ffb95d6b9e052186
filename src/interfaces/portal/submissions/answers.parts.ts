import { assetIdIn } from '../../../domain/assets/references.ts'
import type { Context } from '../../../domain/context.ts'
import { chooseAnswer } from '../../../domain/submissions/choose-answer.ts'
import { formatPosition } from '../../../domain/submissions/grading/format-note.ts'
import { listAnswerFiles } from '../../../domain/submissions/list-answer-files.ts'
import { findSilences, LEVEL_MS, type Silence } from '../../../domain/submissions/media/levels.ts'
import type { AttemptDetail, QuestionDetail, SubmissionDetail } from '../../../domain/submissions/reading/submission.ts'
import type { Transcript } from '../../../domain/submissions/transcripts/read-transcripts.ts'
import { countWords } from '../../../domain/text/count-words.ts'
import { formatBytes } from '../../../domain/text/format-bytes.ts'
import { type Html, html } from '../../../html/html.ts'
import { formatCount, formatDuration, questionText, userText } from '../../../http/pages/candidate-view.ts'
import { icon } from '../../../http/pages/icon.ts'
import { picturesBelow } from '../../../http/pages/pictures.ts'
import { labelKind } from '../../../kinds/labels.ts'
import { labelLanguage, time } from '../kit/formatting.ts'
import { pathOf } from '../kit/layout.ts'
import { promptInStep } from './prompt-in-step.parts.ts'
import { captions, transcriptList } from './transcript.parts.ts'
import { drawWaveform, FLAT_LINE, waveformFrame } from './waveform.ts'

// Answers as shown on the submission's page and in the grading view.

type MediaFile = SubmissionDetail['media'][number]
/** Parts above and below a player. */
type RecordingNotes = { above: Html; below: Html }

/** @param notes on the recording of the answer. */
export function questionBody(ctx: Context, question: QuestionDetail, notes?: RecordingNotes): Html {
  const { script, audioUrl, videoUrl, responseType, points, timeLimit, openedAt, answersAt, closedAt, closesAt } = question
  const { plays, attempts } = question
  const answer = chooseAnswer(attempts)
  const otherAttempts = attempts.filter((attempt) => attempt !== answer)
  const until = closedAt ?? closesAt
  return html`${directionLine(question)}${script && html`<div class="text-lg">${questionText(question, question.sourceLanguage, picturesBelow(pathOf(ctx, 'pictures')))}</div>`}
${[audioUrl, videoUrl].map((address) => address && questionPlayer(ctx, address))}
<p class="facts">Answer format: ${labelKind(responseType)}${timeLimit > 0 && `, within ${formatDuration(timeLimit)}`}${points > 0 && `, ${formatCount(points, 'point')}`}. ${openedAt ? html`Opened ${time(openedAt)}${answersAt && `, prepared for ${formatPosition(preparedFor(openedAt, answersAt, closedAt))}`}${until && html`, closed ${time(until)}`}` : 'Never opened'}${plays > 0 && `, played ${formatCount(plays, 'time')}`}</p>
<h3>Answer</h3>
${answer ? attemptView(ctx, answer, question, notes) : html`<p class="facts">No answer.</p>`}
${
  otherAttempts.length > 0 &&
  html`<details>
<summary class="py-2 text-sm font-medium">Other attempts: ${otherAttempts.length}</summary>
<div class="space-y-4">${otherAttempts.map((attempt) => attemptView(ctx, attempt, question))}</div>
</details>`
}`
}

/** Languages of the question and of its answer, if the answer has one of its own. */
function directionLine({ sourceLanguage, targetLanguage }: QuestionDetail): Html | false {
  if (!targetLanguage) return false
  const target = labelLanguage(targetLanguage)
  const isTranslated = sourceLanguage && sourceLanguage !== targetLanguage
  const text = isTranslated ? `${labelLanguage(sourceLanguage)} into ${target}` : `Answer in ${target}`
  return html`<p class="mb-2 font-medium" data-direction>${icon('languages', 'mr-2 inline size-4')}${text}</p>`
}

/** Milliseconds of preparation: less than planned if the candidate left the question during it. */
const preparedFor = (openedAt: Date, answersAt: Date, closedAt: Date | null): number =>
  Math.min(answersAt.getTime(), closedAt?.getTime() ?? Number.POSITIVE_INFINITY) - openedAt.getTime()

/** Media of a question: uploaded files in a player, other addresses as links. */
function questionPlayer(ctx: Context, address: string): Html {
  const id = assetIdIn(address)
  if (id === null) return html`<p><a href="${address}" rel="noreferrer">${address}</a></p>`
  return html`<video class="rounded-box video-ground max-h-72 w-full max-w-xl" controls preload="metadata" src="${pathOf(ctx, `pictures/${id}`)}" aria-label="Question video"></video>`
}

function attemptView(ctx: Context, attempt: AttemptDetail, question: QuestionDetail, notes?: RecordingNotes): Html {
  const { kind, state, media, createdAt, completedAt, wasInterrupted, selectedAt, interruptions, restarted, transcript } = attempt
  if (kind === 'text') return fileList(ctx, attempt) || textView(attempt, question.targetLanguage)
  const ended = html`${wasInterrupted ? 'cut off' : 'saved'} ${time(completedAt ?? createdAt)}${selectedAt && html`, chosen ${time(selectedAt)}`}`
  const length = media?.milliseconds
    ? html`<span class="text-base-content font-medium tabular-nums">${formatPosition(media.milliseconds)}</span>, `
    : ''
  const details = html`<p class="facts mt-2">${kind}, ${length}${state === 'complete' ? ended : html`begun ${time(createdAt)}, ${state}`}</p>`
  const marks = [
    interruptions > 0 && `Interrupted ${formatCount(interruptions, 'time')} and continued by the candidate.`,
    restarted && 'Interrupted, and started over by the candidate: it doesn’t count as an attempt.',
  ].filter((mark) => mark !== false)
  const markNotice =
    marks.length > 0 && html`<p class="alert alert-soft alert-warning mt-2" data-interrupted>${marks.join(' ')}</p>`
  return html`<div data-attempt>${notes?.above}${media ? mediaFilePlayer(ctx, media, `Answer by ${kind}`, transcript) : html`<p>No recording was stored.</p>`}\n${details}${markNotice}${promptInStep(ctx, attempt, question)}${notes?.below}${transcript && transcriptList(ctx, transcript)}</div>`
}

/** A text answer with its length, and the times of its first and last save. */
function textView({ text, createdAt, completedAt, selectedAt }: AttemptDetail, language: string | null): Html {
  const until = completedAt && completedAt > createdAt && completedAt
  return html`<div class="bg-base-200 rounded-field p-4">${userText(text, language)}</div>
<p class="facts mt-2">${formatCount(countWords(text), 'word')}, first typed ${time(createdAt)}${until && html`, last changed ${time(until)}`}${selectedAt && html`, chosen ${time(selectedAt)}`}</p>`
}

type AnswerFile = AttemptDetail['files'][number]

/** Files of an answer, if it has any. They are downloads; pictures are also shown, because they can't contain scripts. */
function fileList(ctx: Context, attempt: AttemptDetail): Html | false {
  const files = listAnswerFiles(attempt)
  return (
    files.length > 0 &&
    html`<ul class="mt-3 grid gap-3" data-files>${files.map((file) => html`<li>${fileView(ctx, file)}</li>`)}</ul>
<p class="facts mt-2">Last changed ${time(attempt.completedAt ?? attempt.createdAt)}</p>`
  )
}

function fileView(ctx: Context, { id, state, threat, contentType, bytes, fileName }: AnswerFile): Html {
  const name = html`<span dir="auto" class="break-words">${fileName}</span>, ${formatBytes(Number(bytes))}`
  const address = pathOf(ctx, `media/${id}`)
  if (threat !== null)
    return html`<p class="alert alert-soft alert-error">${name}: this file contains malware (${threat}), so nobody can download it.</p>`
  if (state === 'deleted') return html`<p>${name}: deleted.</p>`
  if (state === 'failed') return html`<p class="alert alert-soft alert-warning">${name}: this file could not be processed.</p>`
  if (state !== 'ready') return html`<p>${name}: being checked. Look again in a minute.</p>`
  return html`<p><a class="link" href="${address}" download>${icon('download', 'mr-2 inline size-4')}${name}</a></p>
${contentType.startsWith('image/') && html`<img class="max-h-96 max-w-full rounded-lg" src="${address}" alt="" loading="lazy">`}`
}

const UNSEEN: Record<Exclude<MediaFile['state'], 'ready' | 'failed'>, string> = {
  uploading: 'still being uploaded',
  joining: 'being processed: look again in a minute',
  deleted: 'deleted',
}

/** A recording that could not be joined into one file. @param address of the parts that arrived. */
const unjoinedRecording = (address: string, name: string): Html =>
  html`<p class="alert alert-soft alert-warning">${name}: this recording could not be processed and does not play here. The parts that arrived are kept: <a href="${address}" download>download them</a>; other programs may play them.</p>`

/** @param name accessible name. */
export function mediaFilePlayer(ctx: Context, mediaFile: MediaFile, name: string, transcript: Transcript | null = null): Html {
  const { id, state, contentType, levels, cuts } = mediaFile
  const address = pathOf(ctx, `media/${id}`)
  if (state === 'failed') return unjoinedRecording(address, name)
  if (state !== 'ready') return html`<p>${name}: ${UNSEEN[state]}.</p>`
  if (cuts.length > 0)
    return html`${mediaFilePlayer(ctx, { ...mediaFile, cuts: [] }, name, transcript)}<p class="facts">${formatGaps(cuts)}</p>`
  const file = html`<a class="btn btn-ghost btn-xs" href="${address}" aria-label="${`${name}: open the file`}">${icon('external-link', 'size-3.5')}Open the file</a>`
  if (contentType.startsWith('image/'))
    return html`<img class="max-h-96 max-w-full rounded-lg" src="${address}" alt="${name}" loading="lazy">
${file}`
  const track = transcript && captions(address, transcript)
  const silences = levels && findSilences(levels)
  const silent = silences && silences.length > 0 && html`<p class="facts">${formatSilences(silences, levels)}</p>`
  if (contentType.startsWith('audio/'))
    return html`<div>${waveformOf(mediaFile, address)}<audio class="w-full" controls preload="metadata" src="${address}" aria-label="${name}">${track}</audio></div>
${silent}${file}`
  // Starts after 0 s: otherwise Safari shows no picture before it plays.
  return html`<div>${levels && waveformOf(mediaFile, address)}<video class="rounded-box video-ground aspect-video max-h-[28rem] w-full object-contain" controls preload="metadata" src="${`${address}#t=0.001`}" aria-label="${name}">${track}</video></div>
${silent}${file}`
}

/** Largest audio recording without levels that has a waveform, for which the browser loads the whole file: some 20 minutes. */
const MOST_DRAWN_BYTES = 5_000_000

/** Drawn from the levels. Without them, the browser draws it for recordings that are small enough. */
function waveformOf({ id, levels, bytes }: MediaFile, address: string): Html | false {
  if (levels) return drawWaveform(id, levels)
  return Number(bytes) <= MOST_DRAWN_BYTES && waveformFrame(id, { path: FLAT_LINE, address })
}

/** "No sound from 0:12 to 0:40". */
function formatSilences(silences: Silence[], levels: Uint8Array): string {
  if (silences.some(({ from, to }) => to - from >= levels.length * LEVEL_MS)) return 'No sound at all.'
  const namedGaps = silences.slice(0, NAMED_CUTS).map(({ from, to }) => `from ${formatPosition(from)} to ${formatPosition(to)}`)
  const more = silences.length > NAMED_CUTS ? `, and in ${formatCount(silences.length - NAMED_CUTS, 'more pause')}` : ''
  return `No sound ${namedGaps.join(', ')}${more}.`
}

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
