import type { OpenShareLink, SharedResultView } from '../../domain/sharing/open-share-link.ts'
import type { ShownAnswer, ShownQuestion } from '../../domain/sharing/shown-questions.ts'
import { type Html, html } from '../../html/html.ts'
import { SHARE_PATH } from '../../http/addresses/links.ts'
import { pageHead } from '../../http/pages/brand.ts'
import { formatCount, plainQuestionText, userText } from '../../http/pages/candidate-view.ts'
import { fileDownloads } from '../../http/pages/file-downloads.ts'
import { icon } from '../../http/pages/icon.ts'
import { column, renderPage } from './layout.ts'

type Link = OpenShareLink['link']

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
const formatEnd = (moment: Date): string => `${day.format(moment)} UTC`

/** @property problem why the last code was refused. */
export const codePage = (link: Link, token: string, problem?: string): Html =>
  renderPage({
    title: 'Access code',
    brand: link.organization,
    body: column(html`${pageHead(link.organization, 'Shared results')}
<h1 class="mt-6">Enter your access code</h1>
<p class="mt-3">${link.sender} sent it to you separately.</p>
<form class="mt-4 max-w-sm" method="post" action="${`${SHARE_PATH}/${token}/code`}">
<label class="mb-1.5 block text-sm font-medium" for="code">Access code</label>
<input class="input w-full" id="code" name="code" autocomplete="one-time-code" required aria-invalid="${problem === undefined ? 'false' : 'true'}" aria-describedby="code-mistake">
<p class="mistake" id="code-mistake" role="alert">${problem}</p>
<button class="btn btn-primary mt-3">Open</button>
</form>`),
  })

/** @property now the day in the watermark. @property saved position whose feedback was just saved; `problem`: why it was not. */
type Facts = {
  link: Link
  token: string
  results: SharedResultView[]
  now: Date
  saved?: number
  problem?: { position: number; text: string; comment: string }
}

export function sharedPage(facts: Facts): Html {
  const { link, results, now } = facts
  const title =
    results.length === 1 ? `Result: ${link.assessment.name}` : `${formatCount(results.length, 'result')}: ${link.assessment.name}`
  return renderPage({
    title,
    brand: link.organization,
    body: html`${watermark('page', link, now, 'fixed z-20')}${column(html`${pageHead(link.organization, 'Shared results')}
<h1 class="mt-6">${title}</h1>
<p class="mt-2">${link.sender} shares ${results.length === 1 ? 'this result' : 'these results'} with you.${link.asksFeedback && ' Please say what you think below each.'}</p>
<p class="quiet mt-1 text-sm">For <strong>${link.receiver}</strong>. The link is yours alone: please do not pass it on. It closes on ${formatEnd(link.expiresAt)}.</p>
<div class="mt-6 space-y-6">${results.map((result) => resultCard(facts, result))}</div>
<p class="quiet mt-8 text-sm">Your name is on this page so that nobody passes it on by mistake. Each opening is recorded.</p>`)}`,
  })
}

/** Watermark with the recipient's name and the day. It deters from copying, but does not prevent it. */
const watermark = (id: string, { receiver }: Link, now: Date, position: 'absolute' | 'fixed z-20'): Html =>
  html`<svg class="${`${position} pointer-events-none inset-0 size-full opacity-15`}" aria-hidden="true"><defs><pattern id="${`mark-${id}`}" width="300" height="130" patternUnits="userSpaceOnUse" patternTransform="rotate(-18)"><text x="0" y="60" font-size="14" fill="currentColor">${receiver} · ${now.toISOString().slice(0, 10)}</text></pattern></defs><rect width="100%" height="100%" fill="${`url(#mark-${id})`}"></rect></svg>
`

function resultCard(facts: Facts, result: SharedResultView): Html {
  const { position, percent, points, ofPoints, questions } = result
  const { link } = facts
  return html`<section class="panel" id="${`result-${position}`}" aria-labelledby="${`name-${position}`}">
<div class="mb-3 flex flex-wrap items-baseline justify-between gap-x-4"><h2 id="${`name-${position}`}">${nameOf(result)}</h2><p class="tabular-nums">${percent !== null && html`<strong class="text-2xl">${percent} %</strong> `}${ofPoints > 0 && html`<span class="quiet">${points} of ${ofPoints} points</span>`}</p></div>
<ol class="divide-base-300 divide-y">${questions.map((question) => questionItem(facts, result, question))}</ol>
${link.asksFeedback && feedbackForm(facts, result)}
</section>`
}

const nameOf = ({ name, position }: SharedResultView): string => name ?? `Candidate ${position}`

function questionItem(facts: Facts, result: SharedResultView, question: ShownQuestion): Html {
  const { number, points, ofPoints, answer } = question
  return html`<li class="py-3"><div class="flex items-start justify-between gap-4"><p class="font-medium break-words" lang="" dir="auto">${number}. ${plainQuestionText(question)}</p><p class="shrink-0 tabular-nums">${points !== null && `${points} / ${ofPoints}`}</p></div>
${answer && answerParts(facts, result, number, answer)}</li>
`
}

function answerParts({ link, token, now }: Facts, result: SharedResultView, number: number, answer: ShownAnswer): Html {
  const { text, files, recording, transcript } = answer
  const label = `Answer of ${nameOf(result)} to question ${number}`
  const addressOf = (mediaId: string) => `${SHARE_PATH}/${token}/media/${mediaId}`
  const address = recording && addressOf(recording.mediaId)
  const player = recording?.contentType.startsWith('audio/')
    ? html`<audio class="w-full" controls controlslist="nodownload" preload="none" src="${address}" aria-label="${label}"></audio>`
    : html`<video class="rounded-box video-ground aspect-video max-h-96 w-full" controls controlslist="nodownload nofullscreen" disablepictureinpicture preload="none" src="${address}" aria-label="${label}"></video>`
  return html`${text !== null && html`<div class="bg-base-200 rounded-field mt-2 p-4">${userText(text)}</div>`}${fileDownloads(files, addressOf)}
${recording && html`<div class="relative mt-2">${player}${watermark(`${result.position}-${number}`, link, now, 'absolute')}</div>`}
${transcript !== null && html`<details class="mt-2"><summary class="text-sm font-medium">Transcript, made by a machine: it may have mistakes</summary><div class="mt-1 text-sm">${userText(transcript)}</div></details>`}`
}

function feedbackForm({ token, saved, problem }: Facts, result: SharedResultView): Html {
  const { position, vote, comment } = result
  const ownProblem = problem?.position === position ? problem : undefined
  const choice = (value: string, label: string) =>
    html`<label class="flex min-h-10 items-center gap-2 text-sm"><input class="radio radio-sm" type="radio" name="vote" value="${value}" ${(vote ?? '') === value && html`checked`}> ${value === 'up' && icon('thumbs-up')}${value === 'down' && icon('thumbs-down')}${label}</label>`
  return html`<form class="border-base-300 mt-3 border-t pt-3" method="post" action="${`${SHARE_PATH}/${token}/results/${position}`}">
<fieldset class="mb-3"><legend class="text-sm font-medium">Your view</legend><div class="flex flex-wrap gap-x-6">${choice('up', 'Yes')}${choice('down', 'No')}${choice('', 'No view yet')}</div></fieldset>
<label class="mb-1.5 block text-sm font-medium" for="${`comment-${position}`}">Comment</label>
<textarea class="textarea w-full" id="${`comment-${position}`}" name="comment" rows="3" dir="auto" aria-invalid="${ownProblem ? 'true' : 'false'}">
${ownProblem ? ownProblem.comment : comment}</textarea>
${ownProblem && html`<p class="mistake" role="alert">${ownProblem.text}</p>`}${saved === position && html`<p class="quiet text-sm" role="status">Saved.</p>`}
<button class="btn mt-2">Save</button>
</form>`
}
