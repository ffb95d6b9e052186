import { expect, it } from 'vitest'
import { answerWith, startReceiver } from '../support/receiver.ts'
import { SECRET_KEY, startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'
import { makeIntegrator, TO_LOOPBACK } from '../support/webhooks.ts'
import { runCli } from './run-cli.ts'

it('lists webhooks and deliveries, and replays them, for the named organization only', async () => {
  const service = await startServiceForTest(TO_LOOPBACK)
  const own = await makeIntegrator(service)
  const receiver = await startReceiver()
  const webhook = await own.subscribe(receiver)
  await own.invite()
  const [message] = await receiver.waitFor(1)
  await waitUntil('it to be recorded', async () => ((await own.deliveries(webhook))[0]?.state === 'delivered' ? true : undefined))
  const env = { DATABASE_URL: service.databaseUrl, SECRET_KEY }
  const run = (...args: string[]) => runCli(['webhook', ...args], env)
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout)

  expect(await json('list', own.name)).toEqual([expect.objectContaining({ id: webhook.id, url: receiver.url, state: 'active' })])
  const { stdout } = await run('list', own.id)
  expect(stdout).toContain(receiver.url)
  expect(stdout).not.toContain('whsec_')
  const delivery = { id: message!.id, type: 'invite.created', state: 'delivered', attemptCount: 1, nextAttemptAt: null }
  expect(await json('deliveries', own.id, webhook.id)).toEqual([expect.objectContaining(delivery)])
  expect(await json('deliveries', own.id, webhook.id, '--state', 'failed')).toEqual([])

  expect(await json('replay', own.id, webhook.id, message!.id)).toMatchObject({ id: message!.id, state: 'waiting' })
  service.clock.set(Date.now()) // the command line uses the real time
  await receiver.waitFor(2)
  expect(await json('replay', own.id, webhook.id, '--from', '0')).toMatchObject({ id: webhook.id, replayedUpTo: '0' })
  service.clock.set(Date.now())
  await receiver.waitFor(3)
  expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(1)

  expect((await run('replay', own.id, webhook.id)).code).toBe(2)
  const other = await service.make.organization()
  for (const args of [
    ['deliveries', other.id, webhook.id],
    ['replay', other.id, webhook.id, '--from', '0'],
  ])
    expect(await run(...args)).toMatchObject({ code: 1, stderr: 'error: The organization has no such webhook.\n' })
})

it('reports failing endpoints in doctor, after events that no process sends', async () => {
  const service = await startServiceForTest({ ...TO_LOOPBACK, ROLE: 'api' })
  const own = await makeIntegrator(service)
  const webhook = await own.subscribe(await startReceiver(answerWith(500)))
  const check = async () => {
    const { stdout } = await runCli(['doctor', '--json'], { DATABASE_URL: service.databaseUrl, SECRET_KEY })
    return JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === 'webhooks')
  }
  expect(await check()).toEqual({ name: 'webhooks', problem: false, message: 'all are well' })
  const long = new Date(Date.now() - 3_600_000)
  await service.db.webhookEndpoint.update({ where: { id: webhook.id }, data: { failingSince: long } })
  expect(await check()).toMatchObject({ problem: true, message: expect.stringContaining('1 failing') })
  const row = { organizationId: own.id, endpointId: webhook.id, eventId: service.deps.newId() }
  await service.db.webhookDelivery.create({ data: { ...row, queuedAt: long, nextAttemptAt: long } })
  expect(await check()).toMatchObject({ problem: true, message: expect.stringContaining('ROLE all or worker') })
})
