import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createApiKey } from '../src/domain/api-keys/api-keys.ts'
import { deleteExpiredEvents } from '../src/domain/events/delete-expired-events.ts'
import { makeDataDir } from './support/data-dir.ts'
import { endWithTest } from './support/endings.ts'
import { waitForNumbering } from './support/events.ts'
import { findFreePort } from './support/free-port.ts'
import { type Service, startServiceForTest } from './support/service.ts'
import { waitUntil } from './support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from './support/webhooks.ts'

it('docs/examples/follow-events.mjs stays in sync, resumes where it ended, and lists again if its cursor is gone', async () => {
  const service = await startServiceForTest()
  const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const { id: organizationId, key } = await service.make.organization()
  const assessment = await service.make.assessment(organizationId)
  const file = path.join(await makeDataDir(), 'invites.json')
  const run = async () => {
    await waitForNumbering(service)
    const env = { PATH: process.env.PATH, SERVICE: address, KEY: key, STATE_FILE: file }
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

  const [{ id: known, recipientEmail }] = invites as unknown as [{ id: string; recipientEmail: string }]
  const passing = { assessmentId: assessment.id, recipientEmail: 'passing@example.com', sendEmail: false }
  const unknown: string = (await service.v1(key).post('/invites').send(passing)).body.invite.id
  for (const email of [recipientEmail, passing.recipientEmail]) await erase(service, organizationId, email)
  const third = await run()
  expect(third.lines).toEqual(expect.arrayContaining([`invite.created ${unknown} pending`, `invite.erased ${known} `]))
  expect([third.invites, JSON.stringify(third.invites).includes(recipientEmail)]).toEqual([await present(), false])

  await revoke(invites[1]!.id)
  await waitForNumbering(service)
  service.clock.advance(1)
  await deleteExpiredEvents(service.system, 0)
  await revoke(invites[2]!.id)
  expect((await run()).invites).toEqual(await present())
})

it('docs/examples/follow-events.mjs continues after test data is deleted', async () => {
  const service = await startServiceForTest()
  const SERVICE = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const own = await makeIntegrator(service, { mode: 'test' })
  const STATE_FILE = path.join(await makeDataDir(), 'invites.json')
  const run = async () => {
    await waitForNumbering(service)
    const env = { PATH: process.env.PATH, SERVICE, KEY: own.key, STATE_FILE }
    await promisify(execFile)(process.execPath, ['docs/examples/follow-events.mjs', '--once'], { env })
    return JSON.parse(await readFile(STATE_FILE, 'utf8')).invites
  }
  await run()
  await own.invite()
  expect((await own.client.delete('/test-data')).status).toBe(200)
  expect(await run()).toEqual({})
})

it.each(['follow-events', 'receive-webhooks'])('docs/examples/%s.mjs names the settings it needs', async (name) => {
  const failed = promisify(execFile)(process.execPath, [`docs/examples/${name}.mjs`], {
    env: { PATH: process.env.PATH, SERVICE: 'http://127.0.0.1:9' },
  })
  const named = name === 'follow-events' ? /KEY/ : /KEY, and WEBHOOK_SECRET/
  await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringMatching(named) })
})

async function erase(service: Service, organizationId: string, email: string): Promise<void> {
  const eraser = { organizationId, name: `Eraser of ${email}`, mode: 'live', scopes: ['candidates:erase'] } as const
  const api = service.v1((await createApiKey(service.system, eraser)).key)
  const { status, body } = await api.delete('/candidates').send({ email })
  expect([status, body]).toEqual([202, expect.anything()])
  await waitUntil('the erasure', async () => {
    const { erasure } = (await api.get(`/erasures/${body.erasure.id}`)).body
    return erasure.state === 'done' ? true : undefined
  })
}

it('docs/examples/receive-webhooks.mjs accepts signed webhooks, counts each once, and catches up from the feed', async () => {
  const service = await startServiceForTest(TO_LOOPBACK)
  const address = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const own = await makeIntegrator(service)
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}/`
  const webhook = await own.subscribe({ url })
  const file = path.join(await makeDataDir(), 'received.json')
  const settings = {
    SERVICE: address,
    KEY: own.key,
    WEBHOOK_SECRET: webhook.secret,
    PORT: String(port),
    STATE_FILE: file,
  }
  const start = async () => {
    const child = spawn(process.execPath, ['docs/examples/receive-webhooks.mjs'], {
      env: { PATH: process.env.PATH, ...settings },
    })
    const exited = once(child, 'close')
    endWithTest(child, exited)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    await waitUntil('the receiver to listen', () => /listening/.exec(output) ?? undefined)
    const stop = async () => {
      child.kill()
      await exited
    }
    return { output: () => output, stop }
  }
  const settle = (count: number) =>
    waitUntil(`${count} deliveries`, async () =>
      (await own.deliveries(webhook, '&state=delivered')).length === count ? true : undefined,
    )
  const known = async () => JSON.parse(await readFile(file, 'utf8')).invites as Record<string, { status: string }>
  const revoke = async (id: string) => void (await own.client.post(`/invites/${id}/revoke`))

  const first = await start()
  const id = await own.invite()
  await settle(1)
  expect((await known())[id]).toMatchObject({ status: 'pending' })
  const deliveryId = (await own.deliveries(webhook))[0]!.id
  await own.client.post(`${webhook.path}/deliveries/${deliveryId}/replay`)
  await waitUntil('the repeated delivery', async () =>
    (await own.deliveries(webhook))[0]?.attemptCount === 2 ? true : undefined,
  )
  await settle(1)
  expect(first.output().match(/invite.created/g)).toHaveLength(1)
  const forged = await fetch(url, {
    method: 'POST',
    body: '{}',
    headers: { 'webhook-id': deliveryId, 'webhook-signature': 'v1,x' },
  })
  expect(forged.status).toBe(401)

  await first.stop()
  await own.client.patch(webhook.path).send({ state: 'disabled' })
  await revoke(id)
  const missed = await own.invite()
  await waitForNumbering(service)
  const second = await start()
  expect(second.output()).toMatch(new RegExp(`invite.revoked ${id}\ninvite.created ${missed}\n`))
  await own.client.patch(webhook.path).send({ state: 'active' })
  await revoke(missed)
  await settle(2)
  const { [id]: one, [missed]: other } = await known()
  expect([one?.status, other?.status]).toEqual(['revoked', 'revoked'])

  const { body } = await own.client.get(`/invites/${missed}`)
  await erase(service, own.id, body.recipientEmail)
  await waitUntil('the erased invite to be removed', async () => (missed in (await known()) ? undefined : true))
  await second.stop()
  await start()
  expect(Object.keys(await known())).toEqual([id])
})
