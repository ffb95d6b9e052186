import { afterAll, beforeAll, expect, it } from 'vitest'
import { createApiKey } from '../../../../src/domain/api-keys/api-keys.ts'
import { createResetLink } from '../../../../src/domain/members/invite-member.ts'
import { createLinks } from '../../../../src/http/addresses/links.ts'
import { candidateOf } from '../../../support/candidate.ts'
import { mistakesIn } from '../../../support/forms.ts'
import { waitForState } from '../../../support/mail.ts'
import { blackPng, png } from '../../../support/pictures.ts'
import { asOperator, signInAs } from '../../../support/portal.ts'
import { type Service, startService } from '../../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../../support/smtp.ts'
import { waitUntil } from '../../../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
beforeAll(async () => {
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url, MAIL_FROM: 'Assessments <talent@example.org>' })
})
afterAll(async () => {
  await service.close()
  await smtp.close()
})

const YELLOW = { primaryColor: '#FFD400', backgroundColor: '#102a43' }
const LOGO = blackPng(480, 120)

async function start() {
  const organization = await service.make.organization()
  const admin = await signInAs(service, organization.id, ['admin'])
  const path = `${admin.home}settings/brand`
  const find = () => service.db.organization.findUniqueOrThrow({ where: { id: organization.id } })
  const save = async (fields: Record<string, string>, seen?: string) =>
    admin.post(path, { seen: seen ?? (await find()).updatedAt.toISOString(), ...YELLOW, ...fields })
  const upload = (file: Buffer, name = 'logo.png') =>
    service
      .http()
      .post(`${path}/logo`)
      .set({ 'sec-fetch-site': 'same-origin', cookie: admin.cookie()! })
      .attach('logo', file, name)
  const audit = () =>
    service.db.auditEntry.findMany({
      where: { organizationId: organization.id, action: 'changed_brand' },
      orderBy: { id: 'asc' },
    })
  return { organization, admin, path, find, save, upload, audit }
}

/** Creates an invite, and returns its candidate. */
async function invite({ id }: { id: string }) {
  return candidateOf(service, await service.make.invite(await service.make.assessment(id)))
}

const stylesheetIn = ({ text }: { text: string }) => /<link rel="stylesheet" href="(\/i\/brand\/[^"]+\.css)">/.exec(text)?.[1]
const logoIn = ({ text }: { text: string }) => /<img src="(\/i\/brand\/[^"]+)"/.exec(text)?.[1]

it('applies colors by a permanently cached stylesheet, without inline styles', async () => {
  const { organization, save, path, audit, admin } = await start()
  const candidate = await invite(organization)
  expect(stylesheetIn(await candidate.open())).toBeUndefined()
  expect((await save({})).headers.location).toBe(`${path}?done=saved`)
  const page = await candidate.open()
  expect(page.text).not.toMatch(/ style=|<style/)
  expect(page.headers['content-security-policy']).toContain("style-src 'self';")
  const address = stylesheetIn(page)!
  expect(address).toMatch(new RegExp(`^/i/brand/${organization.id}/[\\da-f]{12}\\.css$`))
  const css = await service.http().get(address)
  expect(css.headers).toMatchObject({
    'content-type': 'text/css; charset=utf-8',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
  })
  expect(css.text).toContain(
    'prefers-color-scheme:dark){:root:not([data-theme]){--color-primary:#ffd400;--color-primary-content:#000000',
  )
  const another = await service.http().get(address.replace(/[\da-f]{12}\.css$/, '000000000000.css'))
  expect([another.text, another.headers['cache-control']]).toEqual([css.text, 'no-store'])
  expect(await audit()).toMatchObject([
    {
      actorId: admin.member.id,
      details: {
        before: { primaryColor: null, backgroundColor: null, logoHash: null },
        after: { primaryColor: '#ffd400', backgroundColor: '#102a43', logoHash: null },
      },
    },
  ])
  await save({})
  expect(await audit()).toHaveLength(1) // unchanged colors are not recorded again
  expect((await admin.get(`${admin.home}settings/audit-log`)).text).toContain('changed the colors or the logo')
})

it('rejects invalid colors, keeping the typed text; empty ones restore the defaults', async () => {
  const { organization, save, find, admin, path } = await start()
  for (const primaryColor of ['yellow', '#fff', '#ffd400}body{display:none']) {
    const answer = await save({ primaryColor })
    expect([answer.status, mistakesIn(answer)[0]]).toEqual([422, expect.stringContaining('six hexadecimal digits')])
    expect(answer.text).toContain(`value="${primaryColor}"`)
    const preview = await admin.get(`${path}?${new URLSearchParams({ primaryColor })}`)
    expect([preview.status, preview.text]).toEqual([422, expect.stringContaining(`value="${primaryColor}"`)])
  }
  expect((await find()).primaryColor).toBeNull()
  await save({})
  await save({ primaryColor: '', backgroundColor: '' })
  expect(stylesheetIn(await (await invite(organization)).open())).toBeUndefined()
})

it('does not overwrite colors from an outdated form', async () => {
  const { save, find } = await start()
  const seen = (await find()).updatedAt.toISOString()
  await save({}, seen)
  const answer = await save({ primaryColor: '#00ff00' }, seen)
  expect([answer.status, (await find()).primaryColor]).toEqual([422, '#ffd400'])
})

it('previews colors with contrast adjustments, without saving', async () => {
  const { admin, find, path, organization } = await start()
  const page = await admin.get(`${path}?${new URLSearchParams(YELLOW)}`)
  expect(page.status).toBe(200)
  expect(page.text).toMatch(/on light pages: <code>#ffd400<\/code> becomes <code>#[\da-f]{6}<\/code>/)
  expect(page.text).toContain('on dark pages: <code>#ffd400</code>, as chosen')
  const frames = [...page.text.matchAll(/<iframe [^>]*src="([^"]+)"/g)].map(([, address]) => address!.replaceAll('&amp;', '&'))
  expect(frames).toHaveLength(4)
  const [light, dark, mail, darkMail] = await Promise.all(frames.map((address) => admin.get(address)))
  for (const [frame, theme] of [
    [light, 'light'],
    [dark, 'dark'],
  ] as const) {
    expect(frame!.text).toContain(`data-theme="${theme}"`)
    expect(frame!.text).toContain('--brand-head:#102a43')
    expect(frame!.text).toContain(organization.name)
    expect(frame!.headers['content-security-policy']).toMatch(
      /^sandbox allow-same-origin; default-src 'none'; .*frame-ancestors 'self'$/,
    )
  }
  for (const frame of [mail, darkMail]) expect(frame!.headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
  expect([mail!.text.includes('@media not all{'), darkMail!.text.includes('@media all{')]).toEqual([true, true])
  expect(darkMail!.text).toContain('.button{background-color:#ffd400!important}')
  expect((await find()).primaryColor).toBeNull()
})

it('serves a public logo as a picture only, on pages and in mails', async () => {
  const { organization, upload, save, audit, find } = await start()
  await save({})
  expect((await upload(LOGO)).status).toBe(303)
  const page = await (await invite(organization)).open()
  expect(page.text).toMatch(/<img src="[^"]+" alt="" width="128" height="32">/)
  const address = logoIn(page)!
  expect(address).toBe(`/i/brand/${organization.id}/${(await find()).logoHash}`)
  const logo = await service.http().get(address)
  expect([logo.status, logo.body]).toEqual([200, LOGO])
  expect(logo.headers).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  const { key } = await createApiKey(service.system, { organizationId: organization.id, name: 'Mails', mode: 'live' })
  const { id: assessmentId } = await service.make.assessment(organization.id)
  const recipientEmail = `${service.deps.newId()}@example.com`
  const { body } = await service.v1(key).post('/invites').send({ assessmentId, recipientEmail })
  await waitForState(service, { inviteId: body.invite.id }, 'sent')
  const { parsed } = smtp.mails.find(({ envelope }) => envelope.to[0] === recipientEmail)!
  expect(parsed.html).toContain(
    `<img src="${service.site.publicUrl}${address}" alt="${organization.name}" width="240" height="60"`,
  )
  expect(parsed.html).toContain(
    'class="plate" style="padding:10px 14px;border-radius:8px;font-weight:600;background-color:#102a43',
  )
  expect((await audit()).at(-1)!.details).toMatchObject({
    before: { logoHash: null },
    after: { logoHash: (await find()).logoHash },
  })
})

it("omits the brand from mails about a member's own account", async () => {
  const { organization, upload, save, admin } = await start()
  await save({})
  await upload(LOGO)
  const { email } = await service.db.member.findUniqueOrThrow({ where: { id: admin.member.id } })
  await createResetLink(asOperator(service, organization), email, { mails: true })
  const mail = await waitUntil('the mail of the reset', () => smtp.mails.find(({ envelope }) => envelope.to[0] === email))
  expect(mail.parsed.html).not.toMatch(/<img|#ffd400|#102a43/i)
})

it('keeps the address of a replaced or removed logo for sent mails; the same picture keeps its address', async () => {
  const { organization, admin, path, upload, find, audit } = await start()
  await upload(LOGO)
  const first = (await find()).logoHash!
  await upload(png(300, 100))
  expect((await find()).logoHash).not.toBe(first)
  expect((await admin.post(`${path}/logo/remove`)).status).toBe(303)
  expect(await find()).toMatchObject({ logoHash: null, logoWidth: null, logoHeight: null })
  expect((await service.http().get(`/i/brand/${organization.id}/${first}`)).status).toBe(200)
  await upload(LOGO)
  expect([(await find()).logoHash, await service.db.asset.count({ where: { organizationId: organization.id } })]).toEqual([
    first,
    2,
  ])
  expect(await audit()).toHaveLength(4)
})

it.each([
  ['an SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'This file is not a whole PNG or JPEG.'],
  ['HTML called png', Buffer.from('<!doctype html><script>alert(1)</script>'), 'This file is not a whole PNG or JPEG.'],
  ['a GIF', Buffer.from('GIF89a\x10\0\x10\0', 'latin1'), 'This file is not a whole PNG or JPEG.'],
  ['a PNG that is cut off', LOGO.subarray(0, 40), 'This file is not a whole PNG or JPEG.'],
  ['a PNG of 20,000 pixels', png(20_000, 20_000), 'A logo can have at most 1,200 × 600 pixels. Make it smaller first.'],
  ['a picture that is too high', png(100, 601), 'A logo can have at most 1,200 × 600 pixels. Make it smaller first.'],
  ['more than 200 kB', Buffer.alloc(200_001), 'A logo can have at most 200 kB. Make it smaller first.'],
  ['an empty file', Buffer.alloc(0), 'This file is not a whole PNG or JPEG.'],
])('rejects %s as logo, and stores nothing of it', async (_what, file, mistake) => {
  const { organization, upload, find } = await start()
  const answer = await upload(file)
  expect([answer.status, mistakesIn(answer)]).toEqual([422, [mistake]])
  expect([(await find()).logoHash, await service.db.asset.count({ where: { organizationId: organization.id } })]).toEqual([
    null,
    0,
  ])
})

it("answers 404 with a page for another organization's logo", async () => {
  const [one, other] = [await start(), await start()]
  await one.upload(LOGO)
  const hash = (await one.find()).logoHash!
  const ask = async (file: string, id = other.organization.id) => (await service.http().get(`/i/brand/${id}/${file}`)).status
  expect([await ask(hash), await ask('x'), await ask('a.css'), await ask('a.css', 'x'), await ask(hash, 'x')]).toEqual(
    Array(5).fill(404),
  )
  expect(await ask(hash, one.organization.id)).toBe(200)
  // Only its readers can open a question's picture, even if its hash is known.
  const asset = await service.db.asset.findFirstOrThrow({ where: { organizationId: one.organization.id } })
  await service.db.asset.updateMany({ where: { id: asset.id }, data: { kind: 'image' } })
  expect(await ask(hash, one.organization.id)).toBe(404)
})

it('applies the brand to pages of replaced links and of stopped mails', async () => {
  const { organization, save } = await start()
  await save({})
  const made = await service.make.invite(await service.make.assessment(organization.id))
  const replaced = await candidateOf(service, { ...made, linkVersion: made.linkVersion + 1 }).open()
  expect([replaced.status, stylesheetIn(replaced)]).toEqual([404, expect.any(String)])
  const address = new URL(createLinks(service.site).unsubscribeUrl(made.id)).pathname
  expect(stylesheetIn(await service.http().get(address))).toEqual(expect.any(String))
})

it("shows the logo as icon of candidates' pages, as a picture without scripts", async () => {
  const { organization, save, upload } = await start()
  const candidate = await invite(organization)
  const iconIn = ({ text }: { text: string }) => /<link rel="icon" href="([^"]+)">/.exec(text)![1]!
  const ours = iconIn(await candidate.open())
  expect(ours).toMatch(/\/assets\/icon\.[\da-f]+\.svg$/)
  await save({})
  expect(iconIn(await candidate.open())).toBe(ours)
  await upload(LOGO)
  const address = iconIn(await candidate.open())
  expect(address).toMatch(new RegExp(`^/i/brand/${organization.id}/[\\da-f]{64}\\.102a43\\.svg$`))
  const icon = await service.http().get(address)
  expect(icon.headers).toMatchObject({
    'content-type': expect.stringContaining('image/svg+xml'),
    'cache-control': 'public, max-age=31536000, immutable',
    'content-security-policy': "default-src 'none'; img-src data:; sandbox",
    'x-content-type-options': 'nosniff',
  })
  expect(icon.body.toString()).toContain(`href="data:image/png;base64,${LOGO.toString('base64')}"`)
  for (const wrong of [address.replace('102a43', '102a4"'), address.replace(/[\da-f]{64}/, '0'.repeat(64))])
    expect((await service.http().get(wrong)).status).toBe(404)
})

it('states the limit for a file that is too large to read, with a link back to the form', async () => {
  const { upload, path, organization } = await start()
  const huge = Buffer.alloc(10_000_000)
  const answer = await upload(huge).set('referer', `https://assess.test${path}?done=saved`)
  expect([answer.status, answer.text]).toEqual([413, expect.stringContaining('At most 5 MB can be sent here at once.')])
  expect(answer.text).toContain(`<a href="${path}?done=saved">Back to the form</a>`)
  expect(answer.text).toContain(organization.name)
  const elsewhere = { 'sec-fetch-site': 'cross-site', referer: 'https://elsewhere.example/portal/join/elsewhere' }
  for (const headers of [
    ...['https://elsewhere.example/x', 'nonsense', `//${path}`].map((referer) => ({ referer })),
    elsewhere,
  ]) {
    const { text } = await upload(huge).set(headers)
    expect([headers.referer, text.includes('elsewhere'), text.includes('<a href="/portal">Go to the portal</a>')]).toEqual([
      headers.referer,
      false,
      true,
    ])
  }
})
