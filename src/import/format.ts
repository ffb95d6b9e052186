import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { API_KEY_PATTERN } from '../domain/api-keys/api-keys.ts'
import { AUDIENCES, MEDIA_FORMATS } from '../domain/assessments/assessments.ts'
import { NAVIGATIONS } from '../domain/assessments/sections.ts'
import { PORTAL_ROLES } from '../domain/authorization/permissions.ts'
import { INVITE_STATUSES } from '../domain/invites/invites.ts'
import {
  HEX_COLOR_PATTERN,
  MAX_CODE_LENGTH,
  MAX_INTEGER,
  MAX_NAME_LENGTH,
  MAX_POOLS,
  MAX_SECTIONS,
  MAX_TAG_NAME_LENGTH,
  NON_BLANK_TEXT_PATTERN,
  PREPARATION_SECONDS,
  TEXT_PATTERN,
} from '../domain/limits.ts'
import { UUID_PATTERN } from '../domain/text/uuid.ts'
import { Nullable, StringEnum } from '../http/schema/field-types.ts'

/** The latest time that PostgreSQL and JavaScript format alike. */
export const LATEST = new Date('9999-12-31T23:59:59.999Z')

// `says` is the message for an invalid value.
const Id = Type.String({ pattern: UUID_PATTERN, 'x-lower-case': true, says: 'must be a UUID' })
const Text = Type.String({ pattern: TEXT_PATTERN, says: 'must be text without NUL characters and unpaired surrogates' })
const NonBlank = (maxLength: number) =>
  Type.String({
    pattern: NON_BLANK_TEXT_PATTERN,
    maxLength,
    says: `must be text of 1 to ${maxLength} characters, not blank, without NUL characters and unpaired surrogates`,
  })
const Name = NonBlank(MAX_NAME_LENGTH)
const Code = NonBlank(MAX_CODE_LENGTH)
/** A code; null or empty for none. */
const CodeOrNothing = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  pattern: TEXT_PATTERN,
  maxLength: MAX_CODE_LENGTH,
  says: `must be a language code of at most ${MAX_CODE_LENGTH} characters, or empty`,
})
const Email = Type.String({ format: 'email', 'x-address': true, says: 'must be an email address' })
const Color = Type.String({ pattern: HEX_COLOR_PATTERN, says: 'must be a color like #2563EB' })
/** Converted to a Date during validation. */
const Time = Type.Unsafe<Date>({
  type: 'string',
  format: 'time-with-zone',
  'x-time': true,
  says: 'must be a time with its zone, like 2026-03-02T09:30:00Z',
})
const Whole = (minimum: number, maximum = MAX_INTEGER) =>
  Type.Integer({ minimum, maximum, says: `must be a whole number from ${minimum} to ${maximum}` })
const Flag = Type.Boolean({ says: 'must be true or false' })
const Word = <const T extends readonly string[]>(words: T) => StringEnum(words, { says: `must be one of: ${words.join(', ')}` })
const List = <T extends TSchema>(items: T) => Type.Array(items, { says: 'must be a list' })
const Row = <T extends Record<string, TSchema>>(properties: T) => Type.Object(properties, { says: 'must be an object' })
const optional = Type.Optional

const times = { createdAt: optional(Time), updatedAt: optional(Time) }
const creator = { createdById: optional(Nullable(Id)) }

const Language = Row({ id: optional(Id), code: Code, name: optional(Text) })
const Category = Row({ id: optional(Id), name: Name })
const Instruction = Row({ id: optional(Id), title: optional(Text), body: Text })
const ApiKey = Row({
  id: optional(Id),
  name: Name,
  mode: optional(Word(['live', 'test'])),
  key: optional(
    Type.String({
      pattern: API_KEY_PATTERN.source,
      says: 'must be ak_live_ or ak_test_ and 32 letters, digits or signs of ASCII',
    }),
  ),
  expiresAt: optional(Nullable(Time)),
  revokedAt: optional(Nullable(Time)),
  ...creator,
})
const Tag = Row({
  id: optional(Id),
  name: NonBlank(MAX_TAG_NAME_LENGTH),
  color: optional(Color),
  description: optional(Text),
  icon: optional(Nullable(Text)),
  ...creator,
  ...times,
})
const Member = Row({
  id: optional(Id),
  userId: optional(Id),
  firstName: Text,
  lastName: Text,
  email: Email,
  avatarUrl: optional(Text),
  roles: optional(List(Name)),
  duties: optional(List(Word(PORTAL_ROLES))),
  status: optional(Word(['active', 'inactive'])),
  department: optional(Text),
  joinedAt: optional(Time),
  canViewTranscription: optional(Flag),
  gradingLanguages: optional(List(Code)),
  tagIds: optional(List(Id)),
  ...times,
})
/** The question kind's own schemas validate the content later. */
const Definition = Row({ spec: Row({}), key: Row({}) })
/** Its rules are checked later, see domain/assessments/rubric.ts. */
const Rubric = List(Row({ name: Text, levels: List(Row({ text: Text, points: Type.Number({ says: 'must be a number' }) })) }))
const Question = Row({
  id: optional(Id),
  order: Whole(0),
  inputType: Name,
  script: optional(Text),
  audioUrl: optional(Text),
  videoUrl: optional(Text),
  responseType: Name,
  points: optional(Whole(0)),
  timeLimit: optional(Whole(0)),
  preparationTime: optional(Whole(PREPARATION_SECONDS.minimum, PREPARATION_SECONDS.maximum)),
  simultaneous: optional(Flag),
  sourceLanguage: optional(CodeOrNothing),
  targetLanguage: optional(CodeOrNothing),
  definition: optional(Definition),
  rubric: optional(Nullable(Rubric)),
  section: optional(Whole(1, MAX_SECTIONS)),
  pool: optional(Nullable(Whole(1, MAX_POOLS))),
  ...times,
})
const Section = Row({
  name: Name,
  intro: optional(Text),
  timeLimit: optional(Whole(0)),
  navigation: optional(Word(NAVIGATIONS)),
  shuffle: optional(Flag),
})
const Pool = Row({ name: Name, draw: Whole(1), points: Whole(0) })
const Assessment = Row({
  id: optional(Id),
  name: Name,
  defaultQuestionFormat: optional(Word(MEDIA_FORMATS)),
  defaultAnswerFormat: optional(Word(MEDIA_FORMATS)),
  audience: optional(Word(AUDIENCES)),
  timeLimit: optional(Whole(0)),
  instructionId: optional(Nullable(Id)),
  languages: optional(List(Code)),
  categoryIds: optional(List(Id)),
  skillTypes: optional(List(Text)),
  clientIds: optional(List(Id)),
  tagIds: optional(List(Id)),
  ...creator,
  ...times,
  sections: optional(List(Section)),
  pools: optional(List(Pool)),
  questions: optional(List(Question)),
})
const Invite = Row({
  id: optional(Id),
  assessmentId: Id,
  recipientEmail: Email,
  recipientName: optional(Nullable(Text)),
  status: optional(Word(INVITE_STATUSES)),
  questionReplayLimit: optional(Whole(1)),
  answerRecordLimit: optional(Whole(1)),
  proctoringSettings: optional(
    Row({ screenRecording: optional(Flag), webcamMonitoring: optional(Flag), requireIdCapture: optional(Flag) }),
  ),
  facePhotoRequired: optional(Flag),
  customMessage: optional(Text),
  sentAt: optional(Time),
  expiresAt: optional(Time),
  acceptedAt: optional(Nullable(Time)),
  startedAt: optional(Nullable(Time)),
  completedAt: optional(Nullable(Time)),
  revokedAt: optional(Nullable(Time)),
  assignedGraderId: optional(Nullable(Id)),
  tagIds: optional(List(Id)),
  ...creator,
  ...times,
})
const Organization = Row({
  id: optional(Id),
  name: Name,
  tier: optional(Word(['standard', 'enterprise'])),
  languages: optional(List(Language)),
  categories: optional(List(Category)),
  instructions: optional(List(Instruction)),
  apiKeys: optional(List(ApiKey)),
  tags: optional(List(Tag)),
  members: optional(List(Member)),
  assessments: optional(List(Assessment)),
  invites: optional(List(Invite)),
})

/** The import format. Unknown fields, including derived ones, are ignored. */
export const ImportFormat = Type.Object(
  { organizations: List(Organization) },
  { says: 'must be an object with a list of organizations' },
)

export type ImportDocument = Static<typeof ImportFormat>
export type OrganizationEntry = Static<typeof Organization>
export type LanguageEntry = Static<typeof Language>
export type CategoryEntry = Static<typeof Category>
export type InstructionEntry = Static<typeof Instruction>
export type ApiKeyEntry = Static<typeof ApiKey>
export type TagEntry = Static<typeof Tag>
export type MemberEntry = Static<typeof Member>
export type QuestionEntry = Static<typeof Question>
export type AssessmentEntry = Static<typeof Assessment>
export type InviteEntry = Static<typeof Invite>
