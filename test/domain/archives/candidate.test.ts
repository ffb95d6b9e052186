import { hash } from 'node:crypto'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { requestCandidateArchive } from '../../../src/domain/archives/request-archive.ts'
import type { Context } from '../../../src/domain/context.ts'
import { fileOf } from '../../../src/domain/files/media-keys.ts'
import { readArchive, textsOf } from '../../support/archives.ts'
import { desktop, expectAccessible, overflow, phone, runsAllBrowserTests, startBrowser, watch } from '../../support/browser.ts'
import { ADDRESS, ANSWER, asEraser, COMMENT, makeErasable, NAME } from '../../support/erasing.ts'
import { startServiceForFile } from '../../support/service.ts'
import { TO_LOOPBACK } from '../../support/webhooks.ts'

const service = await startServiceForFile(TO_LOOPBACK)

/** Breaks out of any HTML context that doesn't escape it. */
const HOSTILE = `'"><x-hostile onclick=alert(1)></title></style><script>document.title='taken'</script><img src=x onerror=alert(1)>-->`

/** Parts of the names and addresses of everyone else in the organization. The archive must not contain them. */
const STRANGERS = ['Gwendolyn', 'Hardcastle', 'keep-me.example', 'wrote.the.assessment']

describe("a candidate's archive", () => {
  let made: Awaited<ReturnType<typeof makeErasable>>
  let files: Record<string, Buffer>
  let others: string[]
  beforeAll(async () => {
    made = await makeErasable(service, { others: 3 })
    const { organization } = made
    const members = await service.db.member.findMany({ where: { organizationId: organization.id }, include: { user: true } })
    for (const { userId } of members)
      await service.db.user.update({ where: { id: userId }, data: { firstName: 'Gwendolyn', lastName: 'Hardcastle' } })
    // With blind grading, the archive must not name the grader either.
    await service.db.assessment.updateMany({ where: { organizationId: organization.id }, data: { blindGrading: true } })
    await service.db.invite.updateMany({
      where: { organizationId: organization.id, id: { in: made.ids } },
      data: { assignedGraderId: members[0]!.id, createdById: members[0]!.id },
    })
    const keys = await service.db.apiKey.findMany({ where: { organizationId: organization.id } })
    others = [...STRANGERS, ...members.flatMap(({ id, email }) => [id, email]), ...keys.map(({ id }) => id), ...made.otherIds]
    const ctx = asEraser(service, organization)
    const { id } = await requestCandidateArchive(ctx, { address: ` ${ADDRESS.toUpperCase()} ` })
    files = await readArchive(ctx, id)
  })

  it('contains each of their invites, answers, comments, messages, and results', () => {
    const of = (name: string) => JSON.parse(files[name]!.toString())
    const invites = made.ids.map((_, i) => of(`invites/${i + 1}/invite.json`).invite)
    expect(invites.map(({ id }) => id).sort()).toEqual([...made.ids].sort())
    expect(new Set(invites.map(({ mode }) => mode))).toEqual(new Set(['live', 'test']))
    expect(of('about.json').about).toMatchObject({ subject: 'candidate', email: ADDRESS.toLowerCase(), invites: made.ids.length })
    const [first] = of('invites/1/submissions.json').submissions
    expect(first).toMatchObject({ state: 'released', results: [{ version: 1, points: expect.any(Number) }] })
    expect(first.questions[0]).toMatchObject({
      answer: { text: ANSWER },
      grades: [{ round: 'first', points: 4, comment: COMMENT }],
    })
    expect(of('suppressions.json').suppressions).toHaveLength(1)
    expect(of('listRows.json').listRows).toHaveLength(2)
    expect(of('erasures.json').erasures).toEqual([])
    const page = files['invites/1/index.html']!.toString()
    for (const text of [ANSWER, COMMENT, NAME, 'applicant-zq-9918273', 'ineffable marmalade']) expect(page).toContain(text)
    const messages = of('invites/1/messages.json').messages
    expect(messages.length).toBeGreaterThan(0)
    for (const { createdAt } of messages) expect(page).toContain(`datetime="${createdAt}"`)
    for (const { createdAt } of of('invites/1/events.json').events) expect(page).toContain(`datetime="${createdAt}"`)
  })

  it('contains their photos and recordings byte for byte, and no storage keys, outside links, or scripts', async () => {
    const where = { inviteId: { in: made.ids } }
    const media = await service.db.mediaFile.findMany({ where: { submission: where } })
    expect(media.length).toBeGreaterThan(2)
    const stored = await Promise.all(media.map(async ({ key }) => buffer((await service.deps.media.get(fileOf(key)))!)))
    const found = Object.entries(files).filter(([name]) => name.includes('/media/'))
    expect(found).toHaveLength(media.length)
    const hashes = (contents: Buffer[]) => contents.map((content) => hash('sha256', content)).sort()
    expect(hashes(found.map(([, file]) => file))).toEqual(hashes(stored))
    for (const [name, text] of textsOf(files)) {
      expect([name, /https?:\/\//.exec(text.replaceAll(/"returnUrl": "[^"]*"|"reportUrl": "[^"]*"/g, ''))]).toEqual([name, null])
      for (const { key } of media) expect(text).not.toContain(key)
      expect([name, [...text.matchAll(/(?:src|href)="([^"]*)"/g)].filter(([, to]) => !to!.startsWith('.'))]).toEqual([name, []])
      expect(text).not.toMatch(/<script/i)
    }
  })

  it('contains nothing about anybody else', () => {
    const found = textsOf(files).flatMap(([name, text]) =>
      others.filter((other) => text.includes(other)).map((other) => [name, other]),
    )
    expect(found).toEqual([])
    expect(textsOf(files).length).toBeGreaterThan(20)
  })

  it.skipIf(!runsAllBrowserTests)('opens in a browser from disk, and links from page to page', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'archive-'))
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), content)
    }
    const browser = await startBrowser('--autoplay-policy=no-user-gesture-required')
    for (const viewport of [desktop, phone]) {
      const page = await browser.newPage({ viewport })
      const complaints = watch(page)
      await page.goto(pathToFileURL(path.join(folder, 'index.html')).href)
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
      const shots = process.env.ARCHIVE_SHOTS
      if (shots) await page.screenshot({ path: `${shots}/index-${viewport.width}.png`, fullPage: true })
      await page.getByRole('table').first().getByRole('link').first().click()
      await page.getByText(ANSWER).waitFor()
      await expectAccessible(page)
      expect(await overflow(page)).toBe(0)
      const length = await page.evaluate(`(async () => {
        const video = document.querySelector('video')
        video.preload = 'auto'
        video.load()
        await new Promise((done, failed) => { video.onloadedmetadata = done; video.onerror = () => failed(new Error('the video does not load')) })
        return video.duration
      })()`)
      expect(length).toBeGreaterThan(0)
      if (shots) await page.screenshot({ path: `${shots}/invite-${viewport.width}.png`, fullPage: true })
      await page.getByRole('link', { name: 'Back to the overview' }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(complaints).toEqual([])
      await page.close()
    }
    await browser.close()
  })
})

it("returns the same archive for another organization's candidate as for an unknown address", async () => {
  const organization = await service.make.organization()
  const ctx: Context = asEraser(service, organization)
  const asked = [ADDRESS, 'nobody.at.all@example.com'].map((address) => requestCandidateArchive(ctx, { address }))
  const [theirs, nobodys] = await Promise.all((await Promise.all(asked)).map(({ id }) => readArchive(ctx, id)))
  expect(Object.keys(theirs!)).toEqual(Object.keys(nobodys!))
  const blank = (files: Record<string, Buffer>) =>
    textsOf(files).map(([name, text]) => [
      name,
      text.replaceAll(/zelda\.quirrell@erase-me\.example|nobody\.at\.all@example\.com/g, ''),
    ])
  const untimed = (texts: string[][]) =>
    texts.map(([name, text]) => [name, text!.replaceAll(/20\d\d-[\d:T.-]+Z|\d+ \w+ 20\d\d, [\d:]+/g, '')])
  expect(untimed(blank(theirs!))).toEqual(untimed(blank(nobodys!)))
})

it('escapes HTML in names and texts, and names its files without using them', async () => {
  const organization = await service.make.organization()
  const assessment = await service.make.assessment(organization.id, { name: `${HOSTILE} assessment` })
  await service.make.invite(assessment, {
    recipientEmail: 'hostile@example.com',
    ...{ recipientName: HOSTILE, customMessage: HOSTILE, externalId: HOSTILE, returnUrl: 'javascript:alert(1)' },
    metadata: { [HOSTILE]: HOSTILE, '../../etc/passwd': '..\\..\\evil.exe' },
  })
  const ctx: Context = asEraser(service, organization)
  const { id } = await requestCandidateArchive(ctx, { address: 'hostile@example.com' })
  const files = await readArchive(ctx, id)
  expect(JSON.parse(files['invites/1/invite.json']!.toString()).invite).toMatchObject({ recipientName: HOSTILE })
  for (const name of Object.keys(files)) expect(name).toMatch(/^(?:invites\/\d+\/)?[A-Za-z]+\.(?:json|html)$/)
  const pages = textsOf(files).filter(([name]) => name.endsWith('.html'))
  expect(pages).toHaveLength(2)
  for (const [, page] of pages) {
    expect(page).toContain('&lt;script&gt;')
    expect(page).not.toMatch(/<script|<img|<x-hostile|href="javascript/i)
    expect(page).toContain(`content="default-src 'none'`)
  }
})
