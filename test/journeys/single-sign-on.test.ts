import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  desktop,
  expectAccessible,
  heading,
  isBrowserInstalled,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../support/browser.ts'
import { codeAt, enrolApp } from '../support/factors.ts'
import { CLIENT, startIdp } from '../support/idp.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { startServiceForFile } from '../support/service.ts'
import { answerTextRecords, IDP_ON_LOOPBACK } from '../support/sso.ts'

const service = await startServiceForFile(IDP_ON_LOOPBACK)
const { clock, db } = service
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  const { port } = new URL(await service.app.listen({ port: 0, host: '127.0.0.1' }))
  origin = `http://localhost:${port}`
  service.site.publicUrl = origin
  browser = await startBrowser()
})
afterAll(() => browser?.close())

async function openPage(): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  return { page, complaints: watch(page) }
}

async function signIn(page: Page, email: string): Promise<void> {
  await page.goto(`${origin}/portal/sign-in`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign in')
}

/** Checks the page for accessibility and overflow in both sizes. SHOTS names a folder for screenshots. */
async function look(page: Page): Promise<void> {
  for (const size of [desktop, phone]) {
    await page.setViewportSize(size)
    expect(await overflow(page)).toBe(0)
    await expectAccessible(page)
    const { SHOTS } = process.env
    if (SHOTS)
      await page.screenshot({ path: `${SHOTS}/${(await heading(page))!.replace(/\W+/g, '-')}-${size.width}.png`, fullPage: true })
  }
  await page.setViewportSize(desktop)
}

describe.skipIf(!isBrowserInstalled)('single sign-on (skipped where no chromium is installed)', () => {
  it('is set up, tested, and required by an owner; a colleague joins by it, and old passwords work only elsewhere', async () => {
    const organization = await service.make.organization()
    const elsewhere = await service.make.organization()
    const domain = `browser-${service.deps.newId().slice(-6)}.example`
    const owner = await joinAs(service, organization, { email: `ada@${domain}` })
    const { secret } = await enrolApp(owner, clock.now)
    const old = { email: `alan@${domain}` }
    await joinAs(service, elsewhere, old)
    await joinAs(service, elsewhere, { email: `other@${domain}` })
    const member = await service.make.member(organization.id, { ...old, roles: ['grader'] })
    const { id: credentialId } = await db.credential.findFirstOrThrow({ where: old })
    await db.member.update({ where: { id: member.id }, data: { credentialId } })
    clock.advance(60_000)

    const { page, complaints } = await openPage()
    await signIn(page, owner.email)
    await page.getByLabel('Code').fill(codeAt(secret, clock.now()))
    await press(page, 'Continue')
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    await page.goto(`${origin}${owner.home}settings/sign-in`)
    await page.getByRole('link', { name: 'Set up single sign-on' }).click()
    await page.getByLabel('Name').fill('Acme Login')
    await page.getByLabel('Issuer').fill('http://127.0.0.1:9999')
    await page.getByLabel('Client ID').fill(CLIENT.clientId)
    await page.getByLabel('Client secret').fill(CLIENT.clientSecret)
    await page.getByLabel('Make everybody a member').check()
    await press(page, 'Save')
    const redirectUri = (await page.locator('#callback').textContent())!
    const idp = await startIdp({ now: clock.now, redirectUri })
    await page.getByLabel('Issuer').fill(idp.issuer)
    await press(page, 'Save')
    idp.person = { sub: 'ada', email: owner.email, email_verified: true, given_name: 'Ada', family_name: 'Lovelace' }
    await page.getByRole('link', { name: 'Try it' }).click()
    expect(await heading(page)).toBe('It works')
    await page.getByRole('link', { name: 'Back to the settings' }).click()

    answerTextRecords(service)
    await page.goto(`${origin}${owner.home}settings/sign-in`)
    await page.getByLabel('Add a domain').fill(domain)
    await press(page, 'Add domain')
    await press(page, `Verify ${domain}`)
    await press(page, 'Require single sign-on')
    await page.getByText('Somebody must be able to sign in when the identity provider fails').waitFor()
    await page.getByLabel('Email address').fill(owner.email)
    await page.getByLabel('As', { exact: true }).selectOption('Owner with emergency access')
    await press(page, 'Add')
    await look(page)
    await press(page, 'Require single sign-on')
    await page.getByText('Single sign-on is now required.').waitFor()
    await look(page)
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])

    const colleague = await openPage()
    idp.person = { sub: 'grace', email: `grace@${domain}`, given_name: 'Grace', family_name: 'Hopper' }
    await colleague.page.goto(`${origin}/portal/sign-in`)
    await colleague.page.getByLabel('Email address').fill(`grace@${domain}`)
    await press(colleague.page, 'Sign in with your organization')
    await colleague.page.getByRole('link', { name: /Continue to Acme Login/ }).click()
    await colleague.page.waitForURL(`${origin}${owner.home}`)
    const { roles } = await db.member.findFirstOrThrow({ where: { email: `grace@${domain}` } })
    expect(roles).toEqual(['grader'])
    expect(colleague.complaints).toEqual([])

    const second = await openPage()
    await signIn(second.page, old.email)
    await second.page.goto(`${origin}${owner.home}`)
    expect(await heading(second.page)).toBe('Sign in with your organization')
    await look(second.page)
    await second.page.goto(`${origin}/portal/${elsewhere.id}/`)
    expect(new URL(second.page.url()).pathname).toBe(`/portal/${elsewhere.id}/`)
    idp.person = { sub: 'alan', email: old.email }
    await second.page.goto(`${origin}${owner.home}`)
    await second.page.getByRole('link', { name: /Continue to Acme Login/ }).click()
    await second.page.waitForURL(`${origin}${owner.home}`)
    expect(await heading(second.page)).not.toBe('Sign in with your organization')
  })
})
