import type { AuditField } from '../../../domain/audit/audit-details.ts'
import type { ReminderStep } from '../../../domain/invites/reminders/reminder-steps.ts'
import type { Ats } from '../../../domain/ports/ats-settings.ts'
import type { Refusal } from '../../../domain/sign-in/record-refusal.ts'
import type { AuthenticationKind } from '../../../domain/sign-in/session-access.ts'
import { html, type Value } from '../../../html/html.ts'
import { ATS_SYSTEMS } from '../integrations/ats.page.ts'
import { breakableAddress, labelLanguage, time } from '../kit/formatting.ts'
import { formatStep, labelMail } from '../reminders/reminder-labels.ts'
import { labelProblem } from '../sign-in/single-sign-on.page.ts'
import { EXCEPTION_LABELS } from '../single-sign-on/enforcement.page.ts'
import { FACTOR_NAMES } from './members.page.ts'

/** Name of a field, its text if empty (default “none”), and labels of its values. */
type FieldLabel = string | { name: string; emptyText?: string; format?: (value: string | number) => Value }

const PROOFS: Record<AuthenticationKind, string> = {
  password: 'password',
  totp: 'authenticator app',
  passkey: 'passkey',
  recovery: 'recovery code',
  device: 'remembered browser',
  oidc: 'identity provider',
}
const REFUSED: Record<Refusal, string> = {
  permission: 'something they may not do',
  scope: 'something the key may not do',
  network: 'the network they came from',
}
const CODES: Record<string, string> = {
  // Effect of a corrected answer key.
  key: 'another key',
  full: 'full points for everybody',
  none: 'no points for anybody',
  // Handling of released results.
  raise: 'released again where they rise',
  all: 'all released again',
  // Authors of account links.
  self: 'the member',
  domain: 'the verified domain',
  join: 'joining',
}
const spaced = (code: string): string =>
  code.replaceAll('_', ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
const codeOf = (code: string | number): string => CODES[code] ?? spaced(String(code))
const nameOfKind = (kind: string | number): string =>
  Object.hasOwn(FACTOR_NAMES, kind) ? FACTOR_NAMES[kind as keyof typeof FACTOR_NAMES] : spaced(labelMail(String(kind)))
const person = (name: string): FieldLabel => ({ name, emptyText: 'nobody' })
const language = (name: string): FieldLabel => ({ name, format: (code) => labelLanguage(String(code)) })
/** Format of times in JSON. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
function dayOf(time: string | number): string {
  return TIME.test(String(time)) ? day.format(new Date(time)) : String(time)
}
/** The log has the picture's hash. */
const picture = (): string => 'a picture'

const FIELDS: Record<AuditField, FieldLabel> = {
  name: 'name',
  assessment: 'assessment',
  assessmentId: 'assessment',
  graderId: person('grader'),
  assignedGraderId: person('grader'),
  tagId: 'tag',
  language: language('language'),
  kind: { name: 'kind', format: nameOfKind },
  kinds: { name: 'kinds', format: codeOf },
  number: 'number',
  version: 'version',
  questions: 'questions',
  invites: 'invites',
  lists: 'lists of candidates',
  rows: 'rows',
  count: 'how many',
  percent: { name: 'extra time', format: (percent) => `${percent} %` },
  until: 'until',
  reason: 'reason',
  why: 'why',
  was: { name: 'previous reason', format: codeOf },
  what: { name: 'because of', format: (what) => REFUSED[what as Refusal] ?? spaced(String(what)) },
  path: 'page',
  before: 'before',
  after: 'from position',
  changed: { name: 'changed', format: nameOfField },
  corrected: { name: 'corrected', format: nameOfField },
  change: { name: 'what', format: codeOf },
  roles: 'roles',
  portalRoles: 'other roles',
  proofs: { name: 'with', format: (proof) => PROOFS[proof as AuthenticationKind] ?? spaced(String(proof)) },
  provider: 'identity provider',
  issuer: 'issuer',
  problem: { name: 'why', format: (problem) => labelProblem(String(problem)) },
  claim: 'what was wrong',
  email: 'email address there',
  subject: 'account there',
  by: { name: 'by', format: codeOf },
  domain: 'domain',
  shared: 'assessments shared with them',
  unshared: 'assessments no longer shared',
  gradingLanguages: language('grading languages'),
  canViewTranscription: 'may read transcripts',
  signInException: { name: 'way in', format: (exception) => EXCEPTION_LABELS[exception] ?? spaced(String(exception)) },
  isInUse: 'in use from now on',
  untried: 'draft that is not tried yet',
  clientId: 'client ID',
  clientAuth: 'how the client signs in',
  clientSecret: 'client secret',
  secretExpiresAt: 'end of the client secret',
  requiredClaims: 'claims that are required',
  provisionsMembers: 'new members by sign-in',
  defaultRoles: 'roles of new members',
  secondFactor: 'second step at the provider',
  acrValues: 'values that count as a second step',
  logsOutAtProvider: 'signing out at the provider',
  secondFactorFrom: { name: 'two-step sign-in required from', emptyText: 'not required', format: dayOf },
  trustedDeviceDays: 'days a browser is remembered',
  idleMinutes: 'minutes without activity',
  sessionHours: 'hours a session lasts',
  networks: { name: 'networks', emptyText: 'anywhere' },
  auditRetentionDays: 'days the audit log is kept',
  apiKeyNetworks: { name: 'networks of all keys', emptyText: 'anywhere' },
  apiKeyMaxDays: { name: 'days a new key lasts at most', emptyText: 'no limit' },
  scopes: { name: 'restricted to', emptyText: 'nothing' },
  rights: 'permissions',
  requestsPerMinute: { name: 'requests per minute', emptyText: 'no limit' },
  senderName: 'sender name',
  replyTo: 'reply-to address',
  invitationText: 'text under every invitation',
  returnHosts: 'allowed return hosts',
  languagesOffered: language('languages offered'),
  timeZone: 'time zone',
  mainTemplateLanguage: language('fallback language'),
  primaryColor: { name: 'color of buttons and links', emptyText: 'the service’s own' },
  backgroundColor: { name: 'color of the header', emptyText: 'the service’s own' },
  logoHash: { name: 'logo', format: picture },
  imprint: 'imprint',
  privacy: 'privacy notice',
  contact: 'contact',
  consentVersion: { name: 'version of the consent text', emptyText: 'no text' },
  completed: { name: 'completed', emptyText: 'no limit' },
  expired: { name: 'expired', emptyText: 'no limit' },
  revoked: { name: 'revoked', emptyText: 'no limit' },
  submitted: { name: 'receipt', emptyText: 'as the organization' },
  released: { name: 'notice of the result', emptyText: 'as the organization' },
  isOn: 'on',
  steps: 'reminders',
  isOwn: 'own reminders',
  openInvites: 'also for earlier invites',
  shows: { name: 'shows', emptyText: 'points only' },
  results: 'results',
  band: 'band',
  knockedOut: 'knocked out',
  decision: { name: 'decision', format: (decision) => spaced(String(decision)) },
  recipientName: 'name',
  customMessage: 'message',
  questionReplayLimit: 'number of replays',
  answerRecordLimit: 'number of recordings',
  expiresInDays: 'days',
  expiresOn: { name: 'new expiry', format: (date) => day.format(new Date(date)) },
  addedDays: 'days added to the expiry',
  includesStarted: 'including candidates who have started',
  isEmailed: 'with a message to the candidates',
  sendsAgain: 'sent again',
  requirement: { name: 'requirement', format: codeOf },
  toCandidate: 'shown to the candidate',
  keyNumber: 'number of the key',
  effect: { name: 'effect', format: codeOf },
  releases: { name: 'released results', format: codeOf },
  opensAt: 'opens',
  closesAt: 'closes',
  maxInvites: { name: 'people at most', emptyText: 'any number' },
  emailDomains: { name: 'email domains', emptyText: 'all' },
  tagIds: 'tags',
  inviteDays: 'days until its invites expire',
  dailyInvites: 'people a day at most',
  notifiesMembers: 'in digests of members',
  ats: { name: 'recruiting system', format: (ats) => ATS_SYSTEMS[ats as Ats]?.name ?? String(ats) },
  mode: 'for',
  host: 'address',
  event: 'event',
  status: 'status',
  role: 'role',
  search: 'searched for',
  searched: 'searched',
  category: 'in one category',
  who: 'by',
  action: 'action',
  from: 'from',
  to: 'to',
  minPercent: { name: 'at least', format: (percent) => `${percent} %` },
}

/** Fields recorded by another release are shown as they are. */
const labelOf = (field: string): Exclude<FieldLabel, string> => {
  const word: FieldLabel = Object.hasOwn(FIELDS, field) ? FIELDS[field as AuditField] : spaced(field)
  return typeof word === 'string' ? { name: word } : word
}

function nameOfField(field: string | number): string {
  return labelOf(String(field)).name
}

/** @property names names of referenced rows, by id. @property target name of the row that was changed, which is not repeated. */
type KnownNames = { names: Map<string, string>; wordAction: (action: string) => string; target?: string | undefined }

/** Recorded details, one line each. Deleted rows have no names. */
export const formatDetails = (details: unknown, names: KnownNames): Value[] =>
  linesOf(details)
    .filter(([field, value]) => field !== 'name' || value !== names.target)
    .map(
      ([field, value]) =>
        html`<li class="wrap-break-word">${capitalize(nameOfField(field))}: ${formatValue(field, value, names)}</li>\n`,
    )

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Leaves out ids that have a name beside them. If whole states were recorded, keeps only the differences. */
function linesOf(details: unknown): [field: string, value: unknown][] {
  if (!isObject(details)) return []
  const { before, after, ...otherDetails } = details
  const isNamed = (field: string) => field.endsWith('Id') && field.slice(0, -2) in details
  const entries = Object.entries(otherDetails).filter(([field]) => !isNamed(field))
  if (!isObject(before) || !isObject(after))
    return [...entries, ...Object.entries({ before, after }).filter(([, value]) => value !== undefined)]
  const differs = Object.keys(after).filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
  return [...entries, ...differs.map((field): [string, unknown] => [field, { before: before[field], after: after[field] }])]
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function formatValue(field: string, value: unknown, names: KnownNames): Value {
  const { emptyText = 'none', format } = labelOf(field)
  if (value === null || value === undefined || value === '') return emptyText
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value))
    return value.length === 0 ? emptyText : value.map((item, i) => html`${i > 0 && ', '}${formatValue(field, item, names)}`)
  if (isObject(value)) return formatChange(field, value, names)
  if (format) return format(value as string | number)
  if (field === 'action') return names.wordAction(String(value))
  const text = names.names.get(String(value)) ?? String(value)
  return TIME.test(text) ? time(new Date(text)) : typeof value === 'number' ? value.toLocaleString('en') : breakableAddress(text)
}

/** A change as before → after, or a reminder rule. */
function formatChange(field: string, value: Record<string, unknown>, names: KnownNames): Value {
  if ('before' in value && 'after' in value) {
    const [before, after] = [value.before, value.after].map((side) => formatValue(field, side, names))
    // The hashes differ, but mean nothing to people.
    if (field === 'logoHash' && value.before && value.after) return 'another picture'
    return html`${before} → ${after}`
  }
  return field === 'steps' ? formatStep(value as ReminderStep) : formatDetails(value, names)
}
