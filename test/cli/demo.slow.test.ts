import { expect, test } from 'vitest'
import { visit } from '../support/portal.ts'
import { startServiceForTest } from '../support/service.ts'
import { PATIENT } from '../support/wait-until.ts'
import { runCliProcess } from './run-cli.ts'

test('creates a demo organization once, and shows its key and the next steps', async () => {
  const service = await startServiceForTest()
  const env = { DATABASE_URL: service.databaseUrl, PUBLIC_URL: 'https://assessments.example.com' }
  const { code, stdout, stderr } = await runCliProcess(['demo'], env)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain("'https://assessments.example.com/api/v1/assessments'")
  const [, key] = /^ +(ak_live_\S{32})$/m.exec(stdout)!
  const v1 = service.v1(key!)
  expect((await v1.get('/assessments')).body.pagination.total).toBe(8)
  const [, assessmentId] = /"assessmentId":"([^"]+)"/.exec(stdout)!
  expect((await v1.post('/invites').send({ assessmentId, recipientEmail: 'alex@example.com' })).status).toBe(201)

  const [joinUrl] = /https:\/\/assessments\.example\.com\/portal\/join\/\S+/.exec(stdout)!
  expect((await visit(service).get(new URL(joinUrl).pathname)).text).toContain('Join Northwind Talent')

  const again = await runCliProcess(['demo'], env)
  expect({ code: again.code, stdout: again.stdout }).toEqual({ code: 1, stdout: '' })
  expect(again.stderr).toMatch(/^error: There is already an organization named Northwind Talent\. .*key create.*\n$/)
  expect((await v1.get('/assessments')).body.pagination.total).toBe(8)
})

test("sends the demo's invitation to nobody, even if mails are sent, and prints JSON for programs", async () => {
  const { databaseUrl, db } = await startServiceForTest({ SMTP_URL: 'smtp://127.0.0.1:1' })
  const { code, stdout } = await runCliProcess(['demo', '--json'], { DATABASE_URL: databaseUrl, SMTP_URL: 'smtp://127.0.0.1:1' })
  expect(code).toBe(0)
  const { organization, key, assessmentId } = JSON.parse(stdout)
  expect(organization).toEqual({ id: expect.any(String), name: 'Northwind Talent' })
  expect(key).toMatch(/^ak_live_.{32}$/)
  const invite = await db.invite.findFirstOrThrow({ where: { recipientEmail: 'candidate@example.com' } })
  expect(invite).toMatchObject({ organizationId: organization.id, assessmentId, mode: 'live' })
  await expect
    .poll(async () => (await db.inviteEmail.findFirstOrThrow({ where: { inviteId: invite.id } })).state, PATIENT)
    .toBe('captured')
})
