import { once } from 'node:events'
import { mkdtemp, readFile } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { DOWNLOAD_RETRY_MS } from '../../../../src/domain/archives/archives.ts'
import { buildArchive, PART_BYTES } from '../../../../src/domain/archives/build-archive.ts'
import { readArchivedMember } from '../../../../src/domain/archives/member-data.ts'
import { removeInterruptedDownloads } from '../../../../src/domain/archives/remove-interrupted-downloads.ts'
import { requestCandidateArchive, requestMemberArchive } from '../../../../src/domain/archives/request-archive.ts'
import { deleteExpiredRows } from '../../../../src/domain/concurrency/expired-rows.ts'
import type { Context } from '../../../../src/domain/context.ts'
import { continueErasure } from '../../../../src/domain/erasure/continue-erasure.ts'
import { requestErasure } from '../../../../src/domain/erasure/request-erasure.ts'
import { continueSuspension, SUSPENSION_DAYS, suspendOrganization } from '../../../../src/domain/erasure/suspension.ts'
import { startSession } from '../../../../src/domain/sign-in/sessions.ts'
import { daysAfter } from '../../../../src/domain/time/days.ts'
import { runCli } from '../../../cli/run-cli.ts'
import { textsOf, unzip, waitForArchive } from '../../../support/archives.ts'
import { asEraser, listStore } from '../../../support/erasing.ts'
import { proveAgain, signInAs } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const service = await startServiceForFile()
const ADDRESS = 'Quentin.Zobrist@example.com'

async function start() {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id)
  const invite = await service.make.invite(assessment, { recipientEmail: ADDRESS, recipientName: 'Quentin Zobrist' })
  const owner = await signInAs(service, organization.id, ['admin'], ['owner'])
  return { organization, assessment, invite, owner, ctx: asEraser(service, organization) }
}

/** Sends the page's form with its `once` value. @returns the address of the new archive. */
async function ask(visitor: Awaited<ReturnType<typeof signInAs>>, page: string): Promise<string> {
  const { text } = await visitor.get(page)
  const { status, headers } = await visitor.post(page, { once: /name="once" value="([^"]+)"/.exec(text)![1]! })
  expect([status, headers.location]).toEqual([303, expect.stringContaining('/archives/')])
  return headers.location!
}

const waitForFile = (visitor: Awaited<ReturnType<typeof signInAs>>, location: string) =>
  waitUntil('the archive', async () => {
    const { text, headers } = await visitor.get(location)
    if (text.includes('>Download<')) return text
    expect(headers.refresh).toBe('3')
    return undefined
  })

const actionsOf = async (organizationId: string) =>
  (await service.db.auditEntry.findMany({ where: { organizationId, targetKind: 'archive' }, orderBy: { id: 'asc' } })).map(
    ({ action }) => action,
  )

describe('an archive of a candidate', () => {
  it("is requested on the candidate's page and downloaded once by the requester, with no personal data in any address", async () => {
    const { organization, invite, owner } = await start()
    const page = `${owner.home}candidates/${invite.id}`
    expect((await owner.get(page)).text).toContain(`${page}/archive`)
    const location = await ask(owner, `${page}/archive`)
    expect(location).not.toMatch(/zobrist/i)
    expect(await waitForFile(owner, location)).toContain('quentin.zobrist@example.com')
    expect((await owner.get(`${owner.home}archives`)).text).toContain('Ready')

    const other = await signInAs(service, organization.id, ['admin'], ['owner'])
    expect((await other.get(location)).text).toContain('can download it')
    expect((await other.post(`${location}/file`)).headers.location).toBe(location)

    const file = await owner.post(`${location}/file`).responseType('blob')
    expect([file.status, file.headers['content-type']]).toEqual([200, 'application/zip'])
    expect(file.headers['content-disposition']).toMatch(/^attachment; filename="archive-[\d-]+\.zip"$/)
    const files = unzip(file.body)
    expect(JSON.parse(files['invites/1/invite.json']!.toString()).invite).toMatchObject({
      id: invite.id,
      recipientEmail: ADDRESS,
    })
    expect(textsOf(files).filter(([, text]) => text.includes(owner.member.email))).toEqual([])
    await waitUntil('it to be noted', async () => ((await owner.get(location)).text.includes('Downloaded') ? true : undefined))
    expect((await owner.post(`${location}/file`)).headers.location).toBe(location)
    expect(await actionsOf(organization.id)).toEqual(['asked_for_archive', 'fetched_archive'])
    expect(service.logLines.filter((line) => /zobrist/i.test(line))).toEqual([])
  })

  it('requires recent authentication for the request and the download', async () => {
    const { invite, owner } = await start()
    const location = await ask(owner, `${owner.home}candidates/${invite.id}/archive`)
    await waitForFile(owner, location)
    await service.db.sessionAuthentication.updateMany({ data: { at: new Date(service.clock.now().getTime() - 3_600_000) } })
    for (const path of [`${owner.home}candidates/${invite.id}/archive`, `${location}/file`]) {
      const { status, headers } = await owner.post(path)
      expect([path, status, headers.location]).toEqual([path, 303, expect.stringContaining('/prove')])
    }
  })

  it('is limited to one at a time per candidate, and five a day per organization', async () => {
    const { ctx, assessment } = await start()
    const still: Context = { ...ctx, deps: { ...ctx.deps, queue: { ...ctx.deps.queue, enqueueArchive: async () => {} } } }
    const ids = await Promise.all([1, 2, 3].map(async () => (await requestCandidateArchive(still, { address: ADDRESS })).id))
    expect(new Set(ids).size).toBe(1)
    for (const i of [1, 2, 3, 4]) await requestCandidateArchive(still, { address: `somebody${i}@example.com` })
    const sixth = requestCandidateArchive(still, { address: 'somebody5@example.com' })
    await expect(sixth).rejects.toMatchObject({ kind: 'invalid', issues: [{ problem: 'tooManyArchives', limit: 5 }] })
    expect(await service.db.archive.count({ where: { organizationId: assessment.organizationId } })).toBe(5)
  })

  it('is created for each requester separately', async () => {
    const { organization, owner } = await start()
    const other = await signInAs(service, organization.id, ['admin'], ['owner'])
    const asMember = (id: string): Context => {
      const ctx = asEraser(service, organization)
      const queue = { ...ctx.deps.queue, enqueueArchive: async () => {} }
      return {
        ...ctx,
        actor: { kind: 'member', id, roles: ['admin'], portalRoles: ['owner'] } as never,
        deps: { ...ctx.deps, queue },
      }
    }
    const asking = [owner, owner, other].map(({ member }) => requestCandidateArchive(asMember(member.id), { address: ADDRESS }))
    const [first, again, others] = await Promise.all(asking)
    expect([again!.id === first!.id, others!.id === first!.id, others!.isMine]).toEqual([true, false, true])
    const own = [owner, other].map(({ member }) => requestMemberArchive(asMember(member.id), other.member.id))
    const [byOwner, byThemselves] = await Promise.all(own)
    expect([byOwner!.id === byThemselves!.id, byThemselves!.isMine]).toEqual([false, true])
  })

  it('shows an owner no sign-in data of a member who belongs to another organization, too', async () => {
    const { organization, ctx } = await start()
    const other = await signInAs(service, organization.id, ['grader'])
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: other.member.id } })
    const signInOf = async (isOwn: boolean) => (await readArchivedMember(ctx, { memberId: other.member.id, isOwn }))!.credential
    expect(await signInOf(false)).toMatchObject({ sessions: [expect.anything()] })
    await service.make.member((await service.make.organization()).id, { credentialId })
    expect(await signInOf(false)).toBeNull()
    expect(await signInOf(true)).toMatchObject({ sessions: [expect.anything()] })
  })

  it('leaves nothing behind when its organization is erased during its creation', async () => {
    const { organization, ctx } = await start()
    const still: Context = { ...ctx, deps: { ...ctx.deps, queue: { ...ctx.deps.queue, enqueueArchive: async () => {} } } }
    const { id } = await requestCandidateArchive(still, { address: ADDRESS })
    const hold = await suspendOrganization(still, { name: organization.name })
    const writeArchive: Context['deps']['writeArchive'] = async (of, whose, write) => {
      await service.deps.writeArchive(of, whose, write)
      await write(Buffer.alloc(PART_BYTES)) // stores the first part
      for (const days of [SUSPENSION_DAYS - 3, SUSPENSION_DAYS]) {
        const later = () => daysAfter(service.clock.now(), days)
        await continueSuspension({ ...service.system, deps: { ...service.deps, clock: later } }, hold.id)
      }
    }
    const meanwhile = { ...service.system, deps: { ...service.deps, writeArchive } }
    await buildArchive(meanwhile, { organizationId: organization.id, archiveId: id })
    expect(await service.db.organization.count({ where: { id: organization.id } })).toBe(0)
    expect((await listStore(service)).filter((name) => name.startsWith(organization.id))).toEqual([])
  })

  it('is deleted with its file after a week', async () => {
    const { ctx } = await start()
    const { id } = await requestCandidateArchive(ctx, { address: ADDRESS })
    const { expiresAt, finishedAt } = await waitForArchive(ctx, id)
    expect(expiresAt.getTime() - finishedAt!.getTime()).toBe(7 * 86_400_000)
    const { key } = await service.db.archive.findFirstOrThrow({ where: { id } })
    const at = (time: number) => ({ ...service.system, deps: { ...service.deps, clock: () => new Date(time) } })
    await deleteExpiredRows(at(expiresAt.getTime() - 1_000), 'delete_expired_media')
    expect(await service.db.archive.count({ where: { id } })).toBe(1)
    await deleteExpiredRows(at(expiresAt.getTime()), 'delete_expired_media')
    expect(await service.db.archive.count({ where: { id } })).toBe(0)
    expect(await service.db.deletedMediaFile.count({ where: { key: key! } })).toBe(1)
  })

  it('is deleted when its candidate is erased, even during its creation', async () => {
    const { organization, ctx } = await start()
    const made = await requestCandidateArchive(ctx, { address: ADDRESS })
    await waitForArchive(ctx, made.id)
    const { key } = await service.db.archive.findFirstOrThrow({ where: { id: made.id } })
    const still: Context = {
      ...ctx,
      deps: { ...ctx.deps, queue: { ...ctx.deps.queue, enqueueArchive: async () => {}, enqueueErasure: async () => {} } },
    }
    const asked = await requestCandidateArchive(still, { address: ADDRESS })
    const erasing = async () => {
      const { id } = await requestErasure(still, { address: ADDRESS })
      await continueErasure(service.system, { organizationId: organization.id, erasureId: id })
    }
    // The candidate is erased while the first part is created: a part stored later would be a copy of their data.
    const meanwhile = {
      ...service.system,
      deps: {
        ...service.deps,
        writeArchive: async (...[of, whose, write]: Parameters<Context['deps']['writeArchive']>) => {
          await service.deps.writeArchive(of, whose, write)
          await erasing()
        },
      },
    }
    await buildArchive(meanwhile, { organizationId: organization.id, archiveId: asked.id })
    expect(await service.db.archive.count({ where: { organizationId: organization.id } })).toBe(0)
    expect((await listStore(service)).filter((name) => name.startsWith(`${key}/`) || name.startsWith(organization.id))).toEqual(
      [],
    )
  })

  it('is created again after its process died, and leaves no earlier files', async () => {
    const { organization, ctx } = await start()
    const still: Context = { ...ctx, deps: { ...ctx.deps, queue: { ...ctx.deps.queue, enqueueArchive: async () => {} } } }
    const { id } = await requestCandidateArchive(still, { address: ADDRESS })
    const which = { organizationId: organization.id, archiveId: id }
    let refusals = 3
    const failing = {
      ...service.system,
      deps: {
        ...service.deps,
        media: {
          ...service.deps.media,
          put: async (...given: Parameters<typeof service.deps.media.put>) => {
            await service.deps.media.put(...given)
            if (refusals-- > 0) throw new Error('the process dies')
          },
        },
      },
    }
    for (const _ of [1, 2, 3]) await expect(buildArchive(failing, which)).rejects.toThrow('the process dies')
    await Promise.all([buildArchive(failing, which), buildArchive(failing, which)])
    await buildArchive(failing, which)
    const { key } = await service.db.archive.findFirstOrThrow({ where: { id } })
    await waitForArchive(ctx, id)
    const files = (await listStore(service)).filter((name) => name.startsWith(organization.id))
    const left = await service.db.deletedMediaFile.findMany({ where: { key: { startsWith: organization.id } } })
    expect(
      files.filter((name) => !name.startsWith(key!)).every((name) => left.some((one) => name.startsWith(`${one.key}/`))),
    ).toBe(true)
    expect(left.map((one) => one.key)).not.toContain(key)
  })

  it('is written to a file by the command line', async () => {
    const { organization, invite } = await start()
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'archive-')), 'theirs.zip')
    const env = { DATABASE_URL: service.databaseUrl, PUBLIC_URL: 'https://assessments.example.com' }
    const { code, stdout, stderr } = await runCli(['archive', organization.id, ADDRESS, file, '--json'], env)
    expect([code, stderr]).toEqual([0, ''])
    const bytes = await readFile(file)
    expect(JSON.parse(stdout)).toEqual({ file, bytes: bytes.length })
    expect(unzip(bytes)['invites/1/invite.json']!.toString()).toContain(invite.id)
    expect((await runCli(['archive', organization.id, ADDRESS, file], env)).code).toBe(1)
  })
})

describe('the download of an archive', () => {
  const PARTS = 4
  const BYTES = PARTS * PART_BYTES

  /** Creates an archive that is larger than all buffers on the way, so that a download ends only when its reader has read it. */
  async function startLarge() {
    const { organization, invite, owner } = await start()
    const location = await ask(owner, `${owner.home}candidates/${invite.id}/archive`)
    await waitForFile(owner, location)
    const id = location.split('/').at(-1)!
    const { key } = await service.db.archive.findFirstOrThrow({ where: { id } })
    const part = new Uint8Array(PART_BYTES)
    for (let i = 0; i < PARTS; i++) await service.deps.media.put(`${key}/parts/${i}`, part)
    await service.db.archive.updateMany({ where: { id }, data: { bytes: BYTES } })
    const read = () => service.db.archive.findFirstOrThrow({ where: { id } })
    const path = `${location}/file`
    return { organization, owner, location, key: key!, read, open: (cookie = owner.cookie()!) => openFile(path, cookie) }
  }

  const listening = service.app.listen({ port: 0, host: '127.0.0.1' })

  /** Posts the form, and does not read the response yet. */
  async function openFile(path: string, cookie: string): Promise<IncomingMessage> {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' }
    const asked = request(`${await listening}${path}`, { method: 'POST', headers, agent: false }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    return answer
  }

  async function readAll(answer: IncomingMessage): Promise<number> {
    let bytes = 0
    for await (const piece of answer) bytes += (piece as Buffer).length
    return bytes
  }

  /** Signs the same person in to another session. */
  async function signInAgain({ member }: Awaited<ReturnType<typeof signInAs>>): Promise<string> {
    const { credentialId } = await service.db.member.findUniqueOrThrow({ where: { id: member.id } })
    const credential = await service.db.credential.findUniqueOrThrow({ where: { id: credentialId! } })
    const browser = { userAgent: 'Another', network: '192.0.2.2', isShared: false, isInside: false }
    return `session=${(await startSession(service.system, credential, browser, ['password']))!.token}`
  }

  const isFree = (read: () => Promise<{ downloadId: string | null }>) =>
    waitUntil('the end of the download', async () => ((await read()).downloadId === null ? true : undefined))

  it('is rejected with 409 while another is in progress, and counts as complete at the last byte', async () => {
    const { organization, owner, location, read, open } = await startLarge()
    const answers = await Promise.all(Array.from({ length: 5 }, () => open()))
    const [winner, ...others] = answers.toSorted((one, other) => one.statusCode! - other.statusCode!)
    expect(winner!.statusCode).toBe(200)
    expect(others.map(({ statusCode, headers }) => [statusCode, headers['retry-after']])).toEqual(Array(4).fill([409, '30']))
    await Promise.all(others.map(readAll))
    expect((await read()).fetchedAt).toBeNull()
    expect(await readAll(winner!)).toBe(BYTES)
    await waitUntil('the download to be recorded', async () =>
      (await actionsOf(organization.id)).includes('fetched_archive') ? true : undefined,
    )
    expect(await read()).toMatchObject({ key: null, fetchedAt: expect.any(Date) })
    expect((await owner.post(`${location}/file`)).headers.location).toBe(location)
  })

  it('can be repeated within an hour by the session that started it, and by no other', async () => {
    const { owner, location, key, read, open } = await startLarge()
    const another = await signInAgain(owner)
    const broken = await open()
    broken.destroy()
    await isFree(read)
    expect((await open(another)).statusCode).toBe(409)
    const repeated = await open()
    expect(repeated.statusCode).toBe(200)
    repeated.destroy()
    await isFree(read)
    expect((await owner.get(location)).text).toContain('If it was interrupted, the session that started it can repeat it until')

    service.clock.advance(DOWNLOAD_RETRY_MS)
    await proveAgain(service, owner.member)
    expect((await open()).statusCode).toBe(409)
    expect((await owner.get(location)).text).toContain('interrupted and not repeated within an hour')
    await removeInterruptedDownloads(service.system)
    expect(await read()).toMatchObject({ key: null, fetchedAt: null })
    expect(await service.db.deletedMediaFile.count({ where: { key } })).toBe(1)
  })

  it('is possible again a minute after its process died', async () => {
    const { read, open } = await startLarge()
    const { organizationId, id } = await read()
    const { sessionId } = await service.db.session
      .findFirstOrThrow({ orderBy: { id: 'desc' }, select: { id: true } })
      .then((session) => ({ sessionId: session.id }))
    const downloadLeasedUntil = new Date(service.clock.now().getTime() + 60_000)
    const died = { downloadId: service.deps.newId(), downloadSessionId: sessionId, downloadLeasedUntil }
    const where = { organizationId_id: { organizationId, id } }
    await service.db.archive.update({ where, data: { ...died, downloadStartedAt: service.clock.now() } })
    expect((await open()).statusCode).toBe(409)
    service.clock.advance(60_000)
    const answer = await open()
    expect(answer.statusCode).toBe(200)
    answer.destroy()
  })
})

describe('an archive of a member', () => {
  it('is available to the member in their account and to an owner on the member’s page, without candidates’ names', async () => {
    const { organization, owner, assessment } = await start()
    const grader = await signInAs(service, organization.id, ['grader'])
    const invite = await service.make.invite(assessment, {
      recipientEmail: 'graded@example.com',
      recipientName: 'Gradely Gradison',
    })
    const entry = { actorKind: 'member', actorId: grader.member.id, action: 'graded', targetKind: 'invite', targetId: invite.id }
    await service.db.auditEntry.create({
      data: {
        id: service.deps.newId(),
        organizationId: organization.id,
        ...entry,
        details: { of: 'Gradely Gradison' },
        at: service.clock.now(),
      },
    })
    const pages = [
      [grader, `${grader.home}account/archive`],
      [owner, `${owner.home}members/${grader.member.id}/archive`],
    ] as const
    for (const [visitor, page] of pages) {
      const location = await ask(visitor, page)
      await waitForFile(visitor, location)
      const files = unzip((await visitor.post(`${location}/file`).responseType('blob')).body)
      const { member } = JSON.parse(files['member.json']!.toString())
      expect(member).toMatchObject({ id: grader.member.id, email: grader.member.email, roles: ['grader'] })
      expect(member.signIn.sessions).toHaveLength(1)
      expect(files['acts.ndjson']!.toString()).toContain(invite.id)
      const texts = textsOf(files)
        .map(([, text]) => text)
        .join()
      expect(texts).not.toMatch(/gradison|graded@example|passwordHash|tokenHash/i)
      expect(texts).not.toContain(owner.member.email)
    }
    expect((await grader.get(`${grader.home}members/${owner.member.id}/archive`)).status).toBe(404)
    expect((await grader.post(`${grader.home}members/${owner.member.id}/archive`)).status).toBe(404)
  })
})
