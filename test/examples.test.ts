import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { forgetOldEvents } from '../src/domain/events/forget.ts'
import { makeDataDir } from './support/data-dir.ts'
import { waitForNumbering } from './support/events.ts'
import { startServiceForTest } from './support/service.ts'

it('docs/examples/follow-events.mjs keeps in step, goes on where it has ended, and lists again when its cursor is gone', async () => {
  const service = await startServiceForTest()
  const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const file = path.join(await makeDataDir(), 'invites.json')
  const run = async () => {
    await waitForNumbering(service)
    const env = { PATH: process.env.PATH, SERVICE_URL: address, API_KEY: key, STATE_FILE: file }
    const { stdout } = await promisify(execFile)(process.execPath, ['docs/examples/follow-events.mjs', '--once'], { env })
    const lines = stdout.split('\n').filter((line) => line !== '')
    return {
      lines,
      invites: JSON.parse(await readFile(file, 'utf8')).invites as Record<string, { status: string; recipientEmail: string }>,
    }
  }
  const present = async () => {
    const rows = await service.db.invite.findMany({ where: { organizationId } })
    return Object.fromEntries(rows.map(({ id, status, recipientEmail }) => [id, { status, recipientEmail }]))
  }
  const revoke = (id: string) => service.v1(key).post(`/invites/${id}/revoke`).send({})

  const invites = [
    await service.make.invite(assessment),
    await service.make.invite(assessment),
    await service.make.invite(assessment),
  ]
  expect(await run()).toEqual({ lines: [], invites: await present() })

  await revoke(invites[0]!.id)
  const body = { assessmentId: assessment.id, recipientEmail: 'new@example.com', sendEmail: false }
  await service.v1(key).post('/invites').send(body)
  const second = await run()
  expect(second.lines.map((line) => line.split(' ')[0])).toEqual(['invite.revoked', 'invite.created'])
  expect(second.invites).toEqual(await present())

  await revoke(invites[1]!.id)
  await waitForNumbering(service)
  service.clock.advance(1)
  await forgetOldEvents(service.system, 0)
  await revoke(invites[2]!.id)
  expect((await run()).invites).toEqual(await present())
})
