import { mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { shippedLanguages } from '../../src/locales/languages.ts'
import { desktop, isBrowserInstalled, leaveQuestion, overflow, phone, press, startBrowser, watch } from '../support/browser.ts'
import { linkIn } from '../support/mail.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { runSweep } from '../support/run-sweep.ts'
import { LONG } from '../support/scale.ts'
import { startServiceForTest } from '../support/service.ts'
import { type SmtpListener, startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Folder for numbered screenshots, to be reviewed by hand. Without it, only the long form runs. */
const FOLDER = process.env.FIRST_HOUR ?? (LONG ? path.join(tmpdir(), 'first-hour') : undefined)
const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 80"><rect x="4" y="8" width="64" height="64" rx="18" fill="#ffd400"/><path d="M22 54 36 24l14 30" fill="none" stroke="#102a43" stroke-width="8"/><text x="84" y="54" font-family="sans-serif" font-size="40" font-weight="700" fill="#fff">Nordwind</text></svg>'
const TEXTS = {
  en: [
    'Your next step at {{ organization }}',
    'Dear {{ candidate_name }},\n\nwe look forward to **{{ assessment }}**.\n\n{{ link }}',
  ],
  ar: [
    'خطوتكم التالية لدى {{ organization }}',
    'تحية طيبة {{ candidate_name }}،\n\nيسعدنا أن تشاركوا في **{{ assessment }}**.\n\n{{ link }}',
  ],
} as const
const NAME = 'ليلى الخطيب'
const t = shippedLanguages.candidate('ar', 'UTC')
const HOUR_MS = 3_600_000

/** Opens a browser window that must show no errors. Each step saves a screenshot. */
async function openWindow(browser: Browser, viewport: typeof desktop, baseURL: string | undefined, count: () => number) {
  const context = await browser.newContext({ viewport, colorScheme: 'light', ...(baseURL !== undefined && { baseURL }) })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const complaints = watch(page)
  const step = async (name: string) => {
    expect([name, await overflow(page), complaints]).toEqual([name, 0, []])
    // Browsers draw frames only in the visible part.
    const height = (await page.evaluate('document.documentElement.scrollHeight')) as number
    await page.setViewportSize({ width: viewport.width, height: Math.max(height, viewport.height) })
    await page.screenshot({ path: path.join(FOLDER!, `${String(count()).padStart(2, '0')}-${name}.png`) })
    await page.setViewportSize(viewport)
  }
  return { page, step }
}
type Step = (name: string) => Promise<void>

it.runIf(FOLDER && isBrowserInstalled)(
  'supports an organization’s first hour: brand and texts in two languages, and an Arabic candidate on a phone',
  async () => {
    await mkdir(FOLDER!, { recursive: true })
    const smtp = await startSmtpListener()
    onTestFinished(() => smtp.close())
    const service = await startServiceForTest({ SMTP_URL: smtp.url, MAIL_FROM: 'Assessments <assessments@example.org>' })
    const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    const organization = { ...(await service.make.organization()), name: 'Nordwind' }
    await service.db.organization.update({ where: { id: organization.id }, data: { name: organization.name } })
    const { email, home } = await joinAs(service, organization, { email: 'ada@nordwind.example' })
    const assessment = await service.make.assessment(organization.id, { name: 'Customer support' })
    await service.make.question(assessment, {
      inputType: 'text',
      script: 'A customer writes that the parcel never came. What do you answer?',
    })
    const browser = await startBrowser()
    onTestFinished(() => browser.close())
    let steps = 0
    const { page, step } = await openWindow(browser, desktop, origin, () => ++steps)
    const open = async (address: string) => {
      await page.goto(`${home}${address}`)
    }
    const signIn = async () => {
      await page.goto('/portal')
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await press(page, 'Sign in')
      await page.getByRole('navigation', { name: 'Portal' }).waitFor()
    }
    await signIn()

    await open('settings/brand')
    await step('colors-empty')
    await page.getByLabel('Buttons and links', { exact: true }).fill('#d9480f')
    await page.getByLabel('Background of the header', { exact: true }).fill('#102a43')
    await press(page, 'Save')
    await page.getByText('Saved. Pages and emails use it from now on.').waitFor()
    await page.getByLabel('Picture').setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(LOGO) })
    await page.getByText(/It will be uploaded as a PNG/).waitFor()
    await press(page, 'Add the logo')
    await page.getByRole('button', { name: 'Remove the logo' }).waitFor()
    await step('colors-and-logo')

    await open('settings/words?language=ar')
    await step('words-not-offered')
    await open('settings/languages')
    await page.getByLabel('العربية').check()
    await press(page, 'Save')
    await page.getByText('The settings are saved.').waitFor()
    await step('languages')
    for (const [language, [subject, body]] of Object.entries(TEXTS)) {
      await open(`settings/words?language=${language}`)
      await page.getByLabel('Subject').fill(subject)
      await page.getByLabel('Text', { exact: true }).fill(body)
      await page.getByLabel('For a candidate with').selectOption(language === 'ar' ? 'arabic' : 'plain')
      await press(page, 'Preview')
      for (const frame of ['wide', 'narrow'])
        await page.frameLocator(`iframe[name=${frame}]`).getByText(body.split(/[ ،]/)[0]!).first().waitFor()
      await step(`words-${language}-previewed`)
      await press(page, 'Save')
      await page.getByText('The text is saved.').waitFor()
    }
    await open('settings/reminders')
    await page.getByLabel('Remind candidates').check()
    const reminder = page.getByRole('group', { name: 'Reminder 1' }).first()
    await reminder.getByRole('combobox').selectOption('sent')
    await reminder.getByLabel('Hours').fill('48')
    await reminder.getByLabel('have accepted, but not started').check()
    await step('reminder')
    await press(page, 'Save reminders')
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.getByLabel('Receipt when the candidate submits').check()
    await press(page, 'Save notices')
    await page.getByText('Saved.', { exact: true }).waitFor()

    await open('invites/new')
    await page.getByLabel('Email address').fill('layla@example.com')
    await page.getByLabel('Name', { exact: true }).fill(NAME)
    await page.getByLabel('Assessment').selectOption('Customer support')
    await page.getByLabel('Language').selectOption('ar')
    await step('invite')
    await press(page, 'Invite')
    await page.getByRole('heading', { level: 1, name: NAME }).waitFor()

    const candidate = await openWindow(browser, phone, origin, () => ++steps)
    const post = await openWindow(browser, phone, undefined, () => ++steps)
    // The mails name another host than the one that listens here.
    await post.page.route('**/i/brand/**', async (route) =>
      route.fulfill({ response: await route.fetch({ url: origin + new URL(route.request().url()).pathname }) }),
    )
    const invitation = await readMail(smtp, 'خطوتكم', post, 'invitation-mail')
    const link = linkIn(invitation)
    await candidate.page.goto(link)
    await candidate.page.getByRole('button', { name: t.text('invitation.accept') }).waitFor()
    await candidate.step('invitation')
    await press(candidate.page, t.text('invitation.accept'))
    await candidate.page.getByRole('button', { name: t.text('consent.agree') }).waitFor()
    await candidate.step('accepted')

    // Two days later, at noon in the organization's time zone, on a working day.
    const due = new Date(service.clock.now().getTime() + 50 * HOUR_MS)
    due.setUTCHours(12)
    while ([0, 6].includes(due.getUTCDay())) due.setUTCDate(due.getUTCDate() + 1)
    service.clock.set(due)
    for (let i = 0; i < 3; i++) await runSweep(service, ['queue_reminders'])
    const reminded = await readMail(smtp, null, post, 'reminder-mail', 2)
    expect(linkIn(reminded)).toBe(link)
    await signIn() // the session has expired meanwhile
    await open('invites')
    await page.getByRole('link', { name: NAME }).first().click()
    await step('reminded')

    await takeIt(candidate.page, candidate.step, link)
    await readMail(smtp, null, post, 'receipt-mail', 3)
    for (let i = 0; i < 2; i++) await runSweep(service, ['queue_reminders'])
    const kinds = await service.db.inviteEmail.findMany({ where: { organizationId: organization.id }, orderBy: { id: 'asc' } })
    expect(kinds.map(({ kind, language, state }) => [kind, language, state])).toEqual([
      ['invitation', 'ar', 'sent'],
      ['not_started', 'ar', 'sent'],
      ['submitted', 'ar', 'sent'],
    ])
  },
)

/** Shows the n-th mail to the candidate on a phone. */
async function readMail(
  smtp: SmtpListener,
  subject: string | null,
  { page, step }: { page: Page; step: Step },
  name: string,
  n = 1,
) {
  const to = () => smtp.mails.filter(({ envelope }) => envelope.to[0] === 'layla@example.com')[n - 1]
  const mail = await waitUntil(name, async () => to())
  if (subject !== null) expect(mail.parsed.subject).toContain(subject)
  await page.setContent(mail.parsed.html!)
  await step(name)
  return mail
}

async function takeIt(page: Page, step: Step, link: string): Promise<void> {
  await page.goto(link)
  await press(page, t.text('consent.agree'))
  await press(page, t.text('prepare.start'))
  await step('started')
  await press(page, t.text('question.open', { number: 1 }))
  await page.getByRole('textbox').fill('أعتذر لكم، وسأتحقق فورًا من مكان الطرد.')
  await step('question')
  await leaveQuestion(page)
  await press(page, t.text('end.finish'))
  await page.getByText(t.text('completed.heading')).waitFor()
  await step('handed-in')
}
