import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSmtpListener } from '../support/smtp.ts'
import { type Service, startService } from '../support/service.ts'

let service: Service
let smtp: Awaited<ReturnType<typeof startSmtpListener>>
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

it('works', async () => {
  const org = await service.make.organization()
  const assessment = await service.make.assessment(org.id)
  await service.make.question({ organizationId: org.id, id: assessment.id }, { points: 7 })
  for (const p of ['/tags', '/members', '/invites', '/assessments', `/assessments/${assessment.id}`, `/assessments/${assessment.id}/questions`, '/nope', '/tags/%00', '/tags?page=0', '/tags?limit=101&page=x', '/tags?sort=zz']) {
    const r = await service.v1(org.key).get(p)
    console.log(p, r.status, JSON.stringify(r.body))
  }
  const t0 = Date.now()
  const r = await service.v1(org.key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'a@example.com' })
  console.log(r.status, r.body, Date.now() - t0, r.headers)
  console.log((await service.v1(org.key).get(`/invites/${r.body.invite.id}`)).body)
  const [mail] = await smtp.waitFor(1)
  console.log('mail after', Date.now() - t0, mail!.raw)
  console.log((await service.v1(org.key).post('/invites').send({ assessmentId: assessment.id, recipientEmail: 'A@example.com' })).headers)
  for (const body of [{}, { assessmentId: 'x' }, { assessmentId: assessment.id, recipientEmail: 'x' }, { assessmentId: assessment.id, recipientEmail: 'x@y.de', questionReplayLimit: 0 }, { assessmentId: org.id, recipientEmail: 'x@y.de', answerRecordLimit: 1 }, []])
    console.log(JSON.stringify((await service.v1(org.key).post('/invites').send(body)).body))
  for (const body of [{}, { name: ' a ' }, { name: 'A' }, { name: '  ' }, { name: 'x', color: 'red' }]) console.log(JSON.stringify((await service.v1(org.key).post('/tags').send(body)).body))
  expect(r.status).toBe(201)
  console.log((await service.http().get('/docs/v1/openapi.json')).status)
  console.log(service.logLines.filter((l) => !l.includes('"info"')))
})
