import type { Transaction } from '../db/client.ts'
import { asOfNow } from '../domain/invites/lifecycle.ts'
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

export type MemberRow = Member & { tagIds: string[]; gradingLanguageIds: string[] }
/** Without the counts, which the database keeps. */
export type AssessmentRow = Omit<Assessment, 'questionCount' | 'totalPoints'> & {
  languageIds: string[]
  categoryIds: string[]
  clientIds: string[]
  tagIds: string[]
}
export type InviteRow = Invite & { tagIds: string[] }

const withIds = (ids: string[]) => ({ where: { id: { in: ids } } })

export const organizations: Table<Organization> = {
  find: (tx, ids) => tx.organization.findMany(withIds(ids)),
  create: (tx, data) => tx.organization.createMany({ data }),
  update: (tx, ids, data) => tx.organization.updateMany({ ...withIds(ids), data }),
}

export const languages: Table<Language> = {
  find: (tx, ids) => tx.language.findMany(withIds(ids)),
  create: (tx, data) => tx.language.createMany({ data }),
  update: (tx, ids, data) => tx.language.updateMany({ ...withIds(ids), data }),
}

export const categories: Table<Category> = {
  find: (tx, ids) => tx.category.findMany(withIds(ids)),
  create: (tx, data) => tx.category.createMany({ data }),
  update: (tx, ids, data) => tx.category.updateMany({ ...withIds(ids), data }),
}

export const instructions: Table<Instruction> = {
  find: (tx, ids) => tx.instruction.findMany(withIds(ids)),
  create: (tx, data) => tx.instruction.createMany({ data }),
  update: (tx, ids, data) => tx.instruction.updateMany({ ...withIds(ids), data }),
}

export const users: Table<User> = {
  find: (tx, ids) => tx.user.findMany(withIds(ids)),
  create: (tx, data) => tx.user.createMany({ data }),
  update: (tx, ids, data) => tx.user.updateMany({ ...withIds(ids), data }),
}

export const members: Table<MemberRow> = {
  find: (tx, ids) => tx.member.findMany(withIds(ids)),
  create: (tx, data) => tx.member.createMany({ data }),
  update: (tx, ids, data) => tx.member.updateMany({ ...withIds(ids), data }),
  links: {
    tagIds: links('member_tags', 'member_id', 'tag_id'),
    gradingLanguageIds: links('member_grading_languages', 'member_id', 'language_id'),
  },
}

export const apiKeys: Table<ApiKey> = {
  find: (tx, ids) => tx.apiKey.findMany(withIds(ids)),
  create: (tx, data) => tx.apiKey.createMany({ data }),
  update: (tx, ids, data) => tx.apiKey.updateMany({ ...withIds(ids), data }),
}

export const tags: Table<Tag> = {
  find: (tx, ids) => tx.tag.findMany(withIds(ids)),
  create: (tx, data) => tx.tag.createMany({ data }),
  update: (tx, ids, data) => tx.tag.updateMany({ ...withIds(ids), data }),
}

export const assessments: Table<AssessmentRow> = {
  find: (tx, ids) => tx.assessment.findMany(withIds(ids)),
  create: (tx, data) => tx.assessment.createMany({ data }),
  update: (tx, ids, data) => tx.assessment.updateMany({ ...withIds(ids), data }),
  links: {
    languageIds: links('assessment_languages', 'assessment_id', 'language_id'),
    categoryIds: links('assessment_categories', 'assessment_id', 'category_id'),
    clientIds: links('assessment_clients', 'assessment_id', 'member_id'),
    tagIds: links('assessment_tags', 'assessment_id', 'tag_id'),
  },
}

export const questions: Table<Question> = {
  find: (tx, ids) => tx.question.findMany(withIds(ids)),
  create: (tx, data) => tx.question.createMany({ data }),
  update: (tx, ids, data) => tx.question.updateMany({ ...withIds(ids), data }),
}

export const invites: Table<InviteRow> = {
  find: async (tx, ids, now) => (await tx.invite.findMany(withIds(ids))).map((invite) => asOfNow(invite, now)),
  create: insertInvites,
  update: (tx, ids, data) => tx.invite.updateMany({ ...withIds(ids), data }),
  links: { tagIds: links('invite_tags', 'invite_id', 'tag_id') },
}

/** Invites come by the hundred thousand: as one parameter a statement they take a fraction of the time of `createMany`. */
async function insertInvites(tx: Transaction, rows: InviteRow[]): Promise<void> {
  const column = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const records = rows.map((row) => Object.fromEntries(Object.entries(row).map(([field, value]) => [column(field), value])))
  await tx.$executeRaw`INSERT INTO invites SELECT * FROM jsonb_populate_recordset(NULL::invites, ${JSON.stringify(records)}::jsonb)`
}
