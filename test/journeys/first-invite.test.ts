import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { mailboxPath } from '../../src/interfaces/mailbox/access.ts'
import { desktop, goTo, isBrowserInstalled, leaveQuestion, overflow, press, startBrowser, watch } from '../support/browser.ts'
import { joinAs, PASSWORD } from '../support/portal.ts'
import { startServiceForTest } from '../support/service.ts'
import { waitUntil } from '../support/wait-until.ts'

/** Folder for numbered screenshots. None are taken if it is unset. */
const FOLDER = process.env.FIVE_MINUTES
const QUESTION = 'A customer writes that the parcel never came. What do you answer?'

/** Opens a browser window that must show no errors. Each step saves a screenshot. */
async function openWindow(origin: string, count: () => number) {
  const browser = await startBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage({ viewport: desktop, baseURL: origin, colorScheme: 'light' })
  const complaints = watch(page)
  const step = async (name: string) => {
    expect([page.url(), await overflow(page), complaints]).toEqual([page.url(), 0, []])
    if (FOLDER) await page.screenshot({ path: path.join(FOLDER, `${String(count()).padStart(2, '0')}-${name}.png`) })
  }
  return { page, step }
}

const follow = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name, exact: true }).first().click()

it.skipIf(!isBrowserInstalled)(
  'guides a new user from sign-in to a released result, by the texts of the pages (skipped where no chromium is installed)',
  async () => {
    if (FOLDER) await mkdir(FOLDER, { recursive: true })
    const service = await startServiceForTest()
    const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
    const organization = await service.make.organization()
    const { email } = await joinAs(service, organization)
    let steps = 0
    const { page, step } = await openWindow(origin, () => ++steps)

    await page.goto('/portal')
    await step('sign-in')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await press(page, 'Sign in')
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await step('first-steps')

    await follow(page, 'Create an assessment')
    await page.getByLabel('Name', { exact: true }).fill('Customer support')
    await step('new-assessment')
    await press(page, 'Create assessment')
    await page.getByText('The assessment is created.').waitFor()
    await follow(page, 'Add a question')
    await follow(page, 'Text')
    await page.getByLabel('Text', { exact: true }).fill(QUESTION)
    await page.getByLabel('Points').fill('5')
    await step('new-question')
    await press(page, 'Add question')
    await page.getByRole('main').getByText(QUESTION).first().waitFor()
    await step('assessment')

    await follow(page, 'Invite a candidate')
    await page.getByLabel('Email address').fill('sam@example.com')
    await page.getByLabel('Name', { exact: true }).fill('Sam Rivera')
    await step('new-invite')
    await press(page, 'Invite')
    await page.getByRole('heading', { level: 1, name: 'Sam Rivera' }).waitFor()
    await step('invite')

    const candidate = await openWindow(origin, () => ++steps)
    await takeAssessment(candidate.page, mailboxPath(service.site.secretKeys), candidate.step)

    await goTo(page, 'Grading')
    await page.getByRole('link', { name: 'No grader yet' }).click()
    await step('grading')
    await page.getByRole('link', { name: 'Sam Rivera' }).click()
    await page.getByLabel('Points, of 5').fill('4.5')
    await page.locator('#saved-1', { hasText: 'Saved.' }).waitFor()
    await step('sheet')
    await page.getByRole('link', { name: 'Release result' }).first().click()
    await page.getByLabel('Message to the candidate', { exact: true }).fill('Thank you, Sam. We will call you.')
    await page.getByLabel('Show the points and the message to the candidate').check()
    await step('release')
    await press(page, 'Release result')
    await page.getByText('The result is released.', { exact: true }).waitFor()
    await step('released')

    await candidate.page.reload()
    await candidate.page.getByText('Thank you, Sam. We will call you.').waitFor()
    await candidate.step('candidate-sees-result')
  },
)

/** Takes the assessment, from the mail to the submission. */
async function takeAssessment(page: Page, mailbox: string, step: (name: string) => Promise<void>): Promise<void> {
  const mail = page.getByRole('link', { name: /Customer support/ })
  await waitUntil('the mail', async () => {
    await page.goto(mailbox)
    return (await mail.count()) > 0 ? true : undefined
  })
  await mail.first().click()
  await step('mail')
  // The mails name another host than the one that listens here.
  const link = await page.frameLocator('iframe').getByRole('link').first().getAttribute('href')
  await page.goto(new URL(link!).pathname)
  await page.getByRole('button', { name: 'Accept the invitation' }).waitFor()
  await step('invitation')
  await press(page, 'Accept the invitation')
  await press(page, 'I agree')
  await press(page, 'Start')
  await press(page, 'Open question 1')
  await page.getByLabel('Your answer').fill('I am sorry. I look at once where it is, and write to you within the hour.')
  await step('question')
  await leaveQuestion(page)
  await press(page, 'Finish')
  await page.getByText('You have completed this assessment').waitFor()
  await step('handed-in')
}
