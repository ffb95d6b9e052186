import type { BrowserContext, Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { isBrowserInstalled, leaveQuestion, press, startBrowser } from '../support/browser.ts'
import { linkIn } from '../support/mail.ts'
import { signInAs } from '../support/portal.ts'
import { scaled } from '../support/scale.ts'
import { type Service, startServiceForTest } from '../support/service.ts'
import { startSmtpListener } from '../support/smtp.ts'
import { waitUntil } from '../support/wait-until.ts'

const REMARK = 'Speaks clearly, takes the caller’s side, and says what happens next — word for word.'

/** Starts the service, a browser, and a mail server that stores its mails. */
async function start() {
  const smtp = await startSmtpListener()
  onTestFinished(() => smtp.close())
  const service = await startServiceForTest({ SMTP_URL: smtp.url })
  const origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  const browser = await startBrowser('--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream')
  onTestFinished(() => browser.close())
  const openContext = async () => browser.newContext()
  return { smtp, service, origin, openContext }
}

/** Takes the assessment, from the mailed link to the submission. Its only question is answered by audio. */
async function takeAssessment(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await press(page, 'Accept the invitation')
  await press(page, 'I agree')
  await page.getByRole('button', { name: /^Try your / }).click()
  await press(page, 'Record three seconds')
  await page.getByText('Play it back').waitFor()
  await press(page, 'Start')
  await press(page, 'Open question 1')
  await press(page, 'Record audio')
  await page.getByText(/Saved up to 0:(0[2-9]|[1-5]\d)/).waitFor()
  await press(page, 'Stop recording')
  await page.getByLabel('Your recording').evaluate((player) => (player as unknown as { play: () => Promise<void> }).play())
  await page.getByText(/^Saved: /).waitFor()
  await leaveQuestion(page)
  await press(page, 'Finish')
  await page.getByText('You have completed this assessment').waitFor()
}

async function signInGrader(service: Service, organizationId: string, context: BrowserContext, origin: string) {
  const grader = await signInAs(service, organizationId, ['grader'])
  const [name, value] = grader.cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
  return grader
}

/** Grades the only answer, and loses the connection while typing the comment. */
async function grade(page: Page): Promise<void> {
  await page.getByLabel('Points, of 5').fill('4.5')
  await page.locator('#saved-1', { hasText: 'Saved.' }).waitFor()
  await page.context().setOffline(true)
  const comment = page.getByLabel('Comment')
  const half = REMARK.length / 2
  await comment.pressSequentially(REMARK.slice(0, half))
  await page.locator('#saved-1', { hasText: 'No connection: not saved yet.' }).waitFor()
  await page.waitForTimeout(scaled(0, 60_000))
  await comment.pressSequentially(REMARK.slice(half))
  await page.context().setOffline(false)
  await page.locator('#saved-1', { hasText: 'Saved.' }).waitFor()
}

it.skipIf(!isBrowserInstalled)(
  'leads from an invite over the API to a result for the API and the candidate (skipped where no chromium is installed)',
  async () => {
    const { smtp, service, origin, openContext } = await start()
    const organization = await service.make.organization()
    const assessment = await service.make.assessment(organization.id, { name: 'Customer support' })
    await service.make.question(assessment, { script: 'A caller is angry.', responseType: 'audio', points: 5 })
    const api = service.v1(organization.key)
    const proctoringSettings = { screenRecording: false, webcamMonitoring: false, requireIdCapture: false }
    const invited = await api
      .post('/invites')
      .send({ assessmentId: assessment.id, recipientEmail: 'sam@example.com', recipientName: 'Sam', proctoringSettings })
    expect(invited.status).toBe(201)
    const [mail] = await smtp.waitFor(1)
    const candidate = await (await openContext()).newPage()
    await takeAssessment(candidate, origin + linkIn(mail!))

    const context = await openContext()
    const grader = await signInGrader(service, organization.id, context, origin)
    const page = await context.newPage()
    await page.goto(`${origin}${grader.home}grading?queue=nobody`)
    await page.getByRole('link', { name: 'Sam' }).click()
    await waitUntil('the recording to be ready', () =>
      service.db.mediaFile
        .findFirst({ where: { organizationId: organization.id, state: 'ready' } })
        .then((found) => found ?? undefined),
    )
    await page.reload()
    await page.locator('audio').waitFor()
    await grade(page)
    const [kept] = await service.db.grade.findMany({ where: { organizationId: organization.id } })
    expect([Number(kept?.points), kept?.comment]).toEqual([4.5, REMARK])
    const submission = () => api.get(`/invites/${invited.body.invite.id}/submission`)
    expect((await submission()).body).toMatchObject({ state: 'submitted', result: null, questions: [{ grade: null }] })

    await page.getByRole('link', { name: 'Release result' }).first().click()
    await page.getByLabel('Message to the candidate', { exact: true }).fill('Well done, Sam')
    await page.getByLabel('Show the points and the message to the candidate').check()
    await press(page, 'Release result')
    await page.getByText('The result is released.', { exact: true }).waitFor()
    expect((await submission()).body).toMatchObject({
      state: 'released',
      result: { points: 4.5, ofPoints: 5, percent: 90, message: 'Well done, Sam' },
      questions: [{ answer: { kind: 'audio' }, grade: { points: 4.5, comment: REMARK } }],
    })
    await candidate.goto(origin + linkIn(mail!))
    await candidate.locator('strong', { hasText: '4.5 of 5 points' }).first().waitFor()
    await candidate.getByText('Well done, Sam').waitFor()
  },
)
