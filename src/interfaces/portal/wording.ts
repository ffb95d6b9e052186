import type { AccountProblem, Issue } from '../../domain/errors.ts'
import { type Html, html } from '../../http/html.ts'

/** The fields as the pages call them. */
const names: Record<string, string> = {
  firstName: 'the first name',
  lastName: 'the last name',
  email: 'the address',
  password: 'the password',
  current: 'the current password',
  name: 'the name',
  date: 'the date',
  expiresAt: 'the date',
  assessmentId: 'the assessment',
  recipientEmail: 'the address',
  recipientName: 'the name',
  expiresInDays: 'the number of days',
  questionReplayLimit: 'the number of replays',
  answerRecordLimit: 'the number of recordings',
  customMessage: 'the message',
  assignedGraderId: 'the grader',
  tagIds: 'the tag',
  search: 'the search',
}

const accountProblems: Record<AccountProblem, (name: string, limit: number) => string> = {
  minLength: (name, limit) => `${capitalize(name)} needs at least ${limit} characters.`,
  notAddress: () => 'The password must not be your address.',
  taken: (name) => `${capitalize(name)} is taken already.`,
  date: () => 'Enter a date.',
  future: () => 'The date has to be in the future.',
  tooMany: (_name, seconds) => `There were too many attempts. Please try again in ${inMinutes(seconds)}.`,
  exists: () => 'You have just set a password by another link. Enter that one.',
  ended: () => 'This key has been revoked or has expired, and can not be rotated.',
  rotated: () => 'This key was rotated less than 24 hours ago, and its earlier value is still good.',
  invited: () => 'This address has been invited to that assessment already.',
  empty: () => 'The list is empty.',
  unreadable: (_name, line) => `The list can not be read as CSV${line > 0 ? `: see line ${line}` : ''}.`,
  noAddresses: () => 'The first row needs the names of the columns, one of them "email", or an address.',
  tooManyRows: (_name, rows) => `The list has more than ${rows.toLocaleString('en')} rows. Please split it.`,
  tooLarge: (_name, bytes) => `The list is larger than ${bytes / 1024 / 1024} MB. Please split it.`,
  wrong: (name) => (name ? `${capitalize(name)} is not right.` : 'The address or the password is not right.'),
}

/** What is wrong, in a sentence. */
export function wordIssue(issue: Issue): string {
  const name = names[issue.field] ?? ''
  switch (issue.rule) {
    case 'account':
      return accountProblems[issue.problem](name, issue.limit ?? 0)
    case 'required':
      return `Enter ${name}.`
    case 'maxLength':
      return `${capitalize(name)} has more than ${issue.limit} characters.`
    case 'email':
      return `${capitalize(name)} is not an email address.`
    case 'maxItems':
      return `There are more than ${issue.limit} tags.`
    case 'maxWords':
      return `${capitalize(name)} has more than ${issue.limit} words.`
    case 'minimum':
    case 'maximum':
    case 'integer':
      return `${capitalize(name)} has to be a whole number from ${issue.limit.minimum} to ${issue.limit.maximum}.`
    case 'later':
      return 'That would be earlier than it expires now.'
    case 'reference':
      return `There is no such ${name.replace('the ', '')}: ${issue.value}`
    case 'grader':
      return 'This member is not active, or may not grade.'
    case 'move':
      return `That is not possible: the invite is ${issue.value}.`
    default:
      return `Please check ${name || 'what you have entered'}.`
  }
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

const inMinutes = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60)
  return minutes === 1 ? 'a minute' : `${minutes} minutes`
}

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** A time: in UTC and, where scripts run, in the reader's own zone. The exact one is in the title. */
export const time = (at: Date): Html =>
  html`<time datetime="${at.toISOString()}" title="${at.toISOString()}">${format.format(at)} UTC</time>`
