import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { type AssessmentInput, EMPTY_ASSESSMENT } from '../../domain/assessments/assessment-input.ts'
import { type Assessment, AUDIENCES, MEDIA_FORMATS } from '../../domain/assessments/assessments.ts'
import { omitUndefined } from '../../domain/fields/omit-undefined.ts'
import { pick } from '../../domain/fields/pick.ts'
import {
  AMOUNTS,
  MAX_ASSESSMENT_ITEMS,
  MAX_CODE_LENGTH,
  MAX_EMAIL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_SCRIPT_LENGTH,
  PERCENT,
} from '../../domain/limits.ts'
import { DateTime, NonBlankText, Nullable, StringEnum, Text } from '../../http/schema/field-types.ts'
import { NAME } from '../../http/schema/schema-keywords.ts'
import { assessmentDetailView } from './assessments.view.ts'

// Beyond v1.md: the settings of an assessment, to read and to change.

const names = (maxLength: number, description: string) =>
  Type.Array(NonBlankText({ maxLength }), { maxItems: MAX_ASSESSMENT_ITEMS, description })

const fields = {
  name: NonBlankText({ maxLength: MAX_NAME_LENGTH }),
  defaultQuestionFormat: StringEnum(MEDIA_FORMATS, { description: 'Default: text' }),
  defaultAnswerFormat: StringEnum(MEDIA_FORMATS, { description: 'Default: text' }),
  audience: StringEnum(AUDIENCES),
  timeLimit: Type.Integer({ ...AMOUNTS, description: 'Time limit of the whole assessment in seconds; 0: no limit' }),
  secondGrader: Type.Boolean({ description: 'Whether two members grade each submission, without seeing the other’s grades' }),
  thirdGrader: Type.Boolean({
    description: 'With two graders: whether a third grader decides where their points are too far apart. Otherwise an admin does',
  }),
  assignsGraders: Type.Boolean({
    description:
      'Whether the service assigns each answer to the member with the least open work who grades its language, unless the invite has a grader',
  }),
  blindGrading: Type.Boolean({ description: 'Whether graders grade without knowing who the candidate is' }),
  penaltyPercent: Type.Integer({
    ...PERCENT,
    description: 'Penalty for a wrong choice, in percent of the points of its question; no penalty for a missing answer',
  }),
  practice: Type.Boolean({
    description:
      'Whether candidates can try an example of each kind of question before they start; nothing of it is stored or scored',
  }),
  interfaceLanguage: Nullable(
    Type.String({
      maxLength: MAX_CODE_LENGTH,
      description: 'Language of the assessment for all candidates; null: their own',
    }),
  ),
  releaseAutomatically: Type.Boolean({
    description:
      'Whether submissions that need no grader are released when they are submitted, in the name of the member who turned it on. Keys can turn it off, not on',
  }),
  releaseToCandidate: Type.Boolean({ description: 'Whether candidates see results released automatically' }),
  screenRecording: Type.Boolean({ description: 'Required of candidates invited in the portal, like the next three' }),
  webcamMonitoring: Type.Boolean(),
  requireIdCapture: Type.Boolean(),
  facePhotoRequired: Type.Boolean(),
  instructionTitle: Text({ maxLength: MAX_NAME_LENGTH }),
  instruction: Text({ maxLength: MAX_SCRIPT_LENGTH, description: 'Shown before the start; empty: none' }),
  languages: names(MAX_CODE_LENGTH, 'Codes of languages, as BCP 47 has them'),
  categories: names(MAX_NAME_LENGTH, 'Names; new ones are added to the organization’s'),
  skillTypes: names(MAX_NAME_LENGTH, 'Values of your own'),
  tags: names(MAX_NAME_LENGTH, 'Names of the organization’s tags'),
  clients: names(MAX_EMAIL_LENGTH, 'Addresses of members who see its released results'),
} satisfies Record<keyof AssessmentInput, TSchema>
const NAMES = Object.keys(fields) as (keyof typeof fields)[]
const { name, ...optionalFields } = Type.Partial(Type.Object(fields)).properties

const example = { name: 'Customer support, written English', timeLimit: 1800 }

export const NewAssessmentBody = Type.Object(
  { name: fields.name, ...optionalFields },
  { [NAME]: 'NewAssessment', examples: [example] },
)

/** Time of the last change that the client has read. */
export const seenUpdatedAt = Type.Optional(
  DateTime(
    'The value that you read. If somebody has changed one of these fields to another value since, nothing is changed (409)',
  ),
)

const archived = Type.Boolean({
  description:
    'Whether it is archived: the portal lists it separately and offers it for no new invite. This interface lists it and accepts invites either way',
})

export const AssessmentChangeBody = Type.Object(
  { name, ...optionalFields, archived: Type.Optional(archived), updatedAt: seenUpdatedAt },
  { [NAME]: 'AssessmentChange', minProperties: 1, examples: [{ timeLimit: 2400 }] },
)

export const AssessmentSettingsView = Type.Object(
  {
    assessment: assessmentDetailView.schema,
    settings: Type.Object({ ...fields, archived, updatedAt: DateTime() }, { [NAME]: 'AssessmentSettings' }),
  },
  { [NAME]: 'OneAssessment', description: 'The assessment with all its settings' },
)

export const toNewAssessment = (body: Static<typeof NewAssessmentBody>): AssessmentInput => ({
  ...EMPTY_ASSESSMENT,
  ...omitUndefined(pick(body, NAMES)),
  name: body.name,
})

export const toAssessmentChange = (
  body: Static<typeof AssessmentChangeBody>,
): Partial<AssessmentInput> & { archived?: boolean } => omitUndefined(pick(body, [...NAMES, 'archived']))

/** Time of the last change that the client has read; undefined if the body has none. */
export const toSeenTime = ({ updatedAt }: { updatedAt?: string }): Date | undefined =>
  updatedAt === undefined ? undefined : new Date(updatedAt)

export const presentSettings = (assessment: Assessment, input: AssessmentInput): Static<typeof AssessmentSettingsView> => ({
  assessment: assessmentDetailView.present(assessment),
  settings: { ...pick(input, NAMES), archived: assessment.archivedAt !== null, updatedAt: assessment.updatedAt.toISOString() },
})
