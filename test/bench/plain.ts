// Plain is the same lists in ordinary Fastify and Prisma code: each request looks up the API key, loads related rows with include, and reads
// a page with findMany and count. It uses the service's own views, whose cost is negligible next to Prisma's.
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { PrismaClient } from '../../src/generated/prisma/client.ts'
import * as alternateAssessments from '../../src/interfaces/alternate/assessments.view.ts'
import * as alternateInvites from '../../src/interfaces/alternate/invites.view.ts'
import { organizationUserView } from '../../src/interfaces/alternate/organization-users.view.ts'
import * as alternateTags from '../../src/interfaces/alternate/tags.view.ts'
import { assessmentView } from '../../src/interfaces/v1/assessments.view.ts'
import { inviteView } from '../../src/interfaces/v1/invites.view.ts'
import { memberView } from '../../src/interfaces/v1/members.view.ts'
import { questionView } from '../../src/interfaces/v1/questions.view.ts'
import { tagView } from '../../src/interfaces/v1/tags.view.ts'
import { readPage } from './floor-answers.ts'

// biome-ignore lint/suspicious/noExplicitAny: rows of any model with any included relations
type Any = any
type List = {
  of: { count: (args: Any) => Promise<number>; findMany: (args: Any) => Promise<Any[]> }
  include?: object
  where?: object
  orderBy?: object[]
  present: (row: Any) => object
}

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL!, max: Number(process.env.POOL_SIZE) })
const prisma = new PrismaClient({ adapter })
const app = Fastify({ logger: true })

const oldestFirst = [{ createdAt: 'asc' }, { id: 'asc' }]
const newestFirst = (field: string) => [{ [field]: 'desc' }, { id: 'desc' }]
const inGivenOrder = { orderBy: { position: 'asc' } } as const
const ofInvite = { assessment: true, tags: inGivenOrder }
const ofAssessment = {
  languages: { include: { language: true }, ...inGivenOrder },
  categories: inGivenOrder,
  tags: inGivenOrder,
  clients: inGivenOrder,
  _count: { select: { invites: true } },
}
const ofMember = { user: true, tags: inGivenOrder, gradingLanguages: inGivenOrder, _count: { select: { clientOf: true } } }

const pick = (rows: Any[], field: string) => rows.map((row) => row[field])

const LISTS: Record<string, List> = {
  '/api/v1/invites': {
    of: prisma.invite,
    where: { mode: 'live' },
    include: ofInvite,
    orderBy: newestFirst('sentAt'),
    present: (row) => inviteView.present({ ...row, assessmentName: row.assessment.name }),
  },
  '/api/v1/assessments': {
    of: prisma.assessment,
    include: ofAssessment,
    orderBy: newestFirst('createdAt'),
    present: ({ languages, _count, ...row }) =>
      assessmentView.present({ ...row, inviteCount: _count.invites, languageCodes: pick(pick(languages, 'language'), 'code') }),
  },
  '/api/v1/members': { of: prisma.member, include: ofMember, orderBy: newestFirst('joinedAt'), present: memberView.present },
  '/api/v1/tags': { of: prisma.tag, orderBy: newestFirst('name'), present: tagView.present },
  '/api/v1/assessments/:assessmentId/questions': {
    of: prisma.question,
    orderBy: newestFirst('order'),
    present: questionView.present,
  },
  '/api/alternate/assessment_invites': {
    of: prisma.invite,
    where: { mode: 'live' },
    include: ofInvite,
    present: (row) => alternateInvites.inviteView.present({ ...row, tagIds: pick(row.tags, 'tagId') }),
  },
  '/api/alternate/assessments': {
    of: prisma.assessment,
    include: ofAssessment,
    present: (row) =>
      alternateAssessments.assessmentView.present({
        ...row,
        tagIds: pick(row.tags, 'tagId'),
        clientIds: pick(row.clients, 'memberId'),
        categoryIds: pick(row.categories, 'categoryId'),
        languageIds: pick(row.languages, 'languageId'),
      }),
  },
  '/api/alternate/organization_users': {
    of: prisma.member,
    include: ofMember,
    where: { status: 'active' },
    present: ({ gradingLanguages, _count, ...row }) =>
      organizationUserView.present({
        ...row,
        tagIds: pick(row.tags, 'tagId'),
        gradingLanguageIds: pick(gradingLanguages, 'languageId'),
        clientOfCount: _count.clientOf,
      }),
  },
  '/api/alternate/tags': { of: prisma.tag, present: alternateTags.tagView.present },
}

for (const [path, { of, include, where: also, orderBy = oldestFirst, present }] of Object.entries(LISTS))
  app.get<{ Params: Record<string, string> }>(path, async ({ headers, url, host, params }, reply) => {
    const key = headers['x-api-key'] ?? headers['x-service-docs-api-key']
    const hash = createHash('sha256').update(String(key)).digest()
    const apiKey = await prisma.apiKey.findUnique({ where: { hash }, include: { organization: true } })
    if (!apiKey || apiKey.revokedAt) return reply.code(401).send({ error: 'Invalid API key' })
    const { window, toBody } = readPage(url, host)
    const where = { organizationId: apiKey.organizationId, ...params, ...also }
    const [rows, total] = await Promise.all([
      of.findMany({ where, orderBy, ...window, ...(include && { include }) }),
      of.count({ where }),
    ])
    return toBody(total, rows.map(present))
  })

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
