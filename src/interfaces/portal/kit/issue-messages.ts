import { PROCTORING } from '../../../domain/assessments/assessment-input.ts'
import type { Issue, Problem, TargetFault } from '../../../domain/errors.ts'
import { MAX_RESENDS, MAX_TEXT_TESTS } from '../../../domain/limits.ts'
import { formatTime } from '../../../domain/time/format-time.ts'
import { formatCount, formatDuration } from '../../../http/pages/candidate-view.ts'
import { FILE_MESSAGES } from '../../../tables/file-messages.ts'

/** Names of fields in messages. */
const names: Record<string, string> = {
  firstName: 'the first name',
  lastName: 'the last name',
  email: 'the email address',
  completed: 'the number of days after completion',
  expired: 'the number of days after expiry',
  revoked: 'the number of days after revoking',
  password: 'the password',
  current: 'the current password',
  code: 'the code',
  name: 'the name',
  expiresAt: 'the date',
  search: 'the search',
  defaultQuestionFormat: 'the question format',
  defaultAnswerFormat: 'the answer format',
  audience: 'the audience',
  timeLimit: 'the time limit',
  preparationTime: 'the preparation time',
  simultaneous: 'recording while the prompt plays',
  secondGrader: 'the number of graders',
  thirdGrader: 'the third grader',
  assignsGraders: 'the assignment of graders',
  blindGrading: 'blind grading',
  penaltyPercent: 'the percentage',
  practice: 'the practice before the start',
  interfaceLanguage: 'the language of the pages',
  releaseAutomatically: 'the automatic release',
  releaseToCandidate: 'what candidates see of it',
  screenRecording: 'the screen recording',
  webcamMonitoring: 'the webcam',
  requireIdCapture: 'the ID photo',
  facePhotoRequired: 'the face photo',
  instructionTitle: 'the title of the instructions',
  instruction: 'the text of the instructions',
  languages: 'the list of languages',
  categories: 'the list of categories',
  skillTypes: 'the list of skills',
  tags: 'the list of tags',
  clients: 'the list of clients',
  inputType: 'the question format',
  responseType: 'the answer format',
  script: 'the text',
  audioUrl: 'the audio URL',
  videoUrl: 'the video URL',
  points: 'the number of points',
  comment: 'the comment',
  at: 'the time of the note',
  until: 'the end of the note',
  text: 'the text',
  category: 'the category',
  pointsOff: 'the number of points off',
  sourceLanguage: 'the language of the question',
  targetLanguage: 'the language of the answer',
  rubric: 'the rubric',
  order: 'the order',
  place: 'the position',
  roles: 'the list of roles',
  department: 'the department',
  description: 'the description',
  color: 'the color',
  primaryColor: 'the color of buttons and links',
  backgroundColor: 'the background of the header',
  types: 'the events',
  mode: 'the mode',
  senderName: 'the sender name',
  replyTo: 'the reply-to address',
  invitationText: 'the text',
  assessmentId: 'the assessment',
  recipientEmail: 'the email address',
  recipientName: 'the name',
  expiresInDays: 'the number of days',
  minPercent: 'the minimum',
  expiresOn: 'the date',
  addedDays: 'the number of days',
  questionReplayLimit: 'the number of replays',
  answerRecordLimit: 'the number of recordings',
  extraTimePercent: 'the extra time',
  customMessage: 'the message',
  assignedGraderId: 'the grader',
  secondGraderId: 'the second grader',
  tagIds: 'the tag',
  url: 'the URL',
  theirKey: 'the key',
  requestsPerMinute: 'the number of requests',
  media: 'what is to be deleted',
  timeZone: 'the time zone',
  language: 'the language',
  languagesOffered: 'the languages',
  filterName: 'the name',
  pageSize: 'the number of rows',
  requirement: 'the requirement',
  secondFactorFrom: 'the date',
  steps: 'the list of reminders',
  quietFrom: 'the hour',
  quietUntil: 'the hour',
  ...Object.fromEntries(
    [1, 2, 3, 4].flatMap((n) => [
      [`after${n}`, `the time of reminder ${n}`],
      [`hours${n}`, `the number of hours of reminder ${n}`],
      [`states${n}`, `whom reminder ${n} is for`],
    ]),
  ),
  reason: 'the reason',
  trustedDeviceDays: 'the number of days',
  idleMinutes: 'the number of minutes',
  sessionHours: 'the number of hours',
  auditRetentionDays: 'the number of days',
  networks: 'the networks',
  apiKeyNetworks: 'the networks of API keys',
  apiKeyMaxDays: 'the number of days',
  ssoSessionHours: 'the number of hours',
  issuer: 'the issuer',
  clientId: 'the client ID',
  clientSecret: 'the client secret',
  secretExpiresAt: 'the date',
  acrValues: 'the list of values',
  requiredClaims: 'the list of claims',
  defaultRoles: 'the list of roles',
  domain: 'the domain',
}

/** A field's name in messages, or the field itself if it has none. */
export const nameOfField = (field: string): string => names[field] ?? field

const targetFaults: Record<TargetFault, string> = {
  url: 'The URL is not a web address.',
  scheme: 'The URL must begin with https://.',
  credentials: 'The URL must not contain a user name or a password.',
  port: 'The port of the URL must be 80, 443, or above 1023.',
  host: 'The URL must not point to a private network. The operator of this service can allow it with the setting WEBHOOK_ALLOW.',
  unlisted: 'The host of the URL is not among the allowed return hosts in the organization’s settings.',
}

/** Names of referenced rows that don't exist in the organization. */
const referents: Record<string, string> = {
  tags: 'tag with the name',
  clients: 'member with the email address',
  languages: 'language',
  list: 'list',
  sourceLanguage: 'language',
  targetLanguage: 'language',
}

const accountProblems: Record<Problem, (name: string, limit: number) => string> = {
  minLength: (name, limit) => `${capitalize(name)} needs at least ${limit} characters.`,
  notAddress: () => 'The password must not be your email address.',
  breached: () => 'This password is among those that have leaked from other services. Choose another one.',
  taken: (name) => `${capitalize(name)} is already taken.`,
  mailsTooLate: (_name, perDay) =>
    `At ${perDay.toLocaleString('en')} emails a day, the last ones would be sent when half of their invites’ time is over. Give the invites more days, or split the list.`,
  date: () => 'Enter a date.',
  notNetwork: (name, line) => `${capitalize(name)}: line ${line} is neither an address nor a network such as 203.0.113.0/24.`,
  everyNetwork: (name, line) =>
    `${capitalize(name)}: line ${line} covers every address. Leave the list empty to allow any address.`,
  keysShutOut: (_name, count) =>
    `${count === 1 ? 'An API key was' : `${count} API keys were`} used in the last 30 days from an address outside these networks. Add it (Integrations, API keys shows it), or tick “Block these keys”.`,
  ownAddress: () => 'Your own address is in none of these networks, so you would lock yourself out. Add it.',
  tooManyProviders: (_name, limit) => `You have ${limit} identity providers, which is the limit. Remove one to add another.`,
  tooManyDomains: (_name, limit) => `You have ${limit} domains, which is the limit. Remove one to add another.`,
  notDomain: () => 'Enter a domain, such as example.com.',
  publicDomain: () => 'Anybody can get an address in this domain. Enter a domain that belongs to your organization.',
  domainTaken: () => 'Another organization has verified this domain. Ask the operator of this service.',
  notTried: () => 'These settings were not tried yet. Try the identity provider first, in this session.',
  sharedIssuer: () =>
    'Anybody can have an account at this issuer. Under More settings, require a claim that only your organization’s accounts have: tid=<your tenant’s ID> at Microsoft, hd=<your domain> at Google.',
  noWayBack: () =>
    'Somebody must be able to sign in when the identity provider fails. Give emergency access below to an owner who has signed in with their own passkey, or password and code, in the last 30 days.',
  needsSso: () => 'This organization requires single sign-on. Join with it.',
  notOwner: () => 'Only an owner who has joined can have emergency access.',
  foreignDomain: () =>
    'This organization requires single sign-on, and this address is in none of its verified domains. Ask an owner to add it as a guest under Settings, Single sign-on. Then invite it.',
  lastBreakGlass: () => 'This is the last owner with emergency access. Add another one first.',
  notClaims: (_name, line) => `Line ${line} is not a claim and its value, such as hd=example.com.`,
  future: () => 'The date must be in the future.',
  farFuture: (_name, days) => `The date can be at most ${days.toLocaleString('en')} days from now.`,
  tooMany: (_name, seconds) => `There were too many attempts. Please try again in ${inMinutes(seconds)}.`,
  tooManyTests: (_name, seconds) =>
    `You can email yourself ${MAX_TEXT_TESTS} tests an hour. Please try again in ${inMinutes(seconds)}.`,
  unknownBrowser: () =>
    'There were too many wrong passwords for this address from browsers that are new to it, and this one is new. “Forgot your password?” emails you a link that lets this browser in. Browsers in which you have signed in before work as always.',
  exists: () => 'You have just set a password with another link. Enter that password.',
  ended: () => 'This key is revoked or expired and can’t be rotated.',
  rotated: () => 'This key was rotated less than 24 hours ago, and its previous value still works.',
  lastAdmin: () =>
    'The organization needs at least one active admin who has joined, and this is the only one. Make another member an admin first.',
  lastOwner: () =>
    'The organization needs at least one owner who has joined, and this is the only one. Have another member become an owner first.',
  tooHigh: () => 'This member is an owner: only owners can change that.',
  ownRoles: () => 'You can’t change your own roles. Ask another admin.',
  otherName: () => 'Type the organization’s name exactly as shown above.',
  ownErasure: () => 'You can’t erase yourself. Ask another owner.',
  notJoined: () => 'This member has not joined yet.',
  offerEnded: () => 'This offer has ended. Ask an owner for another one.',
  joined: () => 'This member has already joined and needs no link.',
  inactive: () => 'This member is not active.',
  deactivated: () => 'This member is deactivated: activate them again, with these roles?',
  ...FILE_MESSAGES,
  invited: () => 'This address is already invited to that assessment.',
  tooManyWebhooks: (_name, limit) => `You have ${limit} webhooks, which is the limit. Delete one to create another.`,
  disabled: () => 'The webhook is disabled. Enable it first.',
  secretRotated: () =>
    'The secret was rotated less than 24 hours ago, by somebody else or in another window. Rotate it again if the previous secret should stop working at once.',
  forgotten: () => 'Some of the missed events are no longer kept and can’t be sent. Have your system list the invites instead.',
  points: (_name, limit) => `The points must be between 0 and ${limit}, in steps of 0.5.`,
  released: () => 'The result is released. Reopen it first.',
  notReleased: () => 'The result is not released.',
  ungraded: (_name, number) => `Question ${number} is not graded yet.`,
  undecided: (_name, number) =>
    `The two grades of question ${number} are too far apart: an admin or a third grader has to decide.`,
  regraded: () =>
    'You have since graded this question in another window: see “Grades so far”. What you save now replaces that grade.',
  otherPoints: (_name, points) =>
    `The grades have changed in the meantime: the total is now ${formatCount(points, 'point')}. Check it, then release it again.`,
  uncommented: (_name, points) => `Say in the comment why: the key gives ${formatCount(points, 'point')}.`,
  unlikeRubric: (_name, points) => `Say in the comment why: the chosen levels make ${formatCount(points, 'point')}.`,
  levels: (_name, number) => `The rubric of question ${number} has other levels. Reload this page.`,
  assignedToOther: (_name, number) => `Question ${number} is assigned to another grader now.`,
  gradesAlready: () => 'This member is already the other grader: the two graders must be different members.',
  notHttps: (name) => `${capitalize(name)} must begin with https://.`,
  asksNothing: () => 'The question is empty. Enter a text, or an audio or video URL.',
  archived: () => 'This assessment is archived. Unarchive it to invite candidates.',
  suppressed: () => 'This address gets no emails. Confirm below to invite them anyway, and give them the link yourself.',
  likeAddress: () => 'The name must not contain an @: it would look like an email address.',
  notHost: () => 'Enter host names such as careers.example.com, one per line; at most 50.',
  unasked: () => 'This assessment has no questions yet. Add some before you send invitations.',
  noneChosen: () => 'No invites are selected. Select some in the list.',
  tooManyChosen: (_name, most) => `A bulk change takes at most ${most.toLocaleString('en')} invites. Filter the list first.`,
  inAssessment: (_name, place) => `The assessment already has it, as question ${place}.`,
  retired: () => 'This question is archived. Restore it before you add it.',
  undoneTooLate: () => 'You can undo an import once, within a day.',
  tooManyArchives: (_name, most) =>
    `${most} archives were created within the last 24 hours, which is the limit. Please try again tomorrow.`,
  exportTooLarge: (_name, most) =>
    `The organization has more than ${most / 1e9} GB of photos and recordings. Ask the operator to export it.`,
  hasStarted: () => 'The candidate has started, so this invite was kept.',
  otherInvites: () => 'This person has other invites, so they were kept.',
  hasName: () => 'The invite already has a name.',
  comparedCount: (_name, count) => `Choose two to four results to compare. You chose ${count > 4 ? 'more' : count}.`,
  sharingOff: () => 'Links to results are switched off. An admin can switch them on under Settings, Sharing.',
  noResults: () => 'No released result is selected. Select some in the list.',
  tooManyShared: (_name, most) => `A link takes at most ${most} results.`,
  severalAssessments: () => 'Select results of one assessment only.',
  notTold: (_name, count) =>
    count === 1
      ? 'One of these candidates was not told that results may be shared. You can share points only.'
      : `${count} of these candidates were not told that results may be shared. You can share points only.`,
  bandTwice: () => 'Two bands have the same name or percentage. Change one.',
  notCompleted: () => 'The candidate has not completed the assessment.',
  notConfirmed: () => 'Tick the box to confirm that the list is right as it is.',
  moreMatch: (_name, count) => `Now ${count.toLocaleString('en')} invites match. Check the number and confirm again.`,
  codeUsed: () => 'This code was used already. Wait for the next one.',
  passkey: () => 'The passkey was not accepted. Please try again, or sign in another way.',
  elsewhere: () =>
    'This member belongs to other organizations as well. Only the operator of this service can reset their second step.',
  lastFactor: () => 'Your organization asks for a second step, and this is your only one. Add another before you remove it.',
  unproven: () => 'Verify your address first: choose “Verify my address” under My account.',
  addressUnproven: () => 'This owner has not verified their address yet. They can do it under My account.',
  signedOut: () => 'You were signed out in the meantime, and nothing was changed. Sign in again.',
  wrong: (name) => (name ? `${capitalize(name)} is not right.` : 'The email address or the password is not right.'),
}

/** Reasons why an assessment with invites can't be deleted: live invites, or only test invites. */
const INVITED_MESSAGES = {
  live: 'Candidates are invited to this assessment, so it can’t be deleted. You can archive it.',
  test: 'This assessment has test invites. Delete the test data first; then you can delete the assessment.',
}

/** Messages about missing choices. */
const MISSING_CHOICE_MESSAGES: Record<string, string> = {
  results: 'Tick at least one result.',
  questions: 'Tick at least one question.',
  roles: 'Choose at least one role.',
  defaultRoles: 'Choose at least one role.',
  assessmentId: 'Choose an assessment.',
  sure: 'Tick the box to confirm.',
}

/** A mistake as a sentence. */
export function formatIssue(issue: Issue): string {
  const name = names[issue.field] ?? ''
  switch (issue.rule) {
    case 'common':
      return `${capitalize(name)} is easy to guess: ${formatPasswordParts(issue.pieces)}. Add something unrelated, such as two or three more words.`
    case 'account':
      return accountProblems[issue.problem](name, issue.limit ?? 0)
    case 'required':
      return MISSING_CHOICE_MESSAGES[issue.field] ?? `Enter ${name}.`
    case 'maxLength':
      return `${capitalize(name)} has more than ${issue.limit} characters.`
    case 'maxItems':
      return `${capitalize(name)}: at most ${issue.limit}.`
    case 'keys':
      return `${capitalize(name)}: a key has 1 to ${issue.limit} characters: letters from A to Z, digits, _, . and -.`
    case 'maxWords':
      return `${capitalize(name)} has more than ${issue.limit} words.`
    case 'color':
      return 'Enter the color as # and six hexadecimal digits, such as #2563EB.'
    case 'email':
      return 'Enter a valid email address, such as name@example.com.'
    case 'integer':
    case 'minimum':
    case 'maximum':
      if (issue.field === 'preparationTime')
        return 'Enter the preparation time in minutes, or as minutes and seconds like 0:30, up to 60 minutes. Leave it empty for none.'
      if (issue.field === 'at' || issue.field === 'until')
        return `${capitalize(name)} must lie within the recording. Enter it as minutes and seconds like 0:18.`
      return issue.field === 'timeLimit'
        ? 'Enter the time limit in minutes, or as minutes and seconds like 1:30. Leave it empty for none.'
        : `${capitalize(name)} must be a whole number from ${issue.limit.minimum} to ${issue.limit.maximum}.`
    case 'reference':
      return `There is no ${referents[issue.field] ?? name.replace('the ', 'such ')} “${issue.value}”.`
    case 'changed':
      return formatConflict(issue, name)
    case 'target':
      return targetFaults[issue.problem]
    case 'invited':
      return INVITED_MESSAGES[issue.value]
    case 'later':
      return 'The new expiry must not be earlier than the current one.'
    case 'grader':
      return 'This member is not active or is not a grader.'
    case 'mailed':
      return issue.limit
        ? `The invitation was sent too often. You can send it again from ${formatTime(issue.limit)}.`
        : `The invitation was sent again ${MAX_RESENDS} times, which is the limit. Share the link with the candidate yourself.`
    case 'declined':
      return 'The candidate has declined. Confirm that you want to invite them anyway.'
    case 'malformed':
      return issue.text
    case 'move':
    case 'settled':
      return `This is not possible: the invite is ${issue.value}.`
    default:
      return `Please check ${name || 'what you have entered'}.`
  }
}

function formatConflict({ field, value, by }: Extract<Issue, { rule: 'changed' }>, name: string): string {
  if (field === 'order') return 'This question was moved in the meantime. It stays where it is now.'
  if (field === 'version')
    return 'The question or its library version has changed in the meantime. Compare them again before you use it.'
  if (field === 'definition')
    return 'The answers or the answer key were changed in the meantime. Open the question in another tab to compare. Saving again replaces that change.'
  const change = `to ${formatValue(field, value)}. Saving again replaces that change.`
  if (by?.isOwn) return `You changed ${name} in another tab, on ${formatTime(by.at)}, ${change}`
  if (by?.name) return `${by.name} changed ${name} on ${formatTime(by.at)}, ${change}`
  return `${capitalize(name)} was changed in the meantime, ${change}`
}

const WORDED: Record<string, readonly [set: string, unset: string]> = {
  blindGrading: ['on', 'off'],
  thirdGrader: ['on', 'off'],
  simultaneous: ['on', 'off'],
  rubric: ['other criteria', 'no rubric'],
  ...Object.fromEntries(PROCTORING.map((name) => [name, ['required', 'not required'] as const])),
}

const NO_TIME: Record<string, string> = { timeLimit: 'without limit', preparationTime: 'none' }

function formatValue(field: string, value: unknown): string {
  const noTime = NO_TIME[field]
  if (noTime) return Number(value) > 0 ? formatDuration(Number(value)) : noTime
  const words = WORDED[field]
  if (words) return words[value ? 0 : 1]
  if (typeof value === 'boolean') return value ? 'two graders' : 'one grader'
  const text = [value].flat().join(', ')
  return text === '' ? 'empty' : `“${text}”`
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const inMinutes = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

/** Most parts of a password that a message names. */
const MAX_NAMED_PARTS = 4

const formatPasswordParts = (pieces: readonly string[]): string => {
  const named = pieces.slice(0, MAX_NAMED_PARTS).map((piece) => `“${piece}”`)
  return named.length > 0 ? `attackers try ${named.join(', ')} first` : 'it has too few different parts'
}
