import type { Context } from '../context.ts'
import type { Issue, Violation } from '../errors.ts'
import { pick } from '../fields/pick.ts'
import {
  AMOUNTS,
  MAX_ASSESSMENT_ITEMS,
  MAX_CODE_LENGTH,
  MAX_EMAIL_LENGTH,
  MAX_NAME_LENGTH,
  MAX_SCRIPT_LENGTH,
  PERCENT,
} from '../limits.ts'
import { findMembers } from '../members/members.ts'
import { findTags } from '../tags/tags.ts'
import { checkInteger, checkName, checkSize, checkText, findIssues } from '../validation/checks.ts'
import { type Assessment, AUDIENCES, findCategories, findInstructions, MEDIA_FORMATS } from './assessments.ts'
import { isLanguageCode } from './language-codes.ts'

/** Defaults of an assessment for invites that the portal creates. */
export const PROCTORING = ['screenRecording', 'webcamMonitoring', 'requireIdCapture', 'facePhotoRequired'] as const
export type Proctoring = Pick<Assessment, (typeof PROCTORING)[number]>

export const pickProctoring = (settings: Proctoring): Proctoring => pick(settings, PROCTORING)

/** Columns that a form shows and a copy takes over unchanged. */
const SETTINGS = [
  'name',
  'defaultQuestionFormat',
  'defaultAnswerFormat',
  'audience',
  'timeLimit',
  'secondGrader',
  'thirdGrader',
  'assignsGraders',
  'blindGrading',
  'penaltyPercent',
  'practice',
  'interfaceLanguage',
  ...PROCTORING,
  'skillTypes',
] as const
export type AssessmentSettings = Pick<Assessment, (typeof SETTINGS)[number]>

export const pickSettings = (settings: AssessmentSettings): AssessmentSettings => pick(settings, SETTINGS)

/** Input of the assessment form. Categories, tags, and clients are given by name, as in the import format; names are unique. */
export type AssessmentInput = AssessmentSettings & {
  /**
   * True if a submission without questions for graders is released when it is submitted, in the name of the member who chose so.
   */
  releaseAutomatically: boolean
  releaseToCandidate: boolean
  instructionTitle: string
  /** Empty for none. */
  instruction: string
  /** Language codes, see language-codes.ts; an unused one is added to the languages. */
  languages: string[]
  /** Category names; a new one is added to the organization's categories. */
  categories: string[]
  /** Names of the organization's tags, in either case. */
  tags: string[]
  /** Addresses of the organization's members, in either case. */
  clients: string[]
}

/** Defaults of a new assessment. */
export const EMPTY_ASSESSMENT: AssessmentInput = {
  name: '',
  defaultQuestionFormat: 'text',
  defaultAnswerFormat: 'text',
  audience: 'invite_only',
  timeLimit: 0,
  secondGrader: false,
  thirdGrader: false,
  assignsGraders: false,
  blindGrading: false,
  penaltyPercent: 0,
  practice: false,
  interfaceLanguage: null,
  releaseAutomatically: false,
  releaseToCandidate: false,
  screenRecording: false,
  webcamMonitoring: false,
  requireIdCapture: false,
  facePhotoRequired: false,
  instructionTitle: '',
  instruction: '',
  languages: [],
  categories: [],
  skillTypes: [],
  tags: [],
  clients: [],
}

/**
 * Checks the rules that need no query.
 *
 * @param keptCodes language codes that the assessment already has; they stay valid. @returns an issue for each invalid field.
 */
export const findAssessmentIssues = (input: AssessmentInput, keptCodes: readonly string[] = []): Issue[] =>
  findIssues([
    ['name', checkName(input.name, MAX_NAME_LENGTH)],
    ['defaultQuestionFormat', checkChoice(input.defaultQuestionFormat, MEDIA_FORMATS)],
    ['defaultAnswerFormat', checkChoice(input.defaultAnswerFormat, MEDIA_FORMATS)],
    ['audience', checkChoice(input.audience, AUDIENCES)],
    ['timeLimit', checkInteger(input.timeLimit, AMOUNTS)],
    ['penaltyPercent', checkInteger(input.penaltyPercent, PERCENT)],
    ['interfaceLanguage', checkText(input.interfaceLanguage ?? '', MAX_CODE_LENGTH)],
    ['instructionTitle', checkText(input.instructionTitle, MAX_NAME_LENGTH)],
    ['instruction', checkText(input.instruction, MAX_SCRIPT_LENGTH)],
    ['languages', checkNames(input.languages, MAX_CODE_LENGTH) ?? checkLanguages(input.languages, keptCodes)],
    ['categories', checkNames(input.categories, MAX_NAME_LENGTH)],
    ['skillTypes', checkNames(input.skillTypes, MAX_NAME_LENGTH)],
    ['tags', checkNames(input.tags, MAX_NAME_LENGTH)],
    ['clients', checkNames(input.clients, MAX_EMAIL_LENGTH)],
  ])

const checkChoice = (value: string, limit: readonly string[]): Violation | undefined =>
  limit.includes(value) ? undefined : { rule: 'choice', limit, value }

const checkNames = (names: string[], limit: number): Violation | undefined =>
  checkSize('maxItems', names.length, MAX_ASSESSMENT_ITEMS) ??
  names.map((name) => checkName(name, limit)).find((violation) => violation)

/** @param keptCodes codes that stay valid although they can't be chosen. */
export function checkLanguages(codes: readonly string[], keptCodes: readonly string[]): Violation | undefined {
  const unknown = codes.find((code) => !isLanguageCode(code, keptCodes))
  return unknown === undefined ? undefined : { rule: 'reference', value: unknown }
}

/** Stored assessment as form input. */
export async function toAssessmentInput(ctx: Context, assessment: Assessment): Promise<AssessmentInput> {
  const [instruction] = await findInstructions(ctx, assessment.instructionId ? [assessment.instructionId] : [])
  const { categoryIds, tagIds, clientIds } = assessment
  return {
    ...pickSettings(assessment),
    releaseAutomatically: assessment.autoReleaseById !== null,
    releaseToCandidate: assessment.autoReleaseToCandidate,
    instructionTitle: instruction?.title ?? '',
    instruction: instruction?.body ?? '',
    languages: assessment.languageCodes,
    categories: (await findCategories(ctx, categoryIds)).map((category) => category.name),
    tags: (await findTags(ctx, tagIds)).map((tag) => tag.name),
    clients: (await findMembers(ctx, clientIds)).map(({ email }) => email),
  }
}
