import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { v7 as newId } from 'uuid'
import { expect, onTestFinished, test } from 'vitest'
import { createEmptyDatabase } from '../support/empty-database.ts'
import { openTestDatabase } from '../support/processes.ts'
import { answerWith } from '../support/receiver.ts'
import { startServiceForTest } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { startTranscriber } from '../support/transcriber.ts'
import { type Ended, runCli } from './run-cli.ts'

type Checks = Record<string, { problem: boolean; message: string }>

const checksOf = ({ stdout }: Ended): Checks =>
  Object.fromEntries(JSON.parse(stdout).checks.map(({ name, ...check }: { name: string }) => [name, check]))

test('reports no problem for a healthy service', async () => {
  const { databaseUrl } = await startServiceForTest()
  const smtp = await startSmtpListener()
  const env = { DATABASE_URL: databaseUrl, SMTP_URL: smtp.url, PUBLIC_URL: 'https://assessments.example.com' }
  const { code, stdout, stderr } = await runCli(['doctor'], env)
  await smtp.close()
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const check of [
    'configuration',
    'database',
    'locale',
    'migrations',
    'queue',
    'mails',
    'events',
    'links',
    'secret',
    'secret key',
    'mail server',
  ]) {
    expect(stdout).toMatch(new RegExp(`^ok +${check} `, 'm'))
  }
})

test('reports failing webhooks with their organizations, except disabled ones', async () => {
  const { databaseUrl, db, make, v1 } = await startServiceForTest()
  const { key, name } = await make.organization()
  expect((await v1(key).post('/webhooks').send({ url: 'https://hooks.example.com/' })).status).toBe(201)
  const look = async () => checksOf(await runCli(['doctor', '--json'], { DATABASE_URL: databaseUrl })).webhooks
  await db.webhookEndpoint.updateMany({ data: { failingSince: new Date('2027-01-31T12:00:00Z') } })
  const failing = `1 failing, 0 disabled for it: ${name} since 2027-01-31T12:00:00.000Z`
  expect(await look()).toEqual({ problem: true, message: expect.stringContaining(failing) })
  await db.webhookEndpoint.updateMany({ data: { state: 'disabled', disabledReason: 'failing' } })
  expect(await look()).toEqual({ problem: false, message: expect.stringContaining('0 failing, 1 disabled for it') })
})

test('reports every problem, with what to do', async () => {
  const { databaseUrl, db, make } = await startServiceForTest()
  const { id: organizationId } = await make.organization()
  const invite = await make.invite(await make.assessment(organizationId))
  const old = new Date(Date.now() - 3_600_000)
  const email = { organizationId, inviteId: invite.id, linkVersion: 1, createdAt: old, updatedAt: old }
  const mails = [{ state: 'queued' as const }, { state: 'failed' as const, failure: 'given_up' as const }]
  await db.inviteEmail.createMany({ data: mails.map((mail) => ({ ...email, ...mail, id: newId() })) })

  const ended = await runCli(['doctor', '--json'], { DATABASE_URL: databaseUrl, SMTP_URL: 'smtp://127.0.0.1:1' })
  expect(ended.code).toBe(1)
  const checks = checksOf(ended)
  expect(checks).toMatchObject({ database: { problem: false }, migrations: { problem: false }, secret: { problem: false } })
  expect(checks.queue).toEqual({ problem: true, message: expect.stringContaining('mail list --state queued') })
  expect(checks.mails).toEqual({ problem: true, message: expect.stringContaining('mail retry --all') })
  expect(checks.links).toEqual({ problem: true, message: expect.stringContaining('PUBLIC_URL') })
  expect(checks['mail server']).toEqual({ problem: true, message: expect.stringContaining('SMTP_URL') })
})

test('reports unsequenced events, but only after enough time to sequence them', async () => {
  const { url, db, make } = await openTestDatabase()
  const { id: organizationId } = await make.organization()
  const recordAt = (createdAt: Date) =>
    db.event.create({
      data: { id: newId(), organizationId, type: 'invite.resent', mode: 'live', actorType: 'system', data: {}, createdAt },
      select: { id: true },
    })
  const { id } = await recordAt(new Date())
  expect(checksOf(await runCli(['doctor', '--json'], { DATABASE_URL: url })).events).toMatchObject({ problem: false })
  await db.event.delete({ where: { id } })
  await recordAt(new Date(Date.now() - 3_600_000))
  const { events } = checksOf(await runCli(['doctor', '--json'], { DATABASE_URL: url }))
  expect(events).toEqual({ problem: true, message: expect.stringContaining('Is the service running?') })
  await db.$disconnect()
})

test.each([
  ['one refused recipient', false, { refused: 1 }],
  ['refused recipients among many accepted ones', false, { refused: 3, sent: 4 }],
  ['outdated mails', false, { obsolete: 5 }],
  ['failures two days ago', false, { refusedBefore: 5, givenUpBefore: 5 }],
  ['a mail server that refuses more than it accepts', true, { refused: 4, sent: 3 }],
  ['a mail server that stayed unreachable for all retries', true, { givenUp: 1, sent: 9 }],
])('distinguishes history and information from a problem: %s', async (_what, problem, counts) => {
  const { databaseUrl, db, make } = await startServiceForTest()
  const { id: organizationId } = await make.organization()
  const { id: inviteId } = await make.invite(await make.assessment(organizationId))
  const { id: memberId } = await make.member(organizationId)
  const [recent, before] = [1, 48].map((hours) => new Date(Date.now() - hours * 3_600_000))
  const kinds = {
    sent: { state: 'sent' as const, updatedAt: recent! },
    obsolete: { state: 'failed' as const, failure: 'obsolete' as const, updatedAt: recent! },
    refused: { state: 'failed' as const, failure: 'refused' as const, updatedAt: recent! },
    givenUp: { state: 'failed' as const, failure: 'given_up' as const, updatedAt: recent! },
    refusedBefore: { state: 'failed' as const, failure: 'refused' as const, updatedAt: before! },
    givenUpBefore: { state: 'failed' as const, failure: 'given_up' as const, updatedAt: before! },
  }
  for (const [kind, count] of Object.entries(counts) as [keyof typeof kinds, number][]) {
    const mail = { ...kinds[kind], organizationId, createdAt: kinds[kind].updatedAt }
    const mails = Array.from({ length: count }, () => ({ ...mail, id: newId() }))
    const [toMembers, toCandidates] = [mails.filter((_, i) => i % 2 === 0), mails.filter((_, i) => i % 2 === 1)]
    await db.memberEmail.createMany({ data: toMembers.map((one) => ({ ...one, memberId, kind: 'join' })) })
    await db.inviteEmail.createMany({ data: toCandidates.map((one) => ({ ...one, inviteId, linkVersion: 1 })) })
  }
  const ended = await runCli(['doctor', '--json'], { DATABASE_URL: databaseUrl })
  expect(checksOf(ended).mails).toEqual({ problem, message: expect.stringContaining('mail list --state failed') })
  expect(ended.code).toBe(problem ? 1 : 0)
})

test('compares the clocks of identity providers with its own', async () => {
  const { databaseUrl, db, make } = await startServiceForTest()
  const { id: organizationId } = await make.organization()
  const env = { DATABASE_URL: databaseUrl, SSO_ALLOW: '127.0.0.1' }
  const look = async (more = {}) => checksOf(await runCli(['doctor', '--json'], { ...env, ...more }))['identity providers']
  expect(await look()).toBeUndefined()
  let ahead = 0
  const server = createServer((_request, response) => {
    response.setHeader('date', new Date(Date.now() + ahead).toUTCString()).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const row = { id: newId(), organizationId, name: 'Acme', clientId: 'x', clientAuth: 'client_secret_basic' }
  const at = { createdAt: new Date(), updatedAt: new Date() }
  await db.signInProvider.create({ data: { ...row, ...at, issuer: `http://${host}`, encryptedClientSecret: Buffer.of(1) } })
  expect(await look()).toEqual({ problem: false, message: `${host} answers, and its clock agrees` })
  ahead = 45_000
  expect(await look()).toEqual({ problem: true, message: expect.stringMatching(/4[45] s ahead of this machine's.* by NTP/) })
  ahead = -120_000
  expect((await look())!.message).toMatch(/1(19|20|21) s behind this machine's/)
  await db.signInProvider.updateMany({ data: { issuer: 'http://127.0.0.1:1' } })
  expect(await look()).toEqual({ problem: false, message: '127.0.0.1:1 does not answer (refused_port)' })
  const microsoft = { MICROSOFT_CLIENT_ID: 'x', MICROSOFT_CLIENT_SECRET: 'x', MICROSOFT_ISSUER: 'http://127.0.0.1:1' }
  expect(await look(microsoft)).toEqual({ problem: true, message: expect.stringContaining('settings of Google and Microsoft') })
})

test('works without the database', async () => {
  const ended = await runCli(['doctor', '--json'], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' })
  expect(ended).toMatchObject({ code: 1, stderr: '' })
  const checks = checksOf(ended)
  expect(checks.database).toEqual({ problem: true, message: expect.stringContaining('DATABASE_URL') })
  expect(checks).toMatchObject({ secret: { problem: false }, 'mail server': { problem: false } })
})

test('names every invalid variable', async () => {
  const { code, stdout } = await runCli(['doctor'], { PORT: 'x', SECRET_KEY: 'short' })
  expect(code).toBe(78)
  expect(stdout).toMatch(/^problem +configuration +PORT/m)
  expect(stdout).toMatch(/^problem +configuration +SECRET_KEY/m)
})

test('reports pending migrations and an unsuitable locale, and changes neither; migrate applies migrations', async () => {
  const DATABASE_URL = await createEmptyDatabase(`LOCALE_PROVIDER libc LOCALE 'C'`)
  for (const _ of ['first', 'again']) {
    const checks = checksOf(await runCli(['doctor', '--json'], { DATABASE_URL }))
    expect(checks.locale).toEqual({ problem: true, message: expect.stringContaining('C.UTF-8') })
    expect(checks.migrations).toEqual({ problem: true, message: expect.stringContaining('-- migrate') })
  }
  const migrated = await runCli(['migrate'], { DATABASE_URL })
  expect(migrated).toMatchObject({ code: 0, stderr: '' })
  expect(migrated.stdout).toMatch(/^applied \d+_baseline\n/)
  expect(await runCli(['migrate', '--json'], { DATABASE_URL })).toMatchObject({ code: 0, stdout: '{\n  "applied": []\n}\n' })
  expect(checksOf(await runCli(['doctor', '--json'], { DATABASE_URL })).migrations).toEqual({
    problem: false,
    message: 'none pending',
  })
})

test('names the organizations with most media, and warns before a quota is used up', async () => {
  const { url, db, make } = await openTestDatabase()
  for (let i = 1; i <= 11; i++) {
    const { id: organizationId } = await make.organization()
    await db.organization.update({ where: { id: organizationId }, data: { name: `Media ${i}` } })
    for (const slot of [0, 1])
      await db.organizationMediaBytes.create({ data: { organizationId, slot, bytes: i * 1_000_000_000 } })
  }
  await db.$disconnect()
  const doctor = async (MEDIA_QUOTA: string) =>
    checksOf(await runCli(['doctor', '--json'], { DATABASE_URL: url, MAIL: 'capture', MEDIA_QUOTA }))['media use']!
  const well = await doctor('50000000000')
  expect(well.problem).toBe(false)
  expect(well.message).toMatch(/: Media 11 22\.0 GB \(44 %\), Media 10 20\.0 GB .*Media 2 4\.0 GB \(8 %\)$/)
  const nearly = await doctor('23000000000')
  expect(nearly).toEqual({ problem: true, message: expect.stringContaining('raise MEDIA_QUOTA') })
})

test("warns if other servers refuse the service's mail", async () => {
  const { url, db, make } = await openTestDatabase()
  const { id: organizationId } = await make.organization()
  const invite = await make.invite(await make.assessment(organizationId))
  const at = new Date()
  const sent = {
    organizationId,
    inviteId: invite.id,
    linkVersion: 1,
    state: 'sent',
    sentAt: at,
    createdAt: at,
    updatedAt: at,
  } as const
  const blocked = { ...sent, bounce: 'blocked', bounceStatus: '5.7.26', bouncedAt: at }
  await db.inviteEmail.createMany({ data: [sent, sent, sent, blocked, blocked].map((mail) => ({ ...mail, id: newId() })) })
  const ended = await runCli(['doctor', '--json'], { DATABASE_URL: url, SMTP_URL: 'smtp://127.0.0.1:1' })
  expect(checksOf(ended).mails).toEqual({ problem: true, message: expect.stringMatching(/^2 of 5 .* came back: .*SPF, DKIM/) })
})

test('reports which response formats the speech recognition service has, and which setting to use', async () => {
  const { databaseUrl } = await startServiceForTest()
  const formats: string[] = []
  const server = await startTranscriber((response, message, request) => {
    const format = /name="response_format"\r\n\r\n(\w+)/.exec(message.body)?.[1] ?? ''
    formats.push(format)
    if (format === 'json') return void response.writeHead(200).end(JSON.stringify({ text: '' }))
    answerWith(400)(response, message, request)
  })
  const look = async (env: Record<string, string> = {}) => {
    const settings = { DATABASE_URL: databaseUrl, TRANSCRIBE_URL: server.url, TRANSCRIBE_MODEL: 'whisper-test', ...env }
    return checksOf(await runCli(['doctor', '--json'], settings)).transcripts
  }
  const advice = `${server.host}: Set TRANSCRIBE_FORMAT=json: it has no verbose_json`
  expect(await look()).toEqual({ problem: true, message: advice })
  expect(formats).toEqual(['verbose_json', 'vtt', 'json'])
  expect(await look({ TRANSCRIBE_FORMAT: 'json' })).toEqual({ problem: false, message: `${server.host} answers; formats: json` })
  server.behave(answerWith(401))
  expect(await look()).toEqual({ problem: true, message: expect.stringContaining('Check TRANSCRIBE_URL, TRANSCRIBE_KEY') })
})
