import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { joinAs, signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { runCli } from './run-cli.ts'

const ERASURE_LOG = path.join(await mkdtemp(path.join(tmpdir(), 'erasures-')), 'erasures.jsonl')
const service = await startServiceForFile({ ERASURE_LOG })
const { db } = service
const env = { DATABASE_URL: service.databaseUrl, ERASURE_LOG, PUBLIC_URL: 'https://assessments.example.com' }
const EMAIL = 'Quentin.Zobrist@Erase-Me.example'

/** Runs doctor and returns its check of erasures. */
async function doctor() {
  const { checks } = JSON.parse((await runCli(['doctor', '--json'], env)).stdout) as {
    checks: { name: string; message: string }[]
  }
  return checks.find(({ name }) => name === 'erasures')!
}

/** Creates an organization with an owner, and a member who has generated a key. */
async function createMembers() {
  const organization = await service.make.organization()
  await signInAs(service, organization.id, ['admin'], ['owner'])
  await joinAs(service, organization, { email: EMAIL, roles: ['grader'] })
  const member = await db.member.findFirstOrThrow({ where: { organizationId: organization.id, email: EMAIL } })
  const key = { mode: 'live', hash: new Uint8Array([7]), lastFour: 'abcd', createdAt: service.clock.now() } as const
  const { id: keyId } = await db.apiKey.create({
    data: { ...key, id: service.deps.newId(), organizationId: organization.id, name: 'Theirs', createdById: member.id },
  })
  return { organization, member, keyId }
}

it('erases a member, with their keys on request, and again if a backup restores them', async () => {
  const { organization, member, keyId } = await createMembers()
  const unknown = await runCli(['erase', organization.id, 'nobody@example.com', '--member'], env)
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('has no member of that address')])
  const saved = {
    user: await db.user.findUniqueOrThrow({ where: { id: member.userId } }),
    credential: await db.credential.findUniqueOrThrow({ where: { id: member.credentialId! } }),
    member: await db.member.findUniqueOrThrow({ where: { id: member.id } }),
  }

  const { code, stdout, stderr } = await runCli(
    ['erase', organization.id, EMAIL.toLowerCase(), '--member', '--revoke-keys', '--json'],
    env,
  )
  expect([code, stderr]).toEqual([0, ''])
  const receipt = JSON.parse(stdout)
  expect(receipt).toMatchObject({
    subject: 'member',
    step: 'receipt',
    actorKind: 'operator',
    ofMember: { members: 1, accounts: 1 },
  })
  expect(stdout).not.toMatch(/zobrist/i)
  expect((await db.apiKey.findUniqueOrThrow({ where: { id: keyId } })).revokedAt).not.toBeNull()
  expect(await doctor()).toMatchObject({ problem: false })
  const gone = await runCli(['erase', organization.id, EMAIL, '--member'], env)
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('has no member of that address')])

  // Restores the state of a backup: the member and their account exist again, and the erasure is unknown.
  await db.erasure.deleteMany({ where: { id: receipt.id } })
  await db.user.create({ data: saved.user })
  await db.credential.create({ data: saved.credential })
  await db.member.update({ where: { id: member.id }, data: saved.member })
  expect(await doctor()).toMatchObject({ problem: true, message: expect.stringContaining('erase --again') })
  const again = await runCli(['erase', '--again', '--json'], env)
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, [{ id: receipt.id, organizationId: organization.id, found: true }]])
  expect(await doctor()).toMatchObject({ problem: false })
  expect(await db.user.count({ where: { email: EMAIL } })).toBe(0)
  expect(await db.credential.count({ where: { email: EMAIL } })).toBe(0)
  const lines = (await readFile(ERASURE_LOG, 'utf8')).split('\n').filter((line) => line.includes(receipt.id))
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toMatch(/zobrist/i)
  expect((await runCli(['erase', '--again'], env)).stdout).toContain('Nothing has come back.')
})
