import type { Issue, Violation } from '../errors.ts'
import { omitUndefined } from '../fields/omit-undefined.ts'
import { pick } from '../fields/pick.ts'
import {
  COUNTS,
  EXPIRY_DAYS,
  EXTRA_TIME_PERCENT,
  MAX_EXTERNAL_ID_LENGTH,
  MAX_INVITE_TAGS,
  MAX_MESSAGE_LENGTH,
  MAX_METADATA_VALUE_LENGTH,
  MAX_NAME_LENGTH,
} from '../limits.ts'
import {
  checkEmail,
  checkInteger,
  checkKeys,
  checkName,
  checkSize,
  checkText,
  checkUuid,
  findIssues,
} from '../validation/checks.ts'
import { findReturnFault } from './return-url.ts'

/** Settings of an invite other than recipient and assessment. */
export type InviteTerms = {
  recipientName: string | null
  /** Replays of each question. */
  questionReplayLimit: number
  /** Recordings of each answer. */
  answerRecordLimit: number
  /** More time for each question and the whole, in percent. */
  extraTimePercent: number
  screenRecording: boolean
  webcamMonitoring: boolean
  requireIdCapture: boolean
  facePhotoRequired: boolean
  customMessage: string
  assignedGraderId: string | null
  /** Id in the caller's system; not unique. */
  externalId: string | null
  /** Key-value pairs of the caller. */
  metadata: Record<string, string> | null
  /** Link for the candidate after completion. */
  returnUrl: string | null
  /** Language of the pages and mails; an unsupported code is ignored. */
  language: string | null
}

/** A new invite. Omitted fields have defaults. */
export type NewInvite = { [Term in keyof InviteTerms]?: InviteTerms[Term] | undefined } & {
  assessmentId: string
  recipientEmail: string
  /** Days from now; the default is DEFAULT_EXPIRES_IN_DAYS. */
  expiresInDays?: number | undefined
  tagIds?: string[] | undefined
  /** false: the organization sends the link itself; a resend is mailed as always. The default is true. */
  sendEmail?: boolean | undefined
}

/** Every field of a new invite, so that an interface that forgets one doesn't compile. undefined: the default. */
export type CompleteNewInvite = { [Field in keyof NewInvite]-?: NewInvite[Field] }

/** v1.md, CreateInvite body. Omitted fields are empty. */
export const INVITE_DEFAULTS: Omit<InviteTerms, 'facePhotoRequired'> = {
  recipientName: null,
  questionReplayLimit: 1,
  answerRecordLimit: 1,
  extraTimePercent: 0,
  screenRecording: true,
  webcamMonitoring: true,
  requireIdCapture: true,
  customMessage: '',
  assignedGraderId: null,
  externalId: null,
  metadata: null,
  returnUrl: null,
  language: null,
}

/** All terms of an invite. A photo of the face is required like one of the ID: v1 and the import format have one switch for both. */
export const withDefaults = (terms: { [Term in keyof InviteTerms]?: InviteTerms[Term] | undefined }): InviteTerms => ({
  ...INVITE_DEFAULTS,
  facePhotoRequired: terms.requireIdCapture ?? INVITE_DEFAULTS.requireIdCapture,
  ...omitUndefined(terms),
})

export const pickTerms = (invite: InviteTerms): InviteTerms => {
  const terms = Object.keys(withDefaults({})) as (keyof InviteTerms)[]
  return pick(invite, terms)
}

type Check<Value> = (value: NonNullable<Value>) => Violation | undefined

/** Checks by field, in the order of their issues; null: every value is valid. A forgotten field doesn't compile. */
const CHECKS: { [Field in keyof NewInvite]-?: Check<NewInvite[Field]> | null } = {
  assessmentId: checkUuid,
  recipientEmail: checkEmail,
  recipientName: (name) => checkText(name, MAX_NAME_LENGTH),
  questionReplayLimit: (limit) => checkInteger(limit, COUNTS),
  answerRecordLimit: (limit) => checkInteger(limit, COUNTS),
  extraTimePercent: (percent) => checkInteger(percent, EXTRA_TIME_PERCENT),
  expiresInDays: (days) => checkInteger(days, EXPIRY_DAYS),
  customMessage: (message) => checkText(message, MAX_MESSAGE_LENGTH),
  assignedGraderId: checkUuid,
  metadata: checkMetadata,
  externalId: (id) => checkName(id, MAX_EXTERNAL_ID_LENGTH),
  returnUrl: checkReturnUrl,
  tagIds: checkTagIds,
  screenRecording: null,
  webcamMonitoring: null,
  requireIdCapture: null,
  facePhotoRequired: null,
  language: null,
  sendEmail: null,
}

/** Rules that need no query; createInvite checks the others. */
export const checkNewInvite = (input: NewInvite): Issue[] =>
  findIssues((Object.keys(CHECKS) as (keyof NewInvite)[]).map((field) => [field, checkField(field, input[field])]))

function checkField(field: keyof NewInvite, value: unknown): Violation | undefined {
  const check = CHECKS[field] as Check<unknown> | null
  return value === null || value === undefined ? undefined : check?.(value)
}

function checkReturnUrl(url: string): Violation | undefined {
  const problem = findReturnFault(url)
  return problem && { rule: 'target', problem }
}

function checkMetadata(metadata: Record<string, string>): Violation | undefined {
  const values = Object.values(metadata).map((text) => checkText(text, MAX_METADATA_VALUE_LENGTH))
  return checkKeys(Object.keys(metadata)) ?? values.find((violation) => violation)
}

function checkTagIds(ids: string[]): Violation | undefined {
  return checkSize('maxItems', ids.length, MAX_INVITE_TAGS) ?? ids.map(checkUuid).find((violation) => violation)
}
