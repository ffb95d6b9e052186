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
  roles: 'at least one role',
  department: 'the department',
  tags: 'the tags',
  languages: 'the languages',
  description: 'the description',
  search: 'the search',
  senderName: 'the sender’s name',
  replyTo: 'the address for replies',
  invitationText: 'the text',
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
  lastAdmin: () => 'Nobody else is an active admin who has joined: the organization needs one.',
  joined: () => 'This member has joined already, and needs no link.',
  inactive: () => 'This member is not active.',
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
    case 'maxItems':
      return `There are more than ${issue.limit} of ${name}.`
    case 'maxWords':
      return `${capitalize(name)} has more than ${issue.limit} words.`
    case 'color':
      return 'A colour is # and six hexadecimal digits, such as #2563EB.'
    case 'email':
      return `${capitalize(name)} is not an email address.`
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
