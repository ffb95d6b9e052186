import type { Proctoring } from '../domain/assessments/assessment-input.ts'
import { asOfNow } from '../domain/invites/lifecycle.ts'
import {
  type ApiKey,
  type Assessment,
  type Category,
  type Instruction,
  type Invite,
  type Language,
  type Member,
  type Organization,
  Prisma,
  type Question,
  type Tag,
  type User,
} from '../generated/prisma/client.ts'
import { links } from './links.ts'
import type { Table } from './save.ts'

/** Without what the person signs in with, which no document gives. */
export type MemberRow = Omit<Member, 'credentialId'> & { tagIds: string[]; gradingLanguageIds: string[] }
/** Without the value before a rotation. */
export type ApiKeyRow = Omit<ApiKey, 'previousHash' | 'previousExpiresAt'>
/** Without the counts, which the database keeps. */
export type AssessmentRow = Omit<
  Assessment,
  'questionCount' | 'totalPoints' | 'secondGrader' | 'gradedBlind' | keyof Proctoring
> & {
  languageIds: string[]
  categoryIds: string[]
  clientIds: string[]
  tagIds: string[]
}
export type InviteRow = Invite & { tagIds: string[] }

const withIds = (ids: string[]) => ({ where: { id: { in: ids } } })

export const organizations: Table<Organization> = {
  name: Prisma.raw('organizations'),
  find: (tx, ids) => tx.organization.findMany(withIds(ids)),
}

export const languages: Table<Language> = {
  name: Prisma.raw('languages'),
  find: (tx, ids) => tx.language.findMany(withIds(ids)),
}

export const categories: Table<Category> = {
  name: Prisma.raw('categories'),
  find: (tx, ids) => tx.category.findMany(withIds(ids)),
}

export const instructions: Table<Instruction> = {
  name: Prisma.raw('instructions'),
  find: (tx, ids) => tx.instruction.findMany(withIds(ids)),
}

export const users: Table<User> = {
  name: Prisma.raw('users'),
  find: (tx, ids) => tx.user.findMany(withIds(ids)),
}

export const members: Table<MemberRow> = {
  name: Prisma.raw('members'),
  find: (tx, ids) => tx.member.findMany(withIds(ids)),
  links: {
    tagIds: links('member_tags', 'member_id', 'tag_id'),
    gradingLanguageIds: links('member_grading_languages', 'member_id', 'language_id'),
  },
}

export const apiKeys: Table<ApiKeyRow> = {
  name: Prisma.raw('api_keys'),
  find: (tx, ids) => tx.apiKey.findMany(withIds(ids)),
}

export const tags: Table<Tag> = {
  name: Prisma.raw('tags'),
  find: (tx, ids) => tx.tag.findMany(withIds(ids)),
}

export const assessments: Table<AssessmentRow> = {
  name: Prisma.raw('assessments'),
  find: (tx, ids) => tx.assessment.findMany(withIds(ids)),
  links: {
    languageIds: links('assessment_languages', 'assessment_id', 'language_id'),
    categoryIds: links('assessment_categories', 'assessment_id', 'category_id'),
    clientIds: links('assessment_clients', 'assessment_id', 'member_id'),
    tagIds: links('assessment_tags', 'assessment_id', 'tag_id'),
  },
}

export const questions: Table<Question> = {
  name: Prisma.raw('questions'),
  find: (tx, ids) => tx.question.findMany(withIds(ids)),
}

export const invites: Table<InviteRow> = {
  name: Prisma.raw('invites'),
  find: async (tx, ids, now) => (await tx.invite.findMany(withIds(ids))).map((invite) => asOfNow(invite, now)),
  links: { tagIds: links('invite_tags', 'invite_id', 'tag_id') },
}
