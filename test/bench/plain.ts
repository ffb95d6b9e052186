// Plain: the same answers by Fastify and Prisma as most would write them: a look-up of the key for each request, related rows by
// include, lists by findMany and count. The bodies are written here once more on purpose: what
// the service is measured against has nothing of it.
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { type ApiKey, type Prisma, PrismaClient } from '../../src/generated/prisma/client.ts'
import * as alternate from './plain-alternate.ts'
import { assessmentInclude, inviteInclude, listedInclude, memberInclude } from './plain-rows.ts'
import * as v1 from './plain-v1.ts'

declare module 'fastify' {
  interface FastifyRequest {
    apiKey: ApiKey
  }
}

const adapter = new PrismaPg({ connectionString: process.env.DATABASE_URL!, max: Number(process.env.POOL_SIZE) })
const prisma = new PrismaClient({ adapter })
const app = Fastify({ logger: true })

app.addHook('preHandler', async (request, reply) => {
  const key = request.headers['x-api-key'] ?? request.headers['x-service-docs-api-key']
  const hash = createHash('sha256').update(String(key)).digest()
  const apiKey = await prisma.apiKey.findUnique({ where: { hash }, include: { organization: true } })
  if (!apiKey || apiKey.revokedAt) return reply.code(401).send({ error: 'Invalid API key' })
  request.apiKey = apiKey
})

app.get<{ Params: { id: string } }>('/api/v1/invites/:id', async ({ apiKey: { organizationId }, params: { id } }, reply) => {
  const invite = await prisma.invite.findFirst({ where: { id, organizationId }, include: inviteInclude })
  return invite ? v1.presentInviteDetail(invite) : reply.code(404).send({ error: 'Invite not found' })
})

app.get<{ Params: { id: string } }>('/api/v1/assessments/:id', async ({ apiKey: { organizationId }, params: { id } }, reply) => {
  const assessment = await prisma.assessment.findFirst({ where: { id, organizationId }, include: assessmentInclude })
  return assessment ? v1.presentAssessment(assessment) : reply.code(404).send({ error: 'Assessment not found' })
})

app.get<{ Params: { id: string } }>('/api/v1/tags/:id', async ({ apiKey: { organizationId }, params: { id } }, reply) => {
  const tag = await prisma.tag.findFirst({ where: { id, organizationId } })
  return tag ? { tag: v1.presentTag(tag) } : reply.code(404).send({ error: 'Tag not found' })
})

type Query = { Querystring: { page?: string; limit?: string; page_size?: string } }
type Window = { skip: number; take: number }
type Rows<Row> = { count: () => Promise<number>; find: (window: Window) => Promise<Row[]> }

async function readPage<Row>(page: number, size: number, { count, find }: Rows<Row>) {
  const [rows, total] = await Promise.all([find({ skip: (page - 1) * size, take: size }), count()])
  return { rows, total, totalPages: Math.ceil(total / size) }
}

async function listOfV1<Row>({ page = '1', limit = '20' }: Query['Querystring'], of: Rows<Row>, present: (row: Row) => object) {
  const { rows, total, totalPages } = await readPage(Number(page), Number(limit), of)
  return { items: rows.map(present), pagination: { page: Number(page), limit: Number(limit), total, totalPages } }
}

async function listOfAlternate<Row>(
  { page = '1', page_size = '20' }: Query['Querystring'],
  of: Rows<Row>,
  present: (row: Row) => object,
) {
  const { rows, total, totalPages } = await readPage(Number(page), Number(page_size), of)
  return { count: total, num_pages: totalPages, current_page: Number(page), results: rows.map(present) }
}

const invitesOf = (organizationId: string, orderBy: Prisma.InviteOrderByWithRelationInput[]) => ({
  count: () => prisma.invite.count({ where: { organizationId } }),
  find: (window: Window) => prisma.invite.findMany({ where: { organizationId }, include: listedInclude, orderBy, ...window }),
})
const assessmentsOf = (organizationId: string, orderBy: Prisma.AssessmentOrderByWithRelationInput[]) => ({
  count: () => prisma.assessment.count({ where: { organizationId } }),
  find: (window: Window) =>
    prisma.assessment.findMany({ where: { organizationId }, include: assessmentInclude, orderBy, ...window }),
})
const membersOf = (where: Prisma.MemberWhereInput, orderBy: Prisma.MemberOrderByWithRelationInput[]) => ({
  count: () => prisma.member.count({ where }),
  find: (window: Window) => prisma.member.findMany({ where, include: memberInclude, orderBy, ...window }),
})
const tagsOf = (organizationId: string, orderBy: Prisma.TagOrderByWithRelationInput[]) => ({
  count: () => prisma.tag.count({ where: { organizationId } }),
  find: (window: Window) => prisma.tag.findMany({ where: { organizationId }, orderBy, ...window }),
})
const questionsOf = (where: Prisma.QuestionWhereInput) => ({
  count: () => prisma.question.count({ where }),
  find: (window: Window) => prisma.question.findMany({ where, orderBy: [{ order: 'desc' }, { id: 'desc' }], ...window }),
})
const oldestFirst: Partial<Record<'createdAt' | 'id', 'asc'>>[] = [{ createdAt: 'asc' }, { id: 'asc' }]

app.get<Query>('/api/v1/invites', async ({ apiKey: { organizationId }, query }) => {
  const invites = invitesOf(organizationId, [{ sentAt: 'desc' }, { id: 'desc' }])
  const { items, pagination } = await listOfV1(query, invites, v1.presentInvite)
  return { invites: items, pagination }
})

app.get<Query>('/api/v1/assessments', async ({ apiKey: { organizationId }, query }) => {
  const assessments = assessmentsOf(organizationId, [{ createdAt: 'desc' }, { id: 'desc' }])
  const { items, pagination } = await listOfV1(query, assessments, v1.presentListedAssessment)
  return { assessments: items, pagination }
})

app.get<Query>('/api/v1/members', async ({ apiKey: { organizationId }, query }) => {
  const members = membersOf({ organizationId }, [{ joinedAt: 'desc' }, { id: 'desc' }])
  const { items, pagination } = await listOfV1(query, members, v1.presentMember)
  return { members: items, pagination }
})

app.get<Query>('/api/v1/tags', async ({ apiKey: { organizationId }, query }) => {
  const { items, pagination } = await listOfV1(query, tagsOf(organizationId, [{ name: 'desc' }, { id: 'desc' }]), v1.presentTag)
  return { tags: items, pagination }
})

type OfAssessment = { Params: { id: string } } & Query
app.get<OfAssessment>('/api/v1/assessments/:id/questions', async ({ apiKey: { organizationId }, params, query }) => {
  const questions = questionsOf({ organizationId, assessmentId: params.id })
  const { items, pagination } = await listOfV1(query, questions, v1.presentQuestion)
  return { questions: items, pagination }
})

const ALTERNATE = '/api/alternate'

app.get<{ Params: { id: string } }>(`${ALTERNATE}/assessment_invites/:id`, async ({ apiKey, params: { id } }, reply) => {
  const where = { id, organizationId: apiKey.organizationId }
  const invite = await prisma.invite.findFirst({ where, include: inviteInclude })
  return invite ? alternate.presentInvite(invite) : reply.code(404).send({ detail: 'Not found.' })
})

app.get<{ Params: { id: string } }>(`${ALTERNATE}/assessments/:id`, async ({ apiKey, params: { id } }, reply) => {
  const where = { id, organizationId: apiKey.organizationId }
  const assessment = await prisma.assessment.findFirst({ where, include: assessmentInclude })
  return assessment ? alternate.presentAssessment(assessment) : reply.code(404).send({ detail: 'Not found.' })
})

app.get<{ Params: { id: string } }>(`${ALTERNATE}/tags/:id`, async ({ apiKey, params: { id } }, reply) => {
  const tag = await prisma.tag.findFirst({ where: { id, organizationId: apiKey.organizationId } })
  return tag ? alternate.presentTag(tag) : reply.code(404).send({ detail: 'Not found.' })
})

app.get<Query>(`${ALTERNATE}/assessment_invites`, async ({ apiKey: { organizationId }, query }) =>
  listOfAlternate(query, invitesOf(organizationId, oldestFirst), alternate.presentInvite),
)

app.get<Query>(`${ALTERNATE}/assessments`, async ({ apiKey: { organizationId }, query }) =>
  listOfAlternate(query, assessmentsOf(organizationId, oldestFirst), alternate.presentAssessment),
)

app.get<Query>(`${ALTERNATE}/organization_users`, async ({ apiKey: { organizationId }, query }) =>
  listOfAlternate(query, membersOf({ organizationId, status: 'active' }, oldestFirst), alternate.presentOrganizationUser),
)

app.get<Query>(`${ALTERNATE}/tags`, async ({ apiKey: { organizationId }, query }) =>
  listOfAlternate(query, tagsOf(organizationId, oldestFirst), alternate.presentTag),
)

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
