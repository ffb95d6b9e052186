import type { Proctoring } from '../domain/assessments/assessment-input.ts'
import { withCurrentStatus } from '../domain/invites/expiry.ts'
import type {
  ApiKey,
  Assessment,
  Category,
  Instruction,
  Invite,
  Language,
  Member,
  Organization,
  Question,
  Tag,
  User,
} from '../generated/prisma/client.ts'
import { links } from './links.ts'
import type { Table } from './save.ts'

/** Without language and mail settings, which the import doesn't set. */
export type OrganizationRow = Omit<
  Organization,
  'language' | 'languagesOffered' | 'timeZone' | 'weekDaysOff' | 'candidateMails' | 'bouncesReviewedAt'
>
/** Without sign-in and personal settings, which the import doesn't set. */
export type MemberRow = Omit<Member, 'credentialId' | 'timeZone' | 'pageSize' | 'invitedById' | 'notices'> & {
  tagIds: string[]
  gradingLanguageIds: string[]
}
/** Without the previous value of a rotated key. */
export type ApiKeyRow = Omit<ApiKey, 'previousHash' | 'previousExpiresAt'>
/** Without counts, which the database maintains, and settings that the import doesn't set. */
export type AssessmentRow = Omit<
  Assessment,
  | 'questionCount'
  | 'totalPoints'
  | 'undrawnPoints'
  | 'secondGrader'
  | 'thirdGrader'
  | 'assignsGraders'
  | 'blindGrading'
  | 'archivedAt'
  | 'isTemplate'
  | 'interfaceLanguage'
  | 'penaltyPercent'
  | 'practice'
  | 'clientSees'
  | 'bands'
  | 'submittedMail'
  | 'releasedMail'
  | 'autoReleaseById'
  | 'autoReleaseToCandidate'
  | keyof Proctoring
> & {
  languageIds: string[]
  categoryIds: string[]
  clientIds: string[]
  tagIds: string[]
}
export type InviteRow = Invite & { tagIds: string[] }

const withIds = (ids: string[]) => ({ where: { id: { in: ids } } })

export const organizations: Table<OrganizationRow> = {
  name: 'organizations',
  find: (tx, ids) => tx.organization.findMany(withIds(ids)),
}

export const languages: Table<Language> = {
  name: 'languages',
  find: (tx, ids) => tx.language.findMany(withIds(ids)),
}

export const categories: Table<Category> = {
  name: 'categories',
  find: (tx, ids) => tx.category.findMany(withIds(ids)),
}

export const instructions: Table<Instruction> = {
  name: 'instructions',
  find: (tx, ids) => tx.instruction.findMany(withIds(ids)),
}

export const users: Table<User> = {
  name: 'users',
  find: (tx, ids) => tx.user.findMany(withIds(ids)),
}

export const members: Table<MemberRow> = {
  name: 'members',
  find: (tx, ids) => tx.member.findMany(withIds(ids)),
  links: {
    tagIds: links('memberTags', 'memberId', 'tagId'),
    gradingLanguageIds: links('memberGradingLanguages', 'memberId', 'languageId'),
  },
}

export const apiKeys: Table<ApiKeyRow> = {
  name: 'apiKeys',
  find: (tx, ids) => tx.apiKey.findMany(withIds(ids)),
}

export const tags: Table<Tag> = {
  name: 'tags',
  find: (tx, ids) => tx.tag.findMany(withIds(ids)),
}

export const assessments: Table<AssessmentRow> = {
  name: 'assessments',
  find: (tx, ids) => tx.assessment.findMany(withIds(ids)),
  links: {
    languageIds: links('assessmentLanguages', 'assessmentId', 'languageId'),
    categoryIds: links('assessmentCategories', 'assessmentId', 'categoryId'),
    clientIds: links('assessmentClients', 'assessmentId', 'memberId'),
    tagIds: links('assessmentTags', 'assessmentId', 'tagId'),
  },
}

export const questions: Table<Question> = {
  name: 'questions',
  find: (tx, ids) => tx.question.findMany(withIds(ids)),
}

export const invites: Table<InviteRow> = {
  name: 'invites',
  find: async (tx, ids, now) => (await tx.invite.findMany(withIds(ids))).map((invite) => withCurrentStatus(invite, now)),
  links: { tagIds: links('inviteTags', 'inviteId', 'tagId') },
}
