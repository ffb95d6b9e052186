import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Actor } from '../../src/domain/actor.ts'
import { changeApiKey, createApiKey } from '../../src/domain/api-keys/api-keys.ts'
import { generateKey, rotateKey } from '../../src/domain/api-keys/manage-keys.ts'
import type { KeyScope } from '../../src/domain/authorization/permissions.ts'
import type { Context } from '../../src/domain/context.ts'
import { signUnsubscribeToken } from '../../src/domain/secrets/unsubscribe-tokens.ts'
import { runCli } from '../cli/run-cli.ts'
import { asEraser, dumpRows } from '../support/erasing.ts'
import { unknownId } from '../support/factories.ts'
import { rowsOf } from '../support/forms.ts'
import { signInAs } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

const ERASURE_LOG = path.join(await mkdtemp(path.join(tmpdir(), 'erasures-')), 'log', 'erasures.jsonl')
const service = await startServiceForFile({ ERASURE_LOG, BACKUPS_KEPT_DAYS: '14' })
const ADDRESS = 'Quentin.Zobrist@example.com'

/** Creates an organization with an invited candidate, and a key with these scopes. */
async function start(scopes: readonly KeyScope[] = ['candidates:erase'], mode: 'live' | 'test' = 'live') {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const invite = await service.make.invite(assessment, { recipientEmail: ADDRESS, recipientName: 'Quentin Zobrist' })
  const { key, apiKey } = await createApiKey(service.system, { organizationId: organization.id, name: 'Eraser', mode })
  await changeApiKey(service.system, apiKey.id, { scopes })
  const erase = (email: unknown, by = key) => service.v1(by).delete('/candidates').send({ email })
  return { organization, assessment, invite, key, erase, v1: service.v1(key) }
}

const isThere = async (id: string) => (await service.db.invite.count({ where: { id } })) === 1

describe('DELETE /candidates', () => {
  it('erases all candidates with the address, and reports when it is done', async () => {
    const { erase, v1, invite, organization } = await start()
    const { status, body } = await erase(ADDRESS.toUpperCase())
    expect([status, body.erasure]).toMatchObject([202, { state: 'running', finishedAt: null, backupsUntil: null }])
    const done = await waitUntil('the receipt', async () => {
      const { erasure } = (await v1.get(`/erasures/${body.erasure.id}`)).body
      return erasure.state === 'done' ? erasure : undefined
    })
    expect(done).toMatchObject({ id: body.erasure.id, erased: { invites: 1, submissions: 0 } })
    expect(done.stays.map(({ what }: { what: string }) => what)).toContain('suppressions')
    expect(Date.parse(done.backupsUntil) - Date.parse(done.finishedAt)).toBe(14 * 86_400_000)
    expect(await isThere(invite.id)).toBe(false)
    const { status: gone, headers } = await service.v1(organization.key).get(`/invites/${invite.id}`)
    expect([gone, headers['x-error-code']]).toEqual([404, 'invite_not_found'])
    expect((await service.v1(organization.key).get('/assessments')).body.assessments[0].inviteCount).toBe(1)
  })

  it('gives the same response for another organization’s address and for an unknown one', async () => {
    const [own, other] = [await start(), await start()]
    await service.db.invite.update({ where: { id: own.invite.id }, data: { recipientEmail: 'somebody.else@example.com' } })
    const shape = ({ status, body }: Awaited<ReturnType<typeof own.erase>>) => {
      const { id, requestedAt, ...rest } = body.erasure
      return [status, typeof id, typeof requestedAt, rest]
    }
    expect(shape(await own.erase(ADDRESS))).toEqual(shape(await own.erase('nobody.at.all@example.com')))
    expect(await isThere(other.invite.id)).toBe(true)
  })

  it('is rejected for keys without its scope, and for test keys', async () => {
    const plain = await start([])
    const without = await start(['invites:write', 'invites:read'])
    const test = await start(['candidates:erase'], 'test')
    for (const [{ erase, v1, invite }, code] of [
      [plain, 'insufficient_scope'],
      [without, 'insufficient_scope'],
      [test, 'live_key_required'],
    ] as const) {
      for (const { status, headers } of [await erase(ADDRESS), await v1.get(`/erasures/${unknownId}`)])
        expect([status, headers['x-error-code']]).toEqual([403, code])
      expect(await isThere(invite.id)).toBe(true)
    }
  })

  it('accepts only an address, and shows no other organization’s erasures', async () => {
    const { erase, v1 } = await start()
    for (const email of ['', 'no address', null, 1]) expect((await erase(email)).status).toBe(400)
    const other = await start()
    const { id } = (await other.erase(ADDRESS)).body.erasure
    for (const of of [id, unknownId]) {
      const { status, body } = await v1.get(`/erasures/${of}`)
      expect([status, body]).toEqual([404, { error: 'Erasure not found' }])
    }
  })

  it('is granted to keys only by owners', async () => {
    const { organization } = await start()
    const as = async (roles: string[], portalRoles: string[]): Promise<Context> => {
      const member = await service.make.member(organization.id, { roles, portalRoles })
      const actor: Actor = { kind: 'member', id: member.id, userId: member.userId, roles, portalRoles }
      return { ...asEraser(service, organization), actor }
    }
    const wanted = { mode: 'live', expiresAt: null, scopes: ['candidates:erase'], networks: [] } as const
    const admin = await as(['admin'], [])
    await expect(generateKey(admin, { ...wanted, name: 'By an admin' })).rejects.toMatchObject({ kind: 'not_permitted' })
    const owner = await as(['admin'], ['owner'])
    expect((await generateKey(owner, { ...wanted, name: 'By an owner' })).key).toMatch(/^ak_live_/)
    const { id } = await service.db.apiKey.findFirstOrThrow({ where: { name: 'By an owner', organizationId: organization.id } })
    // An admin can neither rotate the owner's key to learn its value nor remove its limits.
    await expect(rotateKey(admin, id)).rejects.toMatchObject({ kind: 'not_permitted' })
    await service.db.organization.update({ where: { id: organization.id }, data: { ownerNamedAt: service.clock.now() } })
    const signedIn = await signInAs(service, organization.id, ['admin'])
    const page = `${signedIn.home}settings/integrations`
    expect((await signedIn.get(`${page}/${id}`)).text).toContain('Only an owner can change what it may do')
    expect((await signedIn.post(`${page}/${id}/rights`, { networks: '' })).status).toBe(404)
    expect((await signedIn.get(page)).text).not.toContain('value="candidates:erase"')
    expect((await rotateKey(owner, id)).key).toMatch(/^ak_live_/)
  })

  it('is rejected beyond a hundred running ones, and does not count again when repeated', async () => {
    const { organization, erase } = await start()
    const createdAt = service.clock.now()
    const data = Array.from({ length: 100 }, (_, i) => ({
      ...{ organizationId: organization.id, id: service.deps.newId(), subject: 'candidate', actorKind: 'apiKey', step: 'revoke' },
      ...{ addressHmac: Buffer.from(`code ${i}`), createdAt },
    }))
    await service.db.erasure.createMany({ data })
    const refused = await erase(ADDRESS)
    expect([refused.status, refused.headers['x-error-code'], refused.headers['retry-after']]).toEqual([
      429,
      'too_many_erasures',
      '30',
    ])
    await service.db.erasure.deleteMany({ where: { id: data[0]!.id } })
    expect((await erase(ADDRESS)).status).toBe(202)
    expect((await erase(ADDRESS)).status).toBe(202)
    await service.db.erasure.deleteMany({ where: { id: { in: data.map(({ id }) => id) } } })
  })

  it('deletes idempotency keys that contain the address, and creates nothing on a retry', async () => {
    const { erase, v1, organization } = await start()
    const assessment = await service.make.assessment(organization.id)
    const send = () =>
      service
        .v1(organization.key)
        .post('/invites')
        .set('Idempotency-Key', `invite-${ADDRESS}`)
        .send({ assessmentId: assessment.id, recipientEmail: ADDRESS, sendEmail: false })
    const first = await send()
    expect(first.status).toBe(201)
    const { id } = (await erase(ADDRESS)).body.erasure
    await waitUntil('the receipt', async () =>
      (await v1.get(`/erasures/${id}`)).body.erasure.state === 'done' ? true : undefined,
    )
    const again = await send()
    expect([again.status, again.headers['x-error-code']]).toEqual([404, 'invite_not_found'])
    const theirs = { organizationId: organization.id }
    expect(await service.db.invite.count({ where: theirs })).toBe(0)
    expect(JSON.stringify(await service.db.idempotencyRecord.findMany({ where: theirs, select: { key: true } }))).not.toMatch(
      /zobrist/i,
    )
  })
})

describe('the portal', () => {
  it('shows the records to erase, asks for confirmation, and leads to a receipt without a name', async () => {
    const { organization, invite } = await start()
    const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
    const page = `${owner.home}candidates/${invite.id}`
    expect((await owner.get(page)).text).toContain(`${page}/erase`)
    const asked = await owner.get(`${page}/erase`)
    expect(rowsOf(asked.text)).toContain('Invites, live and test | 1')
    expect(asked.text).toContain('One invite is still open')
    const unsure = await owner.post(`${page}/erase`)
    expect([unsure.status, unsure.text]).toEqual([422, expect.stringContaining('Tick the box to confirm.')])
    expect(await isThere(invite.id)).toBe(true)

    const once = /name="once" value="([^"]+)"/.exec(asked.text)![1]!
    const press = () => owner.post(`${page}/erase`, { sure: 'yes', once })
    const { status, headers } = await press()
    expect([status, headers.location]).toEqual([303, expect.stringContaining('/settings/erasures/')])
    await waitUntil('the receipt', async () => {
      const { text } = await owner.get(headers.location!)
      return text.includes('Receipt of an erasure') ? text : undefined
    })
    for (const path of [headers.location!, `${owner.home}settings/erasures`, `${owner.home}settings/audit-log`]) {
      const { status, text } = await owner.get(path)
      expect([path, status]).toEqual([path, 200])
      expect(text).not.toMatch(/zobrist/i)
    }
    // A form that another tab still shows leads to the same receipt.
    const another = /name="once" value="([^"]+)"/.exec(asked.text)![1]!.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    for (const answer of [
      await owner.get(page),
      await owner.get(`${page}/erase`),
      await owner.post(`${page}/erase`, { sure: 'yes', once: another }),
    ]) {
      expect([answer.status, answer.headers.location]).toEqual([303, `${headers.location}?done=already`])
      expect((await owner.get(answer.headers.location!)).text).toContain('The candidate is erased already. This is the receipt.')
    }
    const manager = await signInAs(service, organization.id, [], ['manager'])
    expect((await manager.get(`${manager.home}candidates/${invite.id}`)).status).toBe(404)
    // The same form, sent again, leads to the same page.
    expect((await press()).headers.location).toBe(headers.location)
  })

  it('offers no erasure to members who may not erase', async () => {
    const { organization, invite } = await start()
    await signInAs(service, organization.id, ['admin'], ['owner'])
    const manager = await signInAs(service, organization.id, [], ['manager'])
    expect((await manager.get(`${manager.home}candidates/${invite.id}`)).text).not.toContain('/erase')
    expect((await manager.get(`${manager.home}candidates/${invite.id}/erase`)).status).toBe(404)
  })
})

it('lets an erased candidate stop mails by an old link', async () => {
  const { erase, organization, invite } = await start()
  const { id } = (await erase(ADDRESS)).body.erasure
  await waitUntil('the receipt', async () => (await service.db.erasure.findFirst({ where: { id } }))?.finishedAt ?? undefined)
  const path = `/u/${signUnsubscribeToken(service.site.secretKeys, invite.id)}`
  expect((await service.http().get(path)).status).toBe(200)
  for (const again of [1, 2]) expect([again, (await service.http().post(`${path}/all`)).status]).toEqual([again, 200])
  const found = await service.db.suppression.findMany({ where: { organizationId: organization.id } })
  expect(found).toMatchObject([{ scope: 'all', reason: 'unsubscribed', address: expect.stringMatching(/^erased:/) }])
  expect((await service.http().get(`/u/${signUnsubscribeToken(service.site.secretKeys, unknownId)}`)).status).toBe(404)
})

it('erases by the command line, and reports and erases candidates that a restored backup brought back', async () => {
  const { organization, assessment, invite } = await start()
  const env = { DATABASE_URL: service.databaseUrl, ERASURE_LOG, PUBLIC_URL: 'https://assessments.example.com' }
  const bare = await runCli(['erase', organization.id], env)
  expect([bare.code, bare.stderr]).toEqual([1, expect.stringContaining('Name the organization and the address')])
  const before = await service.db.invite.findUniqueOrThrow({ where: { id: invite.id } })
  const erased = await runCli(['erase', organization.id, ADDRESS, '--json'], env)
  expect([erased.code, erased.stderr]).toEqual([0, ''])
  const receipt = JSON.parse(erased.stdout)
  expect(receipt).toMatchObject({ counts: { invites: 1 }, actorKind: 'operator', step: 'receipt' })
  expect(await isThere(invite.id)).toBe(false)
  // The doctor ignores a line that a crash has cut off.
  await writeFile(ERASURE_LOG, `${await readFile(ERASURE_LOG, 'utf8')}{"id":"torn","organiz`)
  expect(await doctor(env)).toMatchObject({ problem: false })

  // If ERASURE_LOG names another file, the commands report that instead of finding nobody to erase.
  const elsewhere = { ...env, ERASURE_LOG: `${ERASURE_LOG}.none` }
  expect(await doctor(elsewhere)).toEqual({ problem: true, message: expect.stringContaining('not in ERASURE_LOG') })
  const unknown = await runCli(['erase', '--again'], elsewhere)
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('There is no file at ERASURE_LOG')])

  await service.db.erasure.deleteMany({ where: { id: receipt.id } })
  const { metadata: _, ...row } = before
  await service.db.invite.create({ data: { ...row, assessmentId: assessment.id } })
  expect(await doctor(env)).toEqual({ problem: true, message: expect.stringContaining('erase --again') })
  const again = await runCli(['erase', '--again', '--json'], env)
  expect([again.code, JSON.parse(again.stdout)]).toEqual([0, [{ id: receipt.id, organizationId: organization.id, found: true }]])
  expect(await doctor(env)).toMatchObject({ problem: false })
  expect(await isThere(invite.id)).toBe(false)
  const rows = [...(await dumpRows(service)).values()].flat().filter((text) => text.includes(organization.id))
  expect(rows.filter((text) => /zobrist/i.test(text))).toEqual([])
  const lines = (await readFile(ERASURE_LOG, 'utf8')).split('\n').filter((line) => line.includes(receipt.id))
  expect(lines).toHaveLength(1)
  expect((await runCli(['erase', '--again'], env)).stdout).toContain('Nothing has come back.')
})

async function doctor(env: Record<string, string>) {
  const { stdout } = await runCli(['doctor', '--json'], env)
  const { checks } = JSON.parse(stdout) as { checks: { name: string; problem: boolean; message: string }[] }
  const { name: _, ...found } = checks.find(({ name }) => name === 'erasures')!
  return found
}
