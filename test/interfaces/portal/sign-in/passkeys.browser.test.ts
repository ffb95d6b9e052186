import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  expectAccessible,
  heading,
  isBrowserInstalled,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../../support/browser.ts'
import { codeAt, giveApp } from '../../../support/factors.ts'
import { joinAs, PASSWORD } from '../../../support/portal.ts'
import { startServiceForFile } from '../../../support/service.ts'

const service = await startServiceForFile()
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

type Authenticator = { cdp: CDPSession; id: string }
/** `isInField`: whether the browser offers passkeys in the address field. The virtual authenticator accepts such an offer at once. */
type Options = { isInField?: boolean }

/** Opens a page in a browser with its own authenticator, like a laptop with a fingerprint reader. */
async function openPage(context: BrowserContext, { isInField = false }: Options = {}) {
  const page = await context.newPage()
  if (!isInField) await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false')
  const complaints = watch(page)
  const cdp = await context.newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const options = { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true } as const
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  })
  return { page, complaints, authenticator: { cdp, id } }
}

async function openContext(): Promise<BrowserContext> {
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  return context
}

/** Signs in a new member by password. */
async function signIn(page: Page) {
  const person = await joinAs(service, await service.make.organization())
  await page.goto(`${origin}/portal/sign-in`)
  await page.getByLabel('Email address').fill(person.email)
  await page.getByLabel('Password').fill(PASSWORD)
  await press(page, 'Sign in')
  await page.waitForURL(`${origin}${person.home}`)
  return person
}

async function createPasskey(page: Page, home: string, name = 'Laptop') {
  await page.goto(`${origin}${home}account`)
  await page.getByRole('link', { name: /^Add/ }).click()
  await page.getByRole('link', { name: /^A passkey/ }).click()
  await page.getByLabel('Name').fill(name)
  await press(page, 'Create passkey')
}

const passkeysIn = async ({ cdp, id }: Authenticator) =>
  (await cdp.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials

describe.skipIf(!isBrowserInstalled)('a passkey (skipped where no chromium is installed)', () => {
  it('is created, and signs in without a second step', async () => {
    const context = await openContext()
    const { page, complaints, authenticator } = await openPage(context)
    const { email, home } = await signIn(page)
    await createPasskey(page, home)
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor()
    expect((await page.locator('#codes').textContent())!.trim().split('\n')).toHaveLength(8)
    await expectAccessible(page)
    const download = page.waitForEvent('download')
    await press(page, 'Download')
    expect((await download).suggestedFilename()).toBe('recovery-codes.txt')
    await page.getByRole('link', { name: 'I have saved them' }).click()
    await page.getByText('Laptop').waitFor()
    await press(page, 'Sign out')
    // Uses the button, without the address and without the offer in its field.
    await press(page, 'Sign in with a passkey')
    await page.waitForURL(`${origin}${home}`)
    expect(complaints).toEqual([])
    const proofs = await service.db.sessionAuthentication.findMany({
      where: { session: { credential: { email }, endedAt: null } },
      orderBy: { at: 'desc' },
    })
    expect(proofs.map(({ kind }) => kind)).toEqual(['passkey'])
    expect(await passkeysIn(authenticator)).toHaveLength(1)
  })

  it("is the person's second step after the password, once per device", async () => {
    const context = await openContext()
    const { page } = await openPage(context)
    const { email, home } = await signIn(page)
    await createPasskey(page, home)
    await page.getByRole('link', { name: 'I have saved them' }).click()
    await createPasskey(page, home, 'Again')
    await page.getByText('This device already has a passkey of yours.').waitFor()
    await context.clearCookies()
    await page.goto(`${origin}/portal/sign-in`)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    await page.waitForURL(/second-step/)
    await expectAccessible(page)
    await press(page, 'Use a passkey')
    await page.waitForURL(`${origin}${home}`)
    // Another person with a second factor has no passkey in this browser.
    await context.clearCookies()
    const other = await joinAs(service, await service.make.organization())
    const { id } = await service.db.credential.findFirstOrThrow({ where: { email: other.email } })
    await giveApp(service, id)
    await page.goto(`${origin}/portal/sign-in`)
    await page.getByLabel('Email address').fill(other.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    await page.waitForURL(/second-step/)
    expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
  })

  it('is rejected if it is replayed, from another page, or without user verification', async () => {
    const context = await openContext()
    const { page, authenticator } = await openPage(context)
    const { email, home } = await signIn(page)
    await createPasskey(page, home)
    await page.getByRole('link', { name: 'I have saved them' }).click()
    const answers: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/sign-in/passkey')) answers.push(request.postData()!)
    })
    await press(page, 'Sign out')
    await press(page, 'Sign in with a passkey')
    await page.waitForURL(`${origin}${home}`)
    // Synced passkeys do not count their uses.
    await service.db.secondFactor.updateMany({ where: { credential: { email } }, data: { counter: 0n } })
    const send = (body: string) =>
      service.http().post('/portal/sign-in/passkey').set('sec-fetch-site', 'same-origin').type('form').send(body)
    const refusal = 'The passkey was not accepted. Please try again, or sign in another way.'
    const again = await send(answers[0]!)
    expect([again.status, again.text.includes(refusal)]).toEqual([422, true])
    const answer = JSON.parse(new URLSearchParams(answers[0]).get('answer')!)
    const sent = (response: object) => send(new URLSearchParams({ answer: JSON.stringify({ ...answer, response }) }).toString())
    for (const changed of [{}, { ...answer.response, signature: answer.response.authenticatorData }, null, 'x'])
      expect((await sent(changed as object)).status).toBe(422)
    for (const body of ['', 'answer=x', 'answer=null', 'answer=[]', 'answer={"id":1}'])
      expect((await send(body)).status).toBe(422)
    // The person touches the key, but is not verified.
    await authenticator.cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator.id, isUserVerified: false })
    await press(page, 'Sign out')
    await press(page, 'Sign in with a passkey')
    await page.getByText('No passkey was used.').waitFor()
    expect(await heading(page)).toBe('Sign in')
  })

  it('is renamed and removed, and then no longer signs in', async () => {
    const context = await openContext()
    const { page, complaints } = await openPage(context)
    await page.setViewportSize(phone)
    const { home } = await signIn(page)
    await createPasskey(page, home)
    await page.getByRole('link', { name: 'I have saved them' }).click()
    await page.getByRole('link', { name: 'Change Laptop' }).click()
    await page.getByLabel('Name').fill('Old laptop')
    await press(page, 'Save name')
    await page.getByRole('link', { name: 'Change Old laptop' }).click()
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    await expectAccessible(page)
    await press(page, 'Remove')
    await page.getByText('Only your password protects this account.').waitFor()
    await context.clearCookies()
    await page.goto(`${origin}/portal/sign-in`)
    await press(page, 'Sign in with a passkey')
    await page.getByText('The passkey was not accepted.').first().waitFor()
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it('is offered in the address field by supporting browsers', async () => {
    const context = await openContext()
    const { page, authenticator } = await openPage(context, { isInField: true })
    const { home } = await signIn(page)
    await createPasskey(page, home)
    await page.getByRole('link', { name: 'I have saved them' }).click()
    await press(page, 'Sign out')
    await page.waitForURL(`${origin}${home}`)
    expect(await passkeysIn(authenticator)).toHaveLength(1)
  })
})

describe.skipIf(!isBrowserInstalled)('an app (skipped where no chromium is installed)', () => {
  it.each([true, false])('is set up and requested, with scripts: %s', async (javaScriptEnabled) => {
    const context = await browser.newContext({ javaScriptEnabled })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const { email, home } = await signIn(page)
    await page.goto(`${origin}${home}account`)
    await page.getByRole('link', { name: /^Add/ }).click()
    await page.getByRole('link', { name: /^An authenticator app/ }).click()
    expect(await page.getByRole('img', { name: 'QR code for the authenticator app' }).isVisible()).toBe(true)
    if (javaScriptEnabled) await expectAccessible(page)
    const { id } = await service.db.credential.findFirstOrThrow({ where: { email } })
    const secret = await giveApp(service, id)
    await context.clearCookies()
    await page.goto(`${origin}/portal/sign-in`)
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    await page.waitForURL(/second-step/)
    await page.getByLabel('Code').fill(codeAt(secret, service.clock.now()))
    await press(page, 'Continue')
    await page.waitForURL(`${origin}${home}`)
  })
})
