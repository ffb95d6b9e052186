import { downloadName } from '../domain/files/media-file-name.ts'
import type { CandidateMailKind } from '../domain/mails/candidate-mails.ts'
import { formatNote } from '../domain/submissions/grading/format-note.ts'
import { type Html, html } from '../html/html.ts'
import { EVENT_MEANINGS } from '../interfaces/v1/events.view.ts'
import type {
  ListedInvite,
  ShownEvent,
  ShownInvite,
  ShownMediaFile,
  ShownMessage,
  ShownOther,
  ShownSubmission,
} from './candidate.json.ts'
import { type ArchivePage, facts, formatCode, section, table, time, userText } from './page.ts'

type CandidateFacts = {
  address: string
  organization: string
  madeAt: Date
  listed: ListedInvite[]
  besides: ShownOther
}

/** Overview page: all invites and other data. */
export const candidatePage = ({ address, organization, madeAt, listed, besides }: CandidateFacts): ArchivePage => ({
  title: `Data about ${address}`,
  intro: html`<p>All data that <strong>${organization}</strong> stores about this address on its assessment service, as of ${time(madeAt)}. The .json files contain the same data for programs. Photos and recordings are in the folders of the invites.</p>`,
  body: html`${section('Invites', listed.length > 0 ? inviteTable(listed) : html`<p>None.</p>`)}${section(
    'Candidate lists with this address',
    besides.listRows.length > 0 && listTable(besides.listRows),
  )}${section(
    'Forms of open links',
    besides.registrations.length > 0 && registrationTable(besides.registrations),
  )}${section('Blocked emails', besides.suppressions.length > 0 && suppressionTable(besides.suppressions))}${section(
    'Requested erasures',
    besides.erasures.length > 0 && erasureTable(besides.erasures),
  )}${section(
    'Not included',
    html`<p>Names of the organization’s members who invited, graded, or wrote: they are other people. Photos and recordings that were already deleted: the pages list them. Copies that are deleted automatically within 30 days: responses stored for retries, notices of mail servers, and responses of other systems. The operator’s backups and log files, which expire as well.</p>`,
  )}`,
})

const inviteTable = (listed: ListedInvite[]): Html =>
  table(
    ['Assessment', 'Status', 'Sent', 'Result'],
    listed.map(({ invite, folder, result }) => [
      html`<a href="${`./${folder}/index.html`}">${titleOf(invite)}</a>`,
      statusOf(invite),
      time(invite.sentAt),
      result && formatResult(result),
    ]),
  )

const titleOf = ({ assessmentName, attempt, mode }: ShownInvite): string =>
  `${assessmentName}${attempt > 1 ? `, attempt ${attempt}` : ''}${mode === 'test' ? ' (test data)' : ''}`

const statusOf = ({ status, declinedAt }: ShownInvite): string => (declinedAt ? 'declined' : status)

const formatResult = ({ points, ofPoints, percent }: { points: number; ofPoints: number; percent: number | null }): string =>
  percent === null ? 'released' : `${points} of ${ofPoints} points (${percent} %)`

const listTable = (rows: ShownOther['listRows']): Html =>
  table(
    ['Address', 'Name', 'Row', 'Result'],
    rows.map(({ recipientEmail, recipientName, number, state }) => [recipientEmail, recipientName, number, formatCode(state)]),
  )

const registrationTable = (rows: ShownOther['registrations']): Html =>
  table(
    ['Address', 'Name', 'Sent in', 'Email left'],
    rows.map(({ email, name, createdAt, sentAt }) => [email, name, time(createdAt), sentAt ? time(sentAt) : 'not yet']),
  )

const SUPPRESSION_REASONS: Record<ShownOther['suppressions'][number]['reason'], string> = {
  bounce: 'the mailbox does not exist',
  full: 'recent emails bounced',
  complaint: 'an email was reported as spam',
  manual: 'the organization stopped emails',
  unsubscribed: 'the candidate unsubscribed',
}

const suppressionTable = (rows: ShownOther['suppressions']): Html =>
  table(
    ['Emails', 'Why', 'Since', 'Until'],
    rows.map(({ scope, reason, since, until }) => [
      scope === 'all' ? 'all' : 'reminders and notices',
      SUPPRESSION_REASONS[reason],
      time(since),
      time(until) ?? 'it is removed',
    ]),
  )

const erasureTable = (rows: ShownOther['erasures']): Html =>
  table(
    ['Requested', 'State', 'Done'],
    rows.map(({ requestedAt, state, finishedAt }) => [time(requestedAt), state, time(finishedAt)]),
  )

type InviteFacts = { invite: ShownInvite; events: ShownEvent[]; messages: ShownMessage[]; submissions: ShownSubmission[] }

/** Page of one invite with its submissions. */
export const invitePage = ({ invite, events, messages, submissions }: InviteFacts): ArchivePage => ({
  title: titleOf(invite),
  back: '../../index.html',
  intro: html`<p>Invite of ${invite.recipientName ?? invite.recipientEmail}, ${statusOf(invite)}.</p>`,
  body: html`${section('Invite', inviteFacts(invite))}${section('Events', events.length > 0 && eventTable(events))}${section(
    'Emails',
    messages.length > 0 && messageTable(messages),
  )}${submissions.map((submission) => section('Submission', submissionParts(submission)))}`,
})

const inviteFacts = (invite: ShownInvite): Html =>
  html`${facts([
    ['Name', invite.recipientName],
    ['Address', invite.recipientEmail],
    ['Sent', time(invite.sentAt)],
    ['Expires', time(invite.expiresAt)],
    ['Accepted', time(invite.acceptedAt)],
    ['Started', time(invite.startedAt)],
    ['Completed', time(invite.completedAt)],
    ['Declined', time(invite.declinedAt)],
    ['Revoked', invite.declinedAt === null && time(invite.revokedAt)],
    ['Replays of a question', invite.questionReplayLimit],
    ['Recordings of an answer', invite.answerRecordLimit],
    ['Monitoring', watchedBy(invite)],
    ['Extra time', invite.extraTimePercent > 0 && `${invite.extraTimePercent} %`],
    ['Waived checks', invite.waivedChecks.map(formatCode).join(', ')],
    ['Language', invite.chosenLanguage ?? invite.language],
    ['Time zone', invite.timeZone],
    ['Tags', invite.tags.join(', ')],
    ['External ID', invite.externalId],
    ...Object.entries(invite.metadata ?? {}).map(([name, value]) => [`Metadata: ${name}`, value] as const),
    ['Return URL', invite.returnUrl],
    ...invite.orders.map(({ system, order, profileUrl }) => [`Ordered by ${system}`, `${order} ${profileUrl}`] as const),
  ])}${invite.customMessage !== '' && html`<h3>Message with the invitation</h3>${userText(invite.customMessage)}`}`

const watchedBy = ({ proctoringSettings: { screenRecording, webcamMonitoring, requireIdCapture } }: ShownInvite): string =>
  [screenRecording && 'screen recording', webcamMonitoring && 'webcam', requireIdCapture && 'photo of an ID']
    .filter(Boolean)
    .join(', ')

const ACTORS: Record<ShownEvent['actor']['type'], string> = {
  api_key: 'a system of the organization',
  member: 'the organization',
  candidate: 'the candidate',
  system: 'the service',
}

const eventTable = (events: ShownEvent[]): Html =>
  table(
    ['When', 'What', 'By'],
    events.map(({ createdAt, type, actor, data }) => [
      time(createdAt),
      html`${EVENT_MEANINGS[type] ?? type}${data.reason && `: ${formatCode(data.reason)}`}`,
      ACTORS[actor.type],
    ]),
  )

const MAILS: Record<CandidateMailKind, string> = {
  invitation: 'Invitation',
  resent: 'Invitation, again',
  reactivated: 'Invitation, reactivated',
  not_accepted: 'Reminder: not answered yet',
  not_started: 'Reminder: not started yet',
  not_finished: 'Reminder: not submitted yet',
  submitted: 'Receipt',
  released: 'Notice of the result',
  withdrawn: 'Invitation withdrawn',
}

const messageTable = (messages: ShownMessage[]): Html =>
  table(
    ['Email', 'State', 'Created', 'Sent', 'Server’s reply'],
    messages.map(({ kind, status, createdAt, sentAt, reason, bounce, complainedAt }) => [
      MAILS[kind] ?? kind,
      html`${bounce ? 'bounced' : status}${complainedAt && ', reported as spam'}`,
      time(createdAt),
      time(sentAt),
      bounce?.reason || reason,
    ]),
  )

const submissionParts = (submission: ShownSubmission): Html =>
  html`${submissionFacts(submission)}${submission.decision && decisionPart(submission.decision)}${submission.shares.length > 0 && sharesPart(submission.shares)}${submission.results.map(resultPart)}
<h3>Questions</h3>
${submission.questions.map(questionPart)}${captureParts(submission.captures)}${
  submission.notes.length > 0 &&
  html`<h3>During the test</h3>${table(
    ['When', 'What'],
    submission.notes.map(({ at, kind }) => [time(at), formatCode(kind)]),
  )}`
}`

const submissionFacts = ({ state, startedAt, deadlineAt, submittedAt, consent, passedChecks, browser }: ShownSubmission): Html =>
  html`${facts([
    ['State', formatCode(state)],
    ['Started', time(startedAt)],
    ['Deadline', time(deadlineAt)],
    ['Submitted', time(submittedAt)],
    ['Consent', consent && html`${time(consent.at)}, version ${consent.version}: ${consent.covers.map(formatCode).join(', ')}`],
    ['Passed checks', passedChecks.map(formatCode).join(', ')],
    ['Browser', browser],
  ])}${consent?.own && html`<p class="quiet">The organization’s addition to the consent, version ${consent.own.version}</p>${userText(consent.own.body)}`}`

const sharesPart = (shares: ShownSubmission['shares']): Html =>
  html`<h3>Shared by a link</h3>
${table(
  ['Created', 'Ended', 'Shown', 'View', 'Comment'],
  shares.map(({ createdAt, revokedAt, expiresAt, shows, vote, comment }) => [
    time(createdAt),
    time(revokedAt ?? expiresAt),
    ['points', ...shows].join(', '),
    vote,
    html`<span dir="auto">${comment}</span>`,
  ]),
)}`

const decisionPart = ({ decision, note, decidedAt }: NonNullable<ShownSubmission['decision']>): Html =>
  html`<h3>Decision of the organization</h3>
${facts([
  ['Decision', decision],
  ['Date', time(decidedAt)],
])}${note !== '' && userText(note)}`

const resultPart = (result: ShownSubmission['results'][number]): Html =>
  html`<h3>Result, version ${result.version}</h3>
${facts([
  ['Points', formatResult(result)],
  ['Released', time(result.releasedAt)],
  ['Shown to the candidate', result.toCandidate ? 'yes' : 'no'],
])}${result.message !== '' && html`<p class="quiet">Message to the candidate</p>${userText(result.message)}`}${result.comment !== '' && html`<p class="quiet">Comment of the organization</p>${userText(result.comment)}`}${table(
  ['Question', 'Points', 'Comment'],
  result.questions.map(({ number, points, ofPoints, comment }) => [
    number,
    points !== null && `${points} of ${ofPoints}`,
    html`<span dir="auto">${comment}</span>`,
  ]),
)}`

type Question = ShownSubmission['questions'][number]

const questionPart = ({
  number,
  script,
  points,
  openedAt,
  closedAt,
  answer,
  otherAttempts,
  score,
  grades,
  graderNotes,
}: Question): Html =>
  html`<div class="question">
<h3>Question ${number}</h3>
${script !== '' && userText(script)}
<p class="quiet">${points > 0 && `${points} points. `}${openedAt ? html`Opened ${time(openedAt)}${closedAt && html`, closed ${time(closedAt)}`}.` : 'Never opened.'}</p>
<p><strong>Answer</strong></p>
${answer ? attemptPart(answer) : html`<p>None.</p>`}
${otherAttempts.length > 0 && html`<p><strong>Other attempts</strong></p>${otherAttempts.map(attemptPart)}`}
${score && html`<p>Automatic score: ${score.dropped ? 'not counted' : score.points === null ? 'graded by people' : `${score.points} points`}.</p>`}
${grades.map(({ round, points, comment, gradedAt }) => html`<p><strong>${ROUND_LABELS[round]}:</strong> ${points === null ? 'no points' : `${points} points`}, ${time(gradedAt)}</p>${comment !== '' && userText(comment)}`)}
${graderNotes.map((note) => userText(formatNote(note)))}
</div>
`

const ROUND_LABELS = { first: 'Graded', second: 'Second grading', decision: 'Decision' } as const

const attemptPart = ({
  text,
  media,
  files,
  transcript,
  state,
  begunAt,
  answeredAt,
  wasInterrupted,
}: NonNullable<Question['answer']>): Html =>
  html`${text !== '' && userText(text)}${media && mediaPart(media)}${files.map(filePart)}${transcript?.state === 'ready' && html`<p class="quiet">Transcript, made by ${transcript.madeBy === 'machine' ? 'a machine' : 'a machine and corrected by a person'}. It may have mistakes.</p>${userText(transcript.segments.map((segment) => segment.text).join('\n'))}`}
<p class="quiet">${answeredAt ? html`Saved ${time(answeredAt)}` : html`Started ${time(begunAt)}`}${state !== 'complete' && `, ${state}`}${wasInterrupted && ', interrupted'}</p>`

/** Never opened in the page: a file may contain anything. */
const filePart = ({ name, file, threat, contentType }: NonNullable<Question['answer']>['files'][number]): Html =>
  html`<p>${file === null ? html`${name}: ${threat === null ? 'not stored' : 'left out, because it contains malware'}` : html`<a href="${`./${file}`}" download="${downloadName({ fileName: name ?? '', contentType })}">${name}</a>`}</p>`

/** Plays the recording, links to an incomplete one, or says why there is none. */
function mediaPart({ kind, state, file, contentType, deletedAt, createdAt }: ShownMediaFile): Html {
  if (file === null)
    return html`<p class="quiet">${formatCode(kind)}, ${time(createdAt)}: ${deletedAt ? html`deleted ${time(deletedAt)}` : state === 'ready' ? 'no longer stored' : 'incomplete'}.</p>`
  const address = `./${file}`
  if (contentType.startsWith('image/'))
    return html`<a href="${address}"><img src="${address}" alt="${formatCode(kind)}" loading="lazy"></a>`
  if (state !== 'ready') return html`<p><a href="${address}">${formatCode(kind)}, as far as it arrived</a></p>`
  return contentType.startsWith('audio/')
    ? html`<audio controls preload="none" src="${address}"></audio><p class="quiet"><a href="${address}">Open file</a></p>`
    : html`<video controls preload="none" src="${address}"></video><p class="quiet"><a href="${address}">Open file</a></p>`
}

/** Photos first, as a gallery. */
function captureParts(captures: ShownMediaFile[]): Html | false {
  const isPhoto = ({ file, contentType }: ShownMediaFile) => file !== null && contentType.startsWith('image/')
  return (
    captures.length > 0 &&
    html`<h3>Photos and recordings</h3>
<ul class="photos">${captures.filter(isPhoto).map((photo) => html`<li>${mediaPart(photo)}<p class="quiet">${formatCode(photo.kind)}, ${time(photo.createdAt)}</p></li>\n`)}</ul>
${captures.filter((capture) => !isPhoto(capture)).map((capture) => html`<p>${formatCode(capture.kind)}, ${time(capture.createdAt)}</p>${mediaPart(capture)}`)}`
  )
}
