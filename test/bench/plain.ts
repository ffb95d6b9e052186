// Plain: the same lists by Fastify and Prisma as most would write them: a look-up of the key for each request, related rows by include,
// pages by findMany and count. What presents a row is the service's: it costs next to nothing of what Prisma does.
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { type Prisma, PrismaClient } from '../../src/generated/prisma/client.ts'
import * as assessments from '../../src/interfaces/alternate/assessments.view.ts'
import * as assessmentInvites from '../../src/interfaces/alternate/invites.view.ts'
import { organizationUserView } from '../../src/interfaces/alternate/organization-users.view.ts'
import * as alternateTags from '../../src/interfaces/alternate/tags.view.ts'
import { assessmentView } from '../../src/interfaces/v1/assessments.view.ts'
import { inviteView } from '../../src/interfaces/v1/invites.view.ts'
import { memberView } from '../../src/interfaces/v1/members.view.ts'
import { questionView } from '../../src/interfaces/v1/questions.view.ts'
import { tagView } from '../../src/interfaces/v1/tags.view.ts'

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL!, max: Number(process.env.POOL_SIZE) })
const prisma = new PrismaClient({ adapter })
const app = Fastify({ logger: true })

const inGivenOrder = { orderBy: { position: 'asc' } } as const
const ofInvite = { assessment: true, tags: inGivenOrder } satisfies Prisma.InviteInclude
const ofAssessment = {
  languages: { include: { language: true }, ...inGivenOrder },
  categories: inGivenOrder,
  tags: inGivenOrder,
  clients: inGivenOrder,
  _count: { select: { invites: true } },
} satisfies Prisma.AssessmentInclude
const ofMember = {
  user: true,
  tags: inGivenOrder,
  gradingLanguages: inGivenOrder,
  _count: { select: { clientOf: true } },
} satisfies Prisma.MemberInclude

type Where = { organizationId: string }
type Window = { skip: number; take: number }
type List<Row> = {
  count: (where: Where) => Promise<number>
  find: (where: Where, window: Window) => Promise<Row[]>
  present: (row: Row) => object
}
type Asked = { Params: { id: string }; Querystring: { page?: string; limit?: string; page_size?: string } }

/** Answers a path with a page of the organization's rows. */
function list<Row>(path: string, { count, find, present }: List<Row>): void {
  app.get<Asked>(path, async ({ headers, query, params: { id } }, reply) => {
    const key = headers['x-api-key'] ?? headers['x-service-docs-api-key']
    const hash = createHash('sha256').update(String(key)).digest()
    const apiKey = await prisma.apiKey.findUnique({ where: { hash }, include: { organization: true } })
    if (!apiKey || apiKey.revokedAt) return reply.code(401).send({ error: 'Invalid API key' })
    const where = { organizationId: apiKey.organizationId, ...(id && { assessmentId: id }) }
    const [page, size] = [Number(query.page ?? 1), Number(query.limit ?? query.page_size ?? 20)]
    const [rows, total] = await Promise.all([find(where, { skip: (page - 1) * size, take: size }), count(where)])
    const [items, totalPages] = [rows.map(present), Math.ceil(total / size)]
    if (path.startsWith('/api/v1'))
      return { [path.split('/').at(-1)!]: items, pagination: { page, limit: size, total, totalPages } }
    return { count: total, num_pages: totalPages, current_page: page, results: items }
  })
}

list('/api/v1/invites', {
  count: (where) => prisma.invite.count({ where }),
  find: (where, window) =>
    prisma.invite.findMany({ where, include: ofInvite, orderBy: [{ sentAt: 'desc' }, { id: 'desc' }], ...window }),
  present: (row) => inviteView.present({ ...row, assessmentName: row.assessment.name }),
})
list('/api/v1/assessments', {
  count: (where) => prisma.assessment.count({ where }),
  find: (where, window) =>
    prisma.assessment.findMany({ where, include: ofAssessment, orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], ...window }),
  present: ({ languages, _count, ...row }) =>
    assessmentView.present({
      ...row,
      languageCodes: languages.map(({ language }) => language.code),
      inviteCount: _count.invites,
    }),
})
list('/api/v1/members', {
  count: (where) => prisma.member.count({ where }),
  find: (where, window) =>
    prisma.member.findMany({ where, include: ofMember, orderBy: [{ joinedAt: 'desc' }, { id: 'desc' }], ...window }),
  present: memberView.present,
})
list('/api/v1/tags', {
  count: (where) => prisma.tag.count({ where }),
  find: (where, window) => prisma.tag.findMany({ where, orderBy: [{ name: 'desc' }, { id: 'desc' }], ...window }),
  present: tagView.present,
})
list('/api/v1/assessments/:id/questions', {
  count: (where) => prisma.question.count({ where }),
  find: (where, window) => prisma.question.findMany({ where, orderBy: [{ order: 'desc' }, { id: 'desc' }], ...window }),
  present: questionView.present,
})

const oldestFirst: { createdAt?: 'asc'; id?: 'asc' }[] = [{ createdAt: 'asc' }, { id: 'asc' }]
const tagIds = (tags: { tagId: string }[]) => tags.map(({ tagId }) => tagId)
const languageIds = (languages: { languageId: string }[]) => languages.map(({ languageId }) => languageId)

list('/api/alternate/assessment_invites', {
  count: (where) => prisma.invite.count({ where }),
  find: (where, window) => prisma.invite.findMany({ where, include: ofInvite, orderBy: oldestFirst, ...window }),
  present: ({ tags, ...row }) => assessmentInvites.inviteView.present({ ...row, tagIds: tagIds(tags) }),
})
list('/api/alternate/assessments', {
  count: (where) => prisma.assessment.count({ where }),
  find: (where, window) => prisma.assessment.findMany({ where, include: ofAssessment, orderBy: oldestFirst, ...window }),
  present: ({ tags, clients, languages, categories, ...row }) =>
    assessments.assessmentView.present({
      ...row,
      tagIds: tagIds(tags),
      clientIds: clients.map(({ memberId }) => memberId),
      languageIds: languageIds(languages),
      categoryIds: categories.map(({ categoryId }) => categoryId),
    }),
})
list('/api/alternate/organization_users', {
  count: (where) => prisma.member.count({ where: { ...where, status: 'active' } }),
  find: (where, window) =>
    prisma.member.findMany({ where: { ...where, status: 'active' }, include: ofMember, orderBy: oldestFirst, ...window }),
  present: ({ tags, gradingLanguages, _count, ...row }) =>
    organizationUserView.present({
      ...row,
      tagIds: tagIds(tags),
      gradingLanguageIds: languageIds(gradingLanguages),
      clientOfCount: _count.clientOf,
    }),
})
list('/api/alternate/tags', {
  count: (where) => prisma.tag.count({ where }),
  find: (where, window) => prisma.tag.findMany({ where, orderBy: oldestFirst, ...window }),
  present: alternateTags.tagView.present,
})

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
