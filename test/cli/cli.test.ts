import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { v7 as newId } from 'uuid'
import { describe, expect, test } from 'vitest'
import { DAY_MS } from '../support/factories.ts'
import { PASSWORD, visit } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { PATIENT } from '../support/wait-until.ts'
import { type Ended, runCli } from './run-cli.ts'

const service = await startServiceForFile()

const cli = (args: string[], env: Record<string, string> = {}, input?: string) =>
  runCli(args, { DATABASE_URL: service.databaseUrl, ...env }, input)
const jsonOf = ({ code, stdout, stderr }: Ended) => {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}
/** Rows of a printed table, without its headings. */
const rowsOf = ({ stdout }: Ended) => stdout.trimEnd().split('\n').slice(1)

describe('the org command', () => {
  test('creates, lists, and changes organizations, by ID or by name in any case', async () => {
    const name = service.make.unique('Acme')
    const made = jsonOf(await cli(['org', 'create', name, '--json']))
    expect(made).toMatchObject({ name, tier: 'standard' })
    expect(jsonOf(await cli(['org', 'set-tier', name.toUpperCase(), 'enterprise', '--json']))).toMatchObject({
      id: made.id,
      tier: 'enterprise',
    })
    expect(jsonOf(await cli(['org', 'set-tier', made.id, 'standard', '--json']))).toMatchObject({ tier: 'standard' })
    expect(jsonOf(await cli(['org', 'set-mail-limit', made.id, '20000', '--json']))).toMatchObject({ mailsPerDay: 20_000 })
    expect(jsonOf(await cli(['org', 'set-mail-limit', made.id, 'default', '--json']))).toMatchObject({ mailsPerDay: null })
    await service.db.organizationSecurity.create({
      data: { organizationId: made.id, networks: ['192.0.2.0/24'], updatedAt: new Date() },
    })
    expect(jsonOf(await cli(['org', 'reset-networks', name, '--json']))).toEqual({ organization: made.id })
    const where = { organizationId: made.id }
    expect(await service.db.organizationSecurity.findUnique({ where, select: { networks: true } })).toEqual({ networks: [] })
    const listed = await cli(['org', 'list'])
    expect(rowsOf(listed)).toContainEqual(expect.stringMatching(new RegExp(`^${made.id}  ${name} +standard +2`)))
  })

  test('rejects a taken name in one line', async () => {
    const { name } = await service.make.organization()
    const { code, stdout, stderr } = await cli(['org', 'create', name.toUpperCase()])
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: There is already an organization named ${name.toUpperCase()}.\n`,
    })
  })
})

describe('the member command', () => {
  const fields = { firstName: 'Grace', lastName: 'Hopper', password: PASSWORD }
  const pathIn = ({ stdout }: Ended) => new URL(/^https:\/\/portal\.example\.com\S+/.exec(stdout)![0]).pathname
  const env = { PUBLIC_URL: 'https://portal.example.com' }

  test('prints a link to join, and another to set a new password', async () => {
    const { id, name } = await service.make.organization()
    const email = `${id}@example.com`
    const invited = await cli(['member', 'invite', name, email, '--role', 'grader'], env)
    expect(invited).toMatchObject({ code: 0, stderr: '' })
    expect((await visit(service).post(pathIn(invited), fields)).headers.location).toBe(`/portal/${id}/`)
    expect(await service.db.member.findFirstOrThrow({ where: { organizationId: id } })).toMatchObject({
      email,
      roles: ['grader'],
    })
    const { url, expiresAt } = jsonOf(await cli(['member', 'invite', id, email.toUpperCase(), '--json'], env))
    expect([url, expiresAt]).toEqual([expect.stringContaining('/portal/join/'), expect.stringMatching(/Z$/)])
    expect(await service.db.member.count({ where: { organizationId: id } })).toBe(1)
    const reset = await cli(['member', 'reset', email.toUpperCase()], env)
    expect((await visit(service).post(pathIn(reset), { password: 'another long password' })).status).toBe(303)
    const mails = await service.db.memberEmail.findMany({ where: { organizationId: id }, select: { kind: true } })
    expect(mails).toEqual([{ kind: 'password_reset' }])
  })

  test('reactivates a member only on request, with the given role', async () => {
    const { id } = await service.make.organization()
    const { email } = await service.make.member(id, { roles: ['admin'], status: 'inactive' })
    const refused = await cli(['member', 'invite', id, email, '--role', 'grader'], env)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`${email} is deactivated.`)])
    expect((await cli(['member', 'invite', id, email, '--role', 'grader', '--reactivate'], env)).code).toBe(0)
    expect(await service.db.member.findFirstOrThrow({ where: { organizationId: id } })).toMatchObject({
      status: 'active',
      roles: ['grader'],
    })
  })

  test('assigns managers, and owners once they have joined', async () => {
    const { id } = await service.make.organization()
    const email = `${id}@example.com`
    const invited = await cli(['member', 'invite', id, email, '--role', 'manager'], env)
    const early = await cli(['member', 'name-owner', id, email])
    expect([early.code, early.stderr]).toEqual([1, `error: ${email} has not joined, or is deactivated.\n`])
    await visit(service).post(pathIn(invited), fields)
    expect((await cli(['member', 'name-owner', id, email])).code).toBe(0)
    expect(await service.db.member.findFirstOrThrow({ where: { organizationId: id } })).toMatchObject({
      roles: ['admin'],
      portalRoles: ['owner', 'manager'],
    })
  })

  test('rejects an unknown organization, an invalid address, or a member who never joined, in one line', async () => {
    const { id } = await service.make.organization()
    const complaint = async (...args: string[]) => {
      const { code, stderr } = await cli(['member', ...args])
      expect(code).toBe(1)
      return stderr
    }
    expect(await complaint('invite', 'Nowhere', 'a@example.com')).toBe('error: There is no organization Nowhere.\n')
    expect(await complaint('invite', id, 'nobody')).toBe('error: nobody is not an email address.\n')
    expect(await complaint('reset', 'nobody@example.com')).toContain('error: Nobody signs in with nobody@example.com.')
  })
})

describe('the sso command', () => {
  test('ends the enforcement of single sign-on for an organization', async () => {
    const { id: organizationId, name } = await service.make.organization()
    const data = { organizationId, ssoEnforcedAt: service.clock.now(), updatedAt: service.clock.now() }
    await service.db.organizationSecurity.create({ data })
    expect(jsonOf(await cli(['sso', 'off', name, '--json']))).toEqual({ organization: organizationId, changed: true })
    expect(await service.db.organizationSecurity.findUnique({ where: { organizationId } })).toMatchObject({ ssoEnforcedAt: null })
    const entry = await service.db.auditEntry.findFirstOrThrow({ where: { organizationId, action: 'stopped_enforcing_sso' } })
    expect(entry.actorKind).toBe('operator')
    expect((await cli(['sso', 'off', organizationId])).stdout).toContain('was not the only way')
  })
})

describe('the key command', () => {
  test('shows a key once, which works with the running service and is rejected once revoked', async () => {
    const { id } = await service.make.organization()
    const member = await service.make.member(id)
    const args = ['key', 'create', id, 'ATS', '--expires-in-days', '30', '--created-by', member.email.toUpperCase(), '--json']
    const made = jsonOf(await cli(args))
    expect(made.key).toMatch(/^ak_live_.{32}$/)
    expect((await service.v1(made.key).get('/tags')).status).toBe(200)
    const stored = await service.db.apiKey.findUniqueOrThrow({ where: { id: made.id } })
    expect(stored.createdById).toBe(member.id)
    expect(stored.expiresAt!.getTime() - stored.createdAt.getTime()).toBeCloseTo(30 * DAY_MS, -4)

    const listed = await cli(['key', 'list', id])
    expect(rowsOf(listed)).toHaveLength(2)
    expect(listed.stdout).not.toContain(made.key)
    expect(listed.stdout).toMatch(/LAST USED +FROM/)
    expect(listed.stdout).toContain('127.0.0.1')
    const change = async (...options: string[]) => jsonOf(await cli(['key', 'change', made.id, ...options, '--json']))
    expect(await change('--manage', '--limit', '20')).toMatchObject({ rights: ['manage'], requestsPerMinute: 20 })
    expect(await change('--no-limit')).toMatchObject({ rights: ['manage'], requestsPerMinute: null })
    expect(await change('--no-manage')).toMatchObject({ rights: [] })
    jsonOf(await cli(['key', 'revoke', made.id, '--json']))
    await expect.poll(async () => (await service.v1(made.key).get('/tags')).status, PATIENT).toBe(401)
    expect((await cli(['key', 'list', id])).stdout).toMatch(/ATS.*revoked/)
  })

  test('creates a key that may only erase', async () => {
    const { id } = await service.make.organization()
    const made = jsonOf(await cli(['key', 'create', id, 'Erasures', '--scopes', 'candidates:erase', '--json']))
    expect(made.scopes).toEqual(['candidates:erase'])
    const v1 = service.v1(made.key)
    expect((await v1.delete('/candidates').send({ email: 'nobody@example.com' })).status).toBe(202)
    expect((await v1.get('/invites')).status).toBe(403)
  })

  test('creates a test key with an expiry', async () => {
    const { id } = await service.make.organization()
    const expiresAt = '2031-05-01T12:00:00.000Z'
    const made = jsonOf(await cli(['key', 'create', id, 'Trial', '--test', '--expires-at', expiresAt, '--json']))
    expect(made).toMatchObject({ key: expect.stringMatching(/^ak_test_/), mode: 'test', expiresAt })
  })

  test.each([
    ['an unknown organization', () => ['key', 'create', 'nobody', 'ATS'], 'There is no organization nobody.'],
    ['an unknown key', () => ['key', 'revoke', newId()], 'There is no key'],
    ['nothing to change', () => ['key', 'change', newId()], 'Say what is to change'],
    ['an invalid ID', () => ['key', 'revoke', 'x'], 'There is no key x.'],
  ])('rejects %s in one line', async (_, args, message) => {
    const { code, stdout, stderr } = await cli(args())
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^error: ${message}.*\n$`))
  })
})

describe('the import command', () => {
  const document = (name: string) => ({ organizations: [{ name, apiKeys: [{ name: 'ATS' }], tags: [{ name: 'Sales' }] }] })

  test('loads a file, shows the keys it created, and does nothing the second time', async () => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'import-')), 'organization.json')
    const name = service.make.unique('Imported')
    await writeFile(file, `\uFEFF${JSON.stringify(document(name))}`)
    const first = await cli(['import', file])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/tags +1 +0 +0\n/)
    const key = /ak_live_\S{32}/.exec(first.stdout)![0]
    expect((await service.v1(key).get('/tags')).body.tags).toHaveLength(1)
    const second = await cli(['import', file])
    expect(second.stdout).toMatch(/tags +0 +0 +1\n/)
    expect(second.stdout).not.toContain('ak_')
  })

  test('loads standard input, and prints JSON for programs', async () => {
    const name = service.make.unique('Imported')
    const summary = jsonOf(await cli(['import', '-', '--json'], {}, JSON.stringify(document(name))))
    expect(summary).toMatchObject({
      organizations: [{ name }],
      counts: { tags: { created: 1, updated: 0, unchanged: 0 } },
      generatedKeys: [{ organization: name, name: 'ATS', key: expect.stringMatching(/^ak_live_/) }],
    })
  })

  test('names every problem of an invalid document, and writes nothing', async () => {
    const name = service.make.unique('Bad')
    const bad = { organizations: [{ name, tags: [{ name: 'a', color: 'red' }, { name: 'A' }] }] }
    const refused = await cli(['import', '-'], {}, JSON.stringify(bad))
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr.split('\n')).toEqual([
      'organizations[0].tags[0].color: must be a color like #2563EB',
      'organizations[0].tags[1].name: is taken by organizations[0].tags[0]',
      'error: standard input was refused for 2 problems; nothing was written.',
      '',
    ])
    const { code, stdout } = await cli(['import', '-', '--json'], {}, JSON.stringify(bad))
    expect(code).toBe(1)
    expect(JSON.parse(stdout).problems).toHaveLength(2)
    expect(await service.db.organization.count({ where: { name } })).toBe(0)
  })

  test.each([
    ['a missing file', ['import', '/nowhere/organization.json']],
    ['invalid JSON', ['import', '-']],
  ])('rejects %s in one line', async (_, args) => {
    const { code, stderr } = await cli(args, {}, '{')
    expect(code).toBe(1)
    expect(stderr).toMatch(/^error: .+\n$/)
  })
})

describe('the mail command', () => {
  const makeEmail = async (state: 'failed' | 'captured') => {
    const { id: organizationId } = await service.make.organization()
    const assessment = await service.make.assessment(organizationId)
    const invite = await service.make.invite(assessment)
    const times = { createdAt: new Date(), updatedAt: new Date() }
    const data = { id: newId(), organizationId, inviteId: invite.id, linkVersion: 1, state, attempts: 1, reason: state, ...times }
    return { invite, email: await service.db.inviteEmail.create({ data }) }
  }

  test('lists mails by state', async () => {
    const { email, invite } = await makeEmail('failed')
    const captured = await makeEmail('captured')
    const { stdout } = await cli(['mail', 'list', '--state', 'captured', '--limit', '5'])
    expect(stdout).toContain(captured.email.id)
    expect(stdout).not.toContain(email.id)
    const failed = jsonOf(await cli(['mail', 'list', '--state', 'failed', '--json']))
    expect(failed).toContainEqual(
      expect.objectContaining({ id: email.id, recipientEmail: invite.recipientEmail, reason: 'failed' }),
    )
  })

  test('shows a mail with its headers and a working link', async () => {
    const { email, invite } = await makeEmail('captured')
    const shown = jsonOf(await cli(['mail', 'show', email.id, '--json']))
    expect(shown.headers).toMatchObject({ To: invite.recipientEmail, 'Auto-Submitted': 'auto-generated' })
    expect(shown.text).toContain(shown.link)
    expect((await service.http().get(new URL(shown.link).pathname)).status).toBe(200)
    const { stdout } = await cli(['mail', 'show', email.id])
    expect(stdout).toContain(`To: ${invite.recipientEmail}\n`)
    expect(stdout).toContain(`Link: ${shown.link}\n`)
  })

  test('retries one or all failed mails, which the running service sends', async () => {
    const { email } = await makeEmail('failed')
    const stateOf = async (id: string) => (await service.db.inviteEmail.findUniqueOrThrow({ where: { id } })).state
    expect(jsonOf(await cli(['mail', 'retry', email.id, '--json']))).toEqual({ queued: 1 })
    await expect.poll(() => stateOf(email.id), PATIENT).toBe('captured')
    expect(await cli(['mail', 'retry', email.id])).toMatchObject({
      code: 1,
      stderr: `error: There is no mail ${email.id} that has failed or waits for its next try.\n`,
    })

    const other = await makeEmail('failed')
    expect(jsonOf(await cli(['mail', 'retry', '--all', '--json'])).queued).toBeGreaterThan(0)
    await expect.poll(() => stateOf(other.email.id), PATIENT).toBe('captured')
  })
})

describe('a command', () => {
  test.each([
    ['no command', []],
    ['an unknown command', ['organize']],
    ['a missing argument', ['org', 'create']],
    ["a value that isn't among the choices", ['org', 'set-tier', 'Acme', 'gold']],
    ['an invalid number of mails', ['org', 'set-mail-limit', 'Acme', 'many']],
    ['a blank name', ['org', 'create', ' ']],
    ['no days', ['key', 'create', 'Acme', 'ATS', '--expires-in-days', '0']],
    ['an unknown scope', ['key', 'create', 'Acme', 'ATS', '--scopes', 'invites']],
    ['two expiries', ['key', 'create', 'Acme', 'ATS', '--expires-in-days', '1', '--expires-at', '2031-01-01']],
    ['neither a mail nor --all', ['mail', 'retry']],
    ['both a mail and --all', ['mail', 'retry', 'x', '--all']],
  ])('exits with 2 for %s', async (_, args) => {
    const { code, stdout, stderr } = await cli(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('names the variables of an invalid environment', async () => {
    const { code, stderr } = await cli(['org', 'list'], { SECRET_KEY: 'short', PORT: 'x' })
    expect(code).toBe(78)
    expect(stderr).toMatch(/PORT: [\s\S]*SECRET_KEY: /)
  })

  test('fails at once without its database, in one line', async () => {
    const { code, stdout, stderr } = await cli(['org', 'list'], { DATABASE_URL: 'postgresql://127.0.0.1:1/none' })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: The database can not be reached: .+\n$/)
  })

  test('prints its help', async () => {
    const { code, stdout } = await cli(['--help'])
    expect(code).toBe(0)
    for (const name of ['migrate', 'org', 'key', 'import', 'demo', 'mail', 'doctor']) expect(stdout).toContain(`  ${name}`)
  })
})
