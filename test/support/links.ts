import type { Db } from '../../src/db/client.ts'

type Row = { id: string; organizationId: string }
type Other = { id: string }

/** Returns functions that relate rows of one organization, in the given order. */
export const links = (db: Db) => ({
  tagAssessment: ({ id, organizationId }: Row, ...tags: Other[]) =>
    db.assessmentTag.createMany({
      data: tags.map((tag, position) => ({ organizationId, assessmentId: id, tagId: tag.id, position })),
    }),
  tagMember: ({ id, organizationId }: Row, ...tags: Other[]) =>
    db.memberTag.createMany({ data: tags.map((tag, position) => ({ organizationId, memberId: id, tagId: tag.id, position })) }),
  tagInvite: ({ id, organizationId }: Row, ...tags: Other[]) =>
    db.inviteTag.createMany({ data: tags.map((tag, position) => ({ organizationId, inviteId: id, tagId: tag.id, position })) }),
  addClients: ({ id, organizationId }: Row, ...members: Other[]) =>
    db.assessmentClient.createMany({
      data: members.map((member, position) => ({ organizationId, assessmentId: id, memberId: member.id, position })),
    }),
  addLanguages: ({ id, organizationId }: Row, ...languages: Other[]) =>
    db.assessmentLanguage.createMany({
      data: languages.map((language, position) => ({ organizationId, assessmentId: id, languageId: language.id, position })),
    }),
  addCategories: ({ id, organizationId }: Row, ...categories: Other[]) =>
    db.assessmentCategory.createMany({
      data: categories.map((category, position) => ({ organizationId, assessmentId: id, categoryId: category.id, position })),
    }),
  addGradingLanguages: ({ id, organizationId }: Row, ...languages: Other[]) =>
    db.memberGradingLanguage.createMany({
      data: languages.map((language, position) => ({ organizationId, memberId: id, languageId: language.id, position })),
    }),
})
