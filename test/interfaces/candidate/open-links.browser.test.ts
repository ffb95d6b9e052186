import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import {
  desktop,
  expectAccessible,
  heading,
  isBrowserInstalled,
  leaveQuestion,
  looksOf,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../support/browser.ts'
import { NO_REQUIREMENTS } from '../../support/candidate.ts'
import { makeOpenLink } from '../../support/open-links.ts'
import { type Service, startService } from '../../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../../support/smtp.ts'
import { waitUntil } from '../../support/wait-until.ts'

let service: Service
let smtp: SmtpListener
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!isBrowserInstalled) return
  smtp = await startSmtpListener()
  service = await startService({ SMTP_URL: smtp.url })
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
  await smtp?.close()
})

async function openPage(
  path: string,
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ baseURL: origin, viewport: desktop, ...options })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints = watch(page)
  await page.goto(path)
  return { page, complaints }
}

/** Creates an open link to an assessment with one question, and the address of a reader. */
async function advertise() {
  const link = await makeOpenLink(service, { assessment: NO_REQUIREMENTS })
  return { ...link, address: `${crypto.randomUUID()}@example.com` }
}
const mailedLink = (address: string): Promise<string> =>
  waitUntil('the mail', () => {
    const mail = smtp.mails.find(({ envelope }) => envelope.to.includes(address))
    return mail && new URL(/https?:\S+\/open\/begin\/\S+/.exec(mail.parsed.text!)![0]).pathname
  })

async function fillIn(page: Page, address: string): Promise<void> {
  await page.getByLabel('Your name').fill('Amara Duarte')
  await page.getByLabel('Email address').fill(address)
}

it.skipIf(!isBrowserInstalled)(
  'leads a visitor from the advertisement to the end of the assessment (skipped where no chromium is installed)',
  async () => {
    const link = await advertise()
    const { page, complaints } = await openPage(link.path)
    await fillIn(page, link.address)
    await press(page, 'Send me the link')
    await page.getByRole('heading', { name: 'We have sent you a link' }).waitFor()
    // The page's script solved the proof of work, which the content security policy allows.
    expect(await link.registrations()).toMatchObject([{ email: link.address, proof: expect.stringMatching(/^[\da-f]{32}$/) }])

    await page.goto(await mailedLink(link.address))
    await press(page, 'Begin')
    await page.getByText('You have accepted the invitation.').waitFor()
    await press(page, 'I agree')
    await press(page, 'Start')
    await press(page, 'Open question 1')
    await page.getByRole('textbox').fill('Good morning, what can I do for you?')
    await leaveQuestion(page)
    await press(page, 'Finish')
    await page.getByRole('heading', { name: 'You have completed this assessment' }).waitFor()
    expect(complaints).toEqual([])
    expect(await link.invites()).toMatchObject([{ source: 'open', status: 'completed', recipientEmail: link.address }])
  },
)

it.skipIf(!isBrowserInstalled)('works without JavaScript (skipped where no chromium is installed)', async () => {
  const link = await advertise()
  const { page } = await openPage(link.path, { javaScriptEnabled: false, viewport: phone })
  expect(await page.content()).toContain('Without JavaScript, the email may take an hour')
  await fillIn(page, link.address)
  await press(page, 'Send me the link')
  expect(await heading(page)).toBe('We have sent you a link')
  await page.goto(await mailedLink(link.address))
  await press(page, 'This wasn’t me')
  expect(await heading(page)).toBe('Your address is deleted')
  expect(await link.registrations()).toEqual([])
})

it.skipIf(!isBrowserInstalled)(
  'is accessible, and no wider than the window, on each of its pages (skipped where no chromium is installed)',
  async () => {
    const link = await advertise()
    await service.db.organization.update({
      where: { id: link.organization.id },
      data: { languagesOffered: ['en', 'de', 'ar'], replyTo: 'talent@example.com' },
    })
    const check = async (page: Page) => {
      await expectAccessible(page)
      expect([page.url(), await overflow(page)]).toEqual([page.url(), 0])
    }
    for (const [i, look] of [...looksOf(0), ...looksOf(1)].entries()) {
      const address = `${i}.${link.address}`
      const { page } = await openPage(`${link.path}?language=${i === 3 ? 'ar' : 'en'}`, { ...look, javaScriptEnabled: true })
      await check(page)
      if (i === 3) continue
      await page.evaluate(`document.querySelector('form[data-challenge]').noValidate = true`)
      await press(page, 'Send me the link')
      await page.getByRole('heading', { name: 'Please check the following' }).waitFor()
      await check(page)
      await fillIn(page, address)
      await press(page, 'Send me the link')
      await page.getByRole('heading', { name: 'We have sent you a link' }).waitFor()
      await check(page)
      await page.goto(await mailedLink(address))
      await check(page)
    }
    await link.change({ closesAt: service.clock.now() })
    const { page } = await openPage(link.path, { viewport: phone })
    await check(page)
  },
)
