import type { Context } from '../../../domain/context.ts'
import type { Requirement } from '../../../domain/submissions/needs.ts'
import type { QuestionDetail, SubmissionDetail, SubmittedInvite } from '../../../domain/submissions/reading/submission.ts'
import type { SessionEventKind } from '../../../domain/submissions/taking/record-session-events.ts'
import { type Html, html, type Value } from '../../../html/html.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { labelLanguage, time } from '../kit/formatting.ts'
import { choice, type Form, mistakes } from '../kit/forms.ts'
import { type Page, panel, pathOf } from '../kit/layout.ts'
import { pager } from '../kit/paging.ts'
import { factList, linkButton } from '../kit/parts.ts'
import { badge } from '../kit/status.ts'
import { table } from '../kit/table.ts'
import { mediaFilePlayer, questionBody } from './answers.parts.ts'
import { decisionPanel, type NamedDecision } from './decision.parts.ts'

type MediaFile = SubmissionDetail['media'][number]

/** Media that can be deleted together, by form value. */
export const DELETABLE = new Map<string, { label: string; kinds: MediaFile['kind'][] }>([
  ['photos', { label: 'ID and face photos', kinds: ['id_photo', 'face_photo'] }],
  ['proctoring', { label: 'Webcam and screen recordings', kinds: ['webcam_still', 'webcam', 'screen'] }],
  ['answers', { label: 'Recorded answers', kinds: ['answer'] }],
])

type Facts = {
  ctx: Context
  invite: SubmittedInvite
  submission: SubmissionDetail | null
  mayReadInvite: boolean
  /** True if the reader may open the grading view. */
  mayGrade: boolean
  mayDelete: boolean
  decision: NamedDecision | null
  done: string | undefined
}

export const submissionPage = (
  form: Form,
  { ctx, invite, submission, mayReadInvite, mayGrade, mayDelete, decision, done }: Facts,
): Page => ({
  title: `Submission of ${invite.recipientName ?? invite.recipientEmail}`,
  trail: mayReadInvite
    ? [
        ['Invites', pathOf(ctx, 'invites')],
        [invite.recipientName ?? invite.recipientEmail, pathOf(ctx, `invites/${invite.id}`)],
      ]
    : [],
  subtitle: invite.assessment.name,
  actions:
    submission !== null &&
    isSubmitted(submission) &&
    mayGrade &&
    linkButton(
      pathOf(ctx, `grading/${submission.id}`),
      submission.state === 'released' ? 'View grading' : 'Grade',
      'pencil-line',
      'main',
    ),
  state: submission !== null && badge(STATES[submission.state]),
  notice: done === 'deleted' ? 'The files are deleted.' : done === 'decided' ? 'The decision is saved.' : undefined,
  body: html`${mistakes(form)}${submission ? contents(ctx, invite, submission) : html`<p>No submission yet: the candidate has not started.</p>`}
${decision && decisionPanel(form, pathOf(ctx, `invites/${invite.id}/submission/decision`), decision)}
${mayDelete && deletion(form, ctx, invite)}`,
})

const isSubmitted = ({ state }: SubmissionDetail): boolean => state === 'submitted' || state === 'released'

const contents = (
  ctx: Context,
  invite: SubmittedInvite,
  submission: SubmissionDetail,
): Html => html`${screenHeadline(submission)}${about(invite, submission)}
${submission.paper.map((question) => questionPanel(ctx, question))}
${mediaPanel(ctx, submission, pathOf(ctx, `invites/${invite.id}/submission`))}
${notes(submission)}`

/** Interruptions of a required screen recording, or its waiver. */
export function screenHeadline({ screen }: Pick<SubmissionDetail, 'screen'>): Html | false {
  if (!screen) return false
  const { missing, required, waivedAt } = screen
  const sentences = [
    missing > 0 &&
      html`The screen was not recorded for <strong>${formatLength(missing)}</strong> of the ${formatLength(required)} that questions were open. `,
    waivedAt === null && 'The candidate was allowed to start without sharing the screen.',
    waivedAt && html`From ${time(waivedAt)} on, the candidate was allowed to continue without sharing the screen.`,
  ].filter((sentence) => sentence !== false && sentence !== undefined)
  return (
    sentences.length > 0 &&
    html`<div class="${`alert alert-soft ${missing > 0 ? 'alert-error' : 'alert-warning'}`}" id="screen-missing"><p>${sentences}</p></div>
`
  )
}

const formatLength = (milliseconds: number): string => formatDuration(Math.max(1, Math.round(milliseconds / 1_000)))

const STATES = {
  preparing: 'being prepared',
  in_progress: 'in progress',
  submitted: 'submitted',
  released: 'released',
  withdrawn: 'revoked',
}

function about({ assessment }: SubmittedInvite, submission: SubmissionDetail): Html {
  const { consentAt, consentMedia, consentVersion, organizationConsentLanguage, organizationConsentVersion } = submission
  const facts: [string, Value][] = [
    ['Assessment', assessment.name],
    ['Started', submission.startedAt && time(submission.startedAt)],
    ['Deadline', submission.deadlineAt && time(submission.deadlineAt)],
    ['Submitted', submission.submittedAt && time(submission.submittedAt)],
    [
      'Consent',
      consentAt
        ? html`${time(consentAt)}, version ${consentVersion}${organizationConsentLanguage !== null && `, and version ${organizationConsentVersion} of your own text (${labelLanguage(organizationConsentLanguage)})`}`
        : 'not asked for',
    ],
    ['Consent covers', consentMedia.map(labelMediaKind).join(', ')],
    ['Checks passed', submission.passedChecks.join(', ')],
    ['Browser', submission.userAgent],
  ]
  return panel('about', 'Details', factList(facts))
}

const labelMediaKind = (kind: string): string => kind.replace('_', ' ').replace('id photo', 'ID photo')

const questionPanel = (ctx: Context, question: QuestionDetail): Html =>
  panel(`question-${question.number}`, `Question ${question.number}`, questionBody(ctx, question))

const KINDS: Record<MediaFile['kind'], string> = {
  answer: 'Answer',
  id_photo: 'ID photo',
  face_photo: 'Face photo',
  webcam_still: 'Webcam',
  webcam: 'Webcam recording',
  screen: 'Screen recording',
}

/** Photos and recordings; webcam stills, which are many, as a paged strip. @param address of the page. */
export const mediaPanel = (ctx: Context, { media, stills }: SubmissionDetail, address: string): Html | false =>
  media.length + stills.total > 0 &&
  panel(
    'captures',
    'Photos and recordings',
    html`<div class="grid gap-4 sm:grid-cols-2">${media.map((file) => html`<div>${mediaFilePlayer(ctx, file, KINDS[file.kind])}<p class="facts">${KINDS[file.kind]}, ${time(file.createdAt)}</p></div>`)}</div>
${stills.total > 0 && strip(ctx, stills, address)}`,
  )

const strip = (
  ctx: Context,
  stills: SubmissionDetail['stills'],
  address: string,
): Html => html`<h3 id="stills-heading">Webcam: ${formatCount(stills.total, 'picture')}</h3>
<ol class="mt-2 flex gap-3 overflow-x-auto pb-2 text-xs [&_img]:mb-1 [&_img]:h-24 [&_img]:w-32 [&_img]:rounded-lg [&_img]:object-cover [&_li]:w-32 [&_li]:flex-none" aria-labelledby="stills-heading" tabindex="0">
${stills.items.map(({ id, createdAt }, i) => {
  const address = pathOf(ctx, `media/${id}`)
  const number = (stills.page - 1) * stills.pageSize + i + 1
  return html`<li><a href="${address}"><img src="${address}" alt="${`Webcam, picture ${number}`}" loading="lazy"></a>${time(createdAt)}</li>
`
})}
</ol>
${pager(address, new URLSearchParams(), stills, undefined, '#stills-heading')}`

const NOTES: Record<SessionEventKind | `waived_${Requirement}`, string> = {
  tab_hidden: 'The page was hidden',
  tab_shown: 'The page was visible again',
  full_screen_left: 'Full screen was left',
  full_screen_entered: 'Full screen was entered',
  camera_lost: 'The camera was lost',
  microphone_lost: 'The microphone was lost',
  sharing_ended: 'Screen sharing ended',
  sharing_begun: 'Screen sharing started',
  offline: 'The browser went offline',
  online: 'The browser was online again',
  taken_over: 'Another tab took over',
  reloaded: 'The page was reloaded',
  waived_camera: 'The camera check was waived',
  waived_microphone: 'The microphone check was waived',
  waived_screen: 'Screen sharing was waived',
  waived_id_photo: 'The ID photo was waived',
  waived_face_photo: 'The face photo was waived',
}
const formatNote = (kind: string): string => (Object.hasOwn(NOTES, kind) ? NOTES[kind as keyof typeof NOTES] : kind)

/** Time since the start as "minutes:seconds": the approximate position in the recordings. */
function sinceStart({ startedAt }: SubmissionDetail, at: Date): string {
  if (!startedAt || at < startedAt) return ''
  const seconds = Math.floor((at.getTime() - startedAt.getTime()) / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

export const notes = (submission: SubmissionDetail): Html =>
  panel(
    'notes',
    'Session events',
    submission.notes.length === 0
      ? html`<p>No events.</p>`
      : table(
          'notes-heading',
          ['When', 'After start', 'Event'],
          submission.notes.map(({ at, kind }) => [time(at), sinceStart(submission, at), formatNote(kind)]),
        ),
  )

const deletion = (form: Form, ctx: Context, { id }: SubmittedInvite): Html =>
  panel(
    'deletion',
    'Delete',
    html`<details>
<summary class="py-2 text-sm font-medium">Delete photos or recordings</summary>
<form method="post" action="${pathOf(ctx, `invites/${id}/submission/delete`)}">
${choice(form, { name: 'media', label: 'What', options: [...DELETABLE].map(([name, { label }]): [string, string] => [name, label]) })}
<p>They are deleted for good, for this and earlier submissions of the invite. This can’t be undone.</p>
<button class="btn btn-error">Delete</button>
</form>
</details>`,
  )
