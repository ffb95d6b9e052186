import { maximumOf } from '../domain/assessments/rubric.ts'
import { assetIdIn, assetIdsIn } from '../domain/assets/references.ts'
import { omitUndefined } from '../domain/fields/omit-undefined.ts'
import { DEFAULT_COLOR } from '../domain/tags/tags.ts'
import { caseKey, nameKeys, userKeys } from '../domain/text/fold-text.ts'
import type { Category, Instruction, Language, Question, Tag, User } from '../generated/prisma/client.ts'
import type {
  AssessmentEntry,
  CategoryEntry,
  InstructionEntry,
  MemberEntry,
  OrganizationEntry,
  QuestionEntry,
  TagEntry,
} from './format.ts'
import type { ImportedLanguage as KnownLanguage } from './languages.ts'
import type { WantedRow } from './save.ts'
import { placeIn, type WrittenStructure } from './structure.ts'
import type { AssessmentRow, MemberRow, OrganizationRow } from './tables.ts'

// Each function returns the fields that a row of the document sets, and a complete row in case it is new. Omitted fields of existing rows are
// unchanged.

export type RowContext = { id: string; organizationId: string; now: Date }
export type LanguageIds = Map<string, string>

export const distinct = <T>(list: readonly T[] | undefined): T[] | undefined => list && [...new Set(list)]
const languageIds = (codes: readonly string[] | undefined, languages: LanguageIds): string[] | undefined =>
  distinct(codes)?.map((code) => languages.get(code)!)
const codeOrNull = (code: string | null | undefined): string | null | undefined => (code === '' ? null : code)

const timesOf = ({ createdAt, updatedAt }: { createdAt?: Date; updatedAt?: Date }, now: Date) => ({
  createdAt: createdAt ?? now,
  updatedAt: updatedAt ?? now,
})

export const wantOrganization = (
  { name, tier, members }: OrganizationEntry,
  { id, now }: RowContext,
): WantedRow<OrganizationRow> => ({
  id,
  values: omitUndefined({ name, nameKey: caseKey(name), tier }),
  deriveValues: ({ ownerNamedAt }) => (ownerNamedAt === null && members?.some(isOwner) ? { ownerNamedAt: now } : {}),
  create: () => ({
    id,
    name,
    nameKey: caseKey(name),
    tier: 'standard',
    mailsPerDay: null,
    createdAt: now,
    updatedAt: now,
    senderName: null,
    replyTo: null,
    invitationText: null,
    mainTemplateLanguage: null,
    returnHosts: [],
    primaryColor: null,
    backgroundColor: null,
    logoHash: null,
    logoWidth: null,
    pageLinks: null,
    transcriptionHost: null,
    noteCategories: [],
    decisionNames: null,
    sharesResults: false,
    selectionRates: false,
    feedBeginsAt: null,
    logoHeight: null,
    ownerNamedAt: members?.some(isOwner) ? now : null,
  }),
})

const isOwner = ({ duties }: MemberEntry): boolean => duties?.includes('owner') ?? false
/** Owners are always admins. */
const rolesOf = (entry: MemberEntry, roles: readonly string[]): string[] => [
  ...new Set([...(entry.roles ?? roles), ...(isOwner(entry) ? ['admin'] : [])]),
]

export const wantLanguage = ({ id, code, name }: KnownLanguage): WantedRow<Language> => ({
  id,
  values: omitUndefined({ code, name }),
  create: () => ({ id, code, name: '' }),
})

export const wantCategory = ({ name }: CategoryEntry, { id, organizationId }: RowContext): WantedRow<Category> => ({
  id,
  values: { name },
  create: () => ({ id, organizationId, name }),
})

export const wantInstruction = (
  { title, body }: InstructionEntry,
  { id, organizationId }: RowContext,
): WantedRow<Instruction> => ({
  id,
  values: omitUndefined({ title, body }),
  create: () => ({ id, organizationId, title: '', body }),
})

export const wantUser = (entry: MemberEntry, { id, now }: Pick<RowContext, 'id' | 'now'>): WantedRow<User> => {
  const { firstName, lastName, email, avatarUrl } = entry
  const keys = userKeys(entry)
  return {
    id,
    values: omitUndefined({ firstName, lastName, email, avatarUrl, ...keys }),
    create: () => ({
      id,
      firstName,
      lastName,
      email,
      ...keys,
      avatarUrl: '',
      orphanedSince: null,
      needsOrphanCheck: true,
      ...timesOf(entry, now),
    }),
  }
}

export function wantMember(
  entry: MemberEntry,
  { id, organizationId, now }: RowContext,
  userId: string,
  languages: LanguageIds,
): WantedRow<MemberRow> {
  const { email, status, department, canViewTranscription, joinedAt, createdAt, updatedAt } = entry
  return {
    id,
    values: omitUndefined({
      userId,
      email,
      roles: entry.roles && rolesOf(entry, []),
      portalRoles: distinct(entry.duties),
      status,
      department,
      canViewTranscription,
      joinedAt,
      createdAt,
      updatedAt,
      tagIds: distinct(entry.tagIds),
      gradingLanguageIds: languageIds(entry.gradingLanguages, languages),
    }),
    deriveValues: (current) => ({
      ...(status === 'active' && current.status === 'inactive' && { activeSince: now }),
      ...(isOwner(entry) && { roles: rolesOf(entry, current.roles) }),
    }),
    create: () => ({
      id,
      organizationId,
      userId,
      email,
      roles: rolesOf(entry, []),
      portalRoles: [],
      status: 'active',
      department: '',
      canViewTranscription: false,
      joinedAt: createdAt ?? now,
      activeSince: null,
      signInException: null,
      erasedAt: null,
      ...timesOf(entry, now),
      tagIds: [],
      gradingLanguageIds: [],
    }),
  }
}

export function wantTag(entry: TagEntry, { id, organizationId, now }: RowContext): WantedRow<Tag> {
  const { name, color, description, icon, createdById, createdAt, updatedAt } = entry
  return {
    id,
    values: omitUndefined({ name, ...nameKeys(name), color, description, icon, createdById, createdAt, updatedAt }),
    create: () => ({
      id,
      organizationId,
      mode: 'live',
      name,
      ...nameKeys(name),
      color: DEFAULT_COLOR,
      description: '',
      icon: null,
      createdById: null,
      ...timesOf(entry, now),
    }),
  }
}

export function wantAssessment(entry: AssessmentEntry, place: RowContext, languages: LanguageIds): WantedRow<AssessmentRow> {
  const { name, defaultQuestionFormat, defaultAnswerFormat, audience, timeLimit, skillTypes, instructionId, createdById } = entry
  const { id, organizationId, now } = place
  return {
    id,
    values: omitUndefined({
      name,
      ...nameKeys(name),
      defaultQuestionFormat,
      defaultAnswerFormat,
      audience,
      timeLimit,
      skillTypes: skillTypes && [...skillTypes],
      instructionId,
      createdById,
      createdAt: entry.createdAt,
      updatedAt: entry.updatedAt,
      languageIds: languageIds(entry.languages, languages),
      categoryIds: distinct(entry.categoryIds),
      clientIds: distinct(entry.clientIds),
      tagIds: distinct(entry.tagIds),
    }),
    create: () => ({
      id,
      organizationId,
      name,
      ...nameKeys(name),
      defaultQuestionFormat: 'text',
      defaultAnswerFormat: 'text',
      audience: 'invite_only',
      timeLimit: 0,
      skillTypes: [],
      instructionId: null,
      createdById: null,
      ...timesOf(entry, now),
      languageIds: [],
      categoryIds: [],
      clientIds: [],
      tagIds: [],
    }),
  }
}

/**
 * @property versionId null: the definition is removed; undefined: unchanged. @property responseType kept response type, which overrides the
 *   document's.
 */
export type WrittenDefinition = { versionId?: string | null; responseType?: string; isChanged: boolean }

type WrittenQuestion = { assessmentId: string; structure: WrittenStructure; definition: WrittenDefinition | undefined }

/** @param question assessment and structure of the question, and the result of writing its definition, if any. */
export function wantQuestion(
  entry: QuestionEntry,
  { id, organizationId, now }: RowContext,
  { assessmentId, structure, definition = { isChanged: false } }: WrittenQuestion,
): WantedRow<Question> {
  const { order, inputType, script, audioUrl, videoUrl, responseType, points, timeLimit, preparationTime, simultaneous } = entry
  const { createdAt, updatedAt, rubric } = entry
  const sourceLanguage = codeOrNull(entry.sourceLanguage)
  const targetLanguage = codeOrNull(entry.targetLanguage)
  return {
    id,
    values: omitUndefined({
      assessmentId,
      order,
      inputType,
      script,
      audioUrl,
      videoUrl,
      responseType: definition.responseType ?? responseType,
      points: rubric ? maximumOf(rubric) : points,
      timeLimit,
      preparationTime,
      simultaneous,
      sourceLanguage,
      targetLanguage,
      versionId: definition.versionId,
      rubric,
      ...placeIn(structure, entry),
      createdAt,
      updatedAt,
    }),
    isTouched: definition.isChanged,
    deriveValues: (current) => deriveAssets({ script, audioUrl, videoUrl }, current),
    create: () => ({
      id,
      organizationId,
      assessmentId,
      order,
      inputType,
      script: '',
      scriptFormat: 'plain',
      audioUrl: '',
      videoUrl: '',
      responseType,
      points: 0,
      timeLimit: 0,
      preparationTime: 0,
      requiredPercent: null,
      simultaneous: false,
      sourceLanguage: null,
      targetLanguage: null,
      versionId: null,
      libraryQuestionId: null,
      libraryNumber: null,
      assetIds: assetsOf({ script, audioUrl, videoUrl }),
      rubric: null,
      sectionId: structure.lastSectionId,
      poolId: null,
      ...timesOf(entry, now),
    }),
  }
}

type Sources = { script?: string | undefined; audioUrl?: string | undefined; videoUrl?: string | undefined }

/** Pictures, audio, and video that a question refers to. The references keep them from being deleted as unused. */
const assetsOf = ({ script = '', audioUrl = '', videoUrl = '' }: Sources): string[] =>
  [...new Set([...assetIdsIn(script), ...[audioUrl, videoUrl].map(assetIdIn).filter((id) => id !== null)])].toSorted()

function deriveAssets(imported: Sources, current: Question): { assetIds?: string[] } {
  const sources = Object.values(imported)
  return sources.some((source) => source !== undefined) ? { assetIds: assetsOf({ ...current, ...omitUndefined(imported) }) } : {}
}
