import { PROCTORING, type Proctoring } from '../../../domain/assessments/assessment-input.ts'
import type { Context } from '../../../domain/context.ts'
import type { AccountProblem, Issue, TargetFault } from '../../../domain/errors.ts'
import { type Declinable, declinedAtOf } from '../../../domain/invites/declined.ts'
import { MAX_RESENDS } from '../../../domain/limits.ts'
import { timeInWords } from '../../../domain/values/format-time.ts'
import { wordAgo } from '../../../domain/values/word-ago.ts'
import { type Html, html } from '../../../html/html.ts'
import { wordCount, wordDuration } from '../../../http/pages/candidate-view.ts'

/** The fields as the pages call them. */
const names: Record<string, string> = {
  firstName: 'the first name',
  lastName: 'the last name',
  email: 'the address',
  password: 'the password',
  current: 'the current password',
  name: 'the name',
  expiresAt: 'the date',
  search: 'the search',
  defaultQuestionFormat: 'how questions are asked',
  defaultAnswerFormat: 'how they are answered',
  audience: 'the audience',
  timeLimit: 'the time limit',
  secondGrader: 'by how many it is graded',
  gradedBlind: 'whether it is graded blind',
  screenRecording: 'the recording of the screen',
  webcamMonitoring: 'the webcam',
  requireIdCapture: 'the photo of the ID',
  facePhotoRequired: 'the photo of the face',
  instructionTitle: 'the title of the instruction',
  instruction: 'the instruction',
  languages: 'the list of languages',
  categories: 'the list of categories',
  skillTypes: 'the list of skills',
  tags: 'the list of tags',
  clients: 'the list of clients',
  inputType: 'how the question is asked',
  responseType: 'how it is answered',
  script: 'the text',
  audioUrl: 'the address of the audio',
  videoUrl: 'the address of the video',
  points: 'the number of points',
  comment: 'the comment',
  sourceLanguage: 'the language of the question',
  targetLanguage: 'the language of the answer',
  order: 'the order',
  place: 'the place',
  roles: 'the list of roles',
  department: 'the department',
  description: 'the description',
  color: 'the colour',
  types: 'what it is told of',
  mode: 'the kind',
  senderName: 'the sender’s name',
  replyTo: 'the address for replies',
  invitationText: 'the text',
  assessmentId: 'the assessment',
  recipientEmail: 'the address',
  recipientName: 'the name',
  expiresInDays: 'the number of days',
  questionReplayLimit: 'the number of replays',
  answerRecordLimit: 'the number of recordings',
  extraTimePercent: 'the extra time',
  customMessage: 'the message',
  assignedGraderId: 'the grader',
  secondGraderId: 'the second grader',
  tagIds: 'the tag',
  url: 'the address',
  theirKey: 'the key',
  requestsPerMinute: 'the number of requests',
  media: 'what is to be deleted',
  timeZone: 'the time zone',
  filterName: 'the name',
  pageSize: 'the number of rows',
  requirement: 'what the candidate can start, or go on, without',
}

const targetFaults: Record<TargetFault, string> = {
  url: 'The address is not one of the web.',
  scheme: 'The address has to begin with https://.',
  credentials: 'The address must not contain a user name or a password.',
  port: 'The port of the address has to be 80, 443, or one above 1023.',
  host: 'The address must not lead into a private network.',
  unlisted: 'The address is of no host that is listed in the settings of the organization.',
}

/** The formats, as lists to choose from show them. */
export const FORMAT_LABELS: [value: string, label: string][] = [
  ['text', 'Text'],
  ['audio', 'Audio'],
  ['video', 'Video'],
  ['mixed', 'Any of these'],
]
export const AUDIENCE_LABELS: [value: string, label: string][] = [
  ['invite_only', 'By invitation'],
  ['public', 'Public'],
]

/** The label of a word of such a list; another word as it is. */
export const labelOf = (labels: [value: string, label: string][], value: string): string =>
  labels.find(([word]) => word === value)?.[1] ?? value

/** What is asked of a candidate besides answers. */
export function demandsOf(said: Proctoring): string[] {
  const all: [boolean, string][] = [
    [said.screenRecording, 'a recording of the screen'],
    [said.webcamMonitoring, 'the webcam'],
    [said.requireIdCapture, 'a photo of the ID'],
    [said.facePhotoRequired, 'a photo of the face'],
  ]
  return all.filter(([isDemanded]) => isDemanded).map(([, name]) => name)
}

/** What an id or a name stands for that is none of the organization's. */
const referents: Record<string, string> = {
  tags: 'tag with the name',
  clients: 'member with the address',
  languages: 'language',
  sourceLanguage: 'language',
  targetLanguage: 'language',
}

const accountProblems: Record<AccountProblem, (name: string, limit: number) => string> = {
  minLength: (name, limit) => `${capitalize(name)} needs at least ${limit} characters.`,
  notAddress: () => 'The password must not be your address.',
  taken: (name) => `${capitalize(name)} is taken already.`,
  date: () => 'Enter a date.',
  future: () => 'The date has to be in the future.',
  farFuture: (_name, days) => `The date can be ${days.toLocaleString('en')} days from now at most.`,
  tooMany: (_name, seconds) => `There were too many attempts. Please try again in ${inMinutes(seconds)}.`,
  exists: () => 'You have just set a password by another link. Enter that one.',
  ended: () => 'This key has been revoked or has expired, and can not be rotated.',
  rotated: () => 'This key was rotated less than 24 hours ago, and its earlier value is still good.',
  lastAdmin: () => 'Nobody else is an active admin who has joined: the organization needs one.',
  joined: () => 'This member has joined already, and needs no link.',
  inactive: () => 'This member is not active.',
  deactivated: () => 'This member is deactivated: activate them again, with these roles?',
  invited: () => 'This address has been invited to that assessment already.',
  empty: () => 'The list is empty.',
  unreadable: (_name, line) => `The list can not be read as CSV${line > 0 ? `: see line ${line}` : ''}.`,
  noAddresses: () => 'The first row needs the names of the columns, one of them "email", or an address.',
  tooManyRows: (_name, rows) => `The list has more than ${rows.toLocaleString('en')} rows. Please split it.`,
  tooLarge: (_name, bytes) => `The list is larger than ${bytes / 1024 / 1024} MB. Please split it.`,
  tooManyWebhooks: (_name, limit) => `There can not be more than ${limit} webhooks. Delete one to make another.`,
  disabled: () => 'The webhook is disabled. Enable it first.',
  secretRotated: () =>
    'It has been given a new secret less than 24 hours ago, by somebody else or in another window. If the one before is to stop at once, do it again.',
  forgotten: () =>
    'Some of what it has missed is no longer kept, so it can not be sent. Have your system list the invites instead.',
  points: (_name, limit) => `The points have to be between 0 and ${limit}, in steps of 0.5.`,
  released: () => 'The result is released. Reopen it first.',
  notReleased: () => 'The result is not released.',
  ungraded: (_name, number) => `Question ${number} is not graded yet.`,
  undecided: (_name, number) => `The two grades of question ${number} are too far apart: an admin has to decide.`,
  regraded: () =>
    'You have graded this question in another window since: see “Grades so far”. What you save now takes the place of that.',
  otherPoints: (_name, points) =>
    `It was graded otherwise meanwhile: it is ${wordCount(points, 'point')} now. Look at it again, and release it if that is right.`,
  gradesAlready: () => 'This member is the other grader already: two different members have to grade it.',
  notHttps: (name) => `${capitalize(name)} has to begin with https://.`,
  asksNothing: () => 'Enter a text, or the address of an audio or a video: the question asks nothing.',
  archived: () => 'This assessment is archived: unarchive it before you invite anybody to it.',
  likeAddress: () => 'A name with an @ would be taken for the address that the mail comes from.',
  notHost: () => 'Enter names of hosts, as careers.example.com, one a line; 50 at most.',
  unasked: () => 'This assessment has no questions yet: add them before you have anybody mailed an invitation to it.',
  noneChosen: () => 'No invite is chosen. Tick some in the list.',
  tooManyChosen: (_name, most) => `These are more than ${most.toLocaleString('en')} invites. Narrow the list to fewer.`,
  moreMatch: (_name, count) => `Meanwhile ${count.toLocaleString('en')} invites match. Look at the number again.`,
  wrong: (name) => (name ? `${capitalize(name)} is not right.` : 'The address or the password is not right.'),
}

/** Of an assessment to which somebody is invited, by test invites alone or not. */
const INVITED = {
  live: 'Somebody is invited to it, so it can not be deleted.',
  test: 'There are test invites to it, and no live ones. Delete the test data first, then it can be deleted.',
}

/** What is wrong, in a sentence. */
export function wordIssue(issue: Issue): string {
  const name = names[issue.field] ?? ''
  switch (issue.rule) {
    case 'account':
      return accountProblems[issue.problem](name, issue.limit ?? 0)
    case 'required':
      if (issue.field === 'roles') return 'Enter at least one role.'
      return issue.field === 'assessmentId' ? 'Choose an assessment.' : `Enter ${name}.`
    case 'maxLength':
      return `${capitalize(name)} has more than ${issue.limit} characters.`
    case 'maxItems':
      return `${capitalize(name)}: at most ${issue.limit} are possible.`
    case 'keys':
      return `${capitalize(name)}: a key has 1 to ${issue.limit} characters: letters from A to Z, digits, _, . and -.`
    case 'maxWords':
      return `${capitalize(name)} has more than ${issue.limit} words.`
    case 'color':
      return 'A colour is # and six hexadecimal digits, such as #2563EB.'
    case 'email':
      return `${capitalize(name)} is not an email address.`
    case 'integer':
    case 'minimum':
    case 'maximum':
      return issue.field === 'timeLimit'
        ? 'Enter the time limit in minutes, or in minutes and seconds as 1:30; leave it empty for none.'
        : `${capitalize(name)} has to be a whole number from ${issue.limit.minimum} to ${issue.limit.maximum}.`
    case 'reference':
      return `There is no ${referents[issue.field] ?? name.replace('the ', 'such ')} “${issue.value}”.`
    case 'changed':
      if (issue.field === 'order') return 'Somebody else has moved it meanwhile, so it stays where it is now.'
      return `Somebody else has changed ${name} meanwhile: it is now ${wordValue(issue.field, issue.value)}. What you save replaces it.`
    case 'target':
      return targetFaults[issue.problem]
    case 'invited':
      return INVITED[issue.value]
    case 'later':
      return 'That would be earlier than it expires now.'
    case 'grader':
      return 'This member is not active, or may not grade.'
    case 'mailed':
      return issue.limit
        ? `It was sent again too often. It can be sent again from ${timeInWords(issue.limit)}.`
        : `It was sent again ${MAX_RESENDS} times, as often as it can be. Give the candidate the link yourself.`
    case 'declined':
      return 'The candidate has declined. Confirm that they are to be invited all the same.'
    case 'malformed':
      return issue.text
    case 'move':
    case 'settled':
      return `That is not possible: the invite is ${issue.value}.`
    default:
      return `Please check ${name || 'what you have entered'}.`
  }
}

/** What somebody else has made of a field. */
function wordValue(field: string, value: unknown): string {
  if (field === 'timeLimit') return Number(value) > 0 ? wordDuration(Number(value)) : 'without limit'
  if (field === 'gradedBlind') return value ? 'graded blind' : 'not graded blind'
  if (PROCTORING.some((name) => name === field)) return value ? 'asked for' : 'not asked for'
  if (typeof value === 'boolean') return value ? 'by two graders' : 'by one grader'
  const text = [value].flat().join(', ')
  return text === '' ? 'empty' : `“${text}”`
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const inMinutes = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A time as it is said of now, as long as it is near; the exact one is in the title. Where scripts run, in the reader's own zone. */
export const ago = ({ deps }: Pick<Context, 'deps'>, at: Date): Html =>
  html`<time class="whitespace-nowrap" datetime="${at.toISOString()}" title="${`${format.format(at)} UTC`}" data-ago>${wordAgo(at, deps.clock()) ?? date.format(at)}</time>`

const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

/** A time: in UTC and, where scripts run, in the reader's own zone. The exact one is in the title. */
export const time = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${at.toISOString()}">${format.format(at)} UTC</time>`

/** How an invite stands for people: who has declined was not revoked, though the documents have one status for both. */
export const wordState = (invite: Declinable): string => (declinedAtOf(invite) ? 'declined' : invite.status)
