// Plain: the same answers by Fastify and Prisma as most would write them: a look-up of the key for each request, related rows by
// include, lists by findMany and count. The bodies are written here once more on purpose: what
// the service is measured against has nothing of it.
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { type ApiKey, PrismaClient } from '../../src/generated/prisma/client.ts'
import * as alternate from './plain-alternate.ts'
import { assessmentInclude, inviteInclude, summaryInclude } from './plain-rows.ts'
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

app.get('/api/v1/invites', async ({ apiKey: { organizationId } }) => {
  const where = { organizationId }
  const [invites, total] = await Promise.all([
    prisma.invite.findMany({ where, include: summaryInclude, orderBy: [{ sentAt: 'desc' }, { id: 'desc' }], take: 20 }),
    prisma.invite.count({ where }),
  ])
  const pagination = { page: 1, limit: 20, total, totalPages: Math.ceil(total / 20) }
  return { invites: invites.map(v1.presentInvite), pagination }
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

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
