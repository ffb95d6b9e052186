import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  desktop,
  expectAccessible,
  isBrowserInstalled,
  overflow,
  phone,
  press,
  startBrowser,
  watch,
} from '../../support/browser.ts'
import { consent } from '../../support/candidate.ts'
import { signInAs } from '../../support/portal.ts'
import { LONG } from '../../support/scale.ts'
import { type Service, startService } from '../../support/service.ts'
import { makePool, makeSectioned } from '../../support/structure.ts'
import { PATIENT } from '../../support/wait-until.ts'

const shows = LONG && isBrowserInstalled

let service: Service
let browser: Browser
let origin: string
beforeAll(async () => {
  if (!shows) return
  service = await startService()
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await service?.close()
})

const SCREENSHOTS = process.env.SCREENSHOTS
const shoot = async (page: Page, name: string) => {
  if (!SCREENSHOTS) return
  const { width } = page.viewportSize()!
  await page.screenshot({ path: `${SCREENSHOTS}/${name}-${width}.png`, fullPage: true })
}

/** @param cookie session cookie of a signed-in member. */
async function openPage(viewport: typeof desktop, cookie?: string): Promise<Page> {
  const context = await browser.newContext({ viewport })
  onTestFinished(() => context.close())
  const [name, value] = cookie?.split('=') ?? []
  if (name && value) await context.addCookies([{ name, value, url: origin }])
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENT.timeout)
  return page
}

async function expectFit(page: Page, name: string): Promise<void> {
  await shoot(page, name)
  expect(await overflow(page)).toBe(0)
  await expectAccessible(page)
}

const SECTIONS = [
  {
    name: 'Reading',
    intro: 'Read **each** text before you answer:\n\n- slowly\n- twice',
    timeLimit: 900,
    navigation: 'free',
    questions: [{}, {}, {}],
  },
  { name: 'Writing', shuffle: true, questions: [{ points: 5 }, { points: 5 }, { points: 5 }] },
]

describe.skipIf(!shows)('sections in a browser (long form)', () => {
  it.each([desktop, phone])('lets a candidate go back and forth, offline too, $width pixels wide', async (viewport) => {
    const made = await makeSectioned(service, SECTIONS)
    await consent(made.candidate)
    await made.candidate.press('start')
    const page = await openPage(viewport)
    const reports = watch(page)
    await page.goto(origin + made.candidate.path)
    await page.getByRole('heading', { name: 'Reading' }).waitFor()
    await expectFit(page, 'section')
    await press(page, 'Open section 1')
    await page.getByText('Question 1 of 6').waitFor()
    await page.getByLabel('Your answer').fill('One')
    await expectFit(page, 'free-question')
    await press(page, 'Next question')
    await page.getByText('Question 2 of 6').waitFor()
    // The page does not ask about an unanswered question, because the candidate can come back.
    await press(page, 'Mark for later')
    await page.getByRole('button', { name: 'Remove the mark' }).waitFor()
    await press(page, 'Previous question')
    await page.getByText('Question 1 of 6').waitFor()
    expect(await page.getByLabel('Your answer').inputValue()).toBe('One')
    await press(page, 'All questions')
    await page.getByText('2 questions have no answer.').waitFor()
    await expect.poll(() => page.locator('[data-clock]').textContent()).toMatch(/Time left for this section: 1[45]:/)
    await expectFit(page, 'overview')
    await page.getByRole('button', { name: 'Question 3' }).click()
    await page.getByText('Question 3 of 6').waitFor()
    await page.context().setOffline(true)
    await page.getByLabel('Your answer').fill('Typed offline')
    await press(page, 'All questions')
    await page
      .getByText('Your answer could not be saved')
      .or(page.locator('[data-not-sent]'))
      .or(page.getByText('not saved'))
      .first()
      .waitFor()
    await page.context().setOffline(false)
    await page.getByText('1 question has no answer.').waitFor()
    await press(page, 'Finish section 1')
    await page.getByRole('heading', { name: 'Writing' }).waitFor()
    expect(await made.texts()).toEqual(['One', 'Typed offline'])
    expect(reports.filter((report) => !report.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([])
  })

  it.each([desktop, phone])(
    'shows the structure, and moves a question to another section by keys, $width pixels wide',
    async (viewport) => {
      const made = await makeSectioned(service, SECTIONS)
      await makePool(service, made.questions.slice(3), { name: 'Letters', draw: 2 })
      const { cookie, home } = await signInAs(service, made.organization.id, ['admin'])
      const page = await openPage(viewport, cookie()!)
      await page.goto(`${origin}${home}assessments/${made.assessment.id}`)
      await page.locator('[data-section]').first().waitFor()
      await expectFit(page, 'structure')
      const handle = page.locator('[data-question]').nth(2).locator('[data-handle]')
      await handle.focus()
      await page.keyboard.press('ArrowDown')
      const where = { id: made.questions[2]!.id }
      await expect
        .poll(async () => (await service.db.question.findUniqueOrThrow({ where })).sectionId, PATIENT)
        .toBe(made.sectionIds[1])
      await page.reload()
      const third = page.locator('[data-question]').nth(2)
      await third.locator('summary').click()
      await shoot(page, 'menu')
      await third.getByLabel('Section').selectOption('Reading')
      await third.getByRole('button', { name: 'Move to section' }).click()
      await page.getByText('The question is moved.').waitFor()
      expect((await service.db.question.findUniqueOrThrow({ where })).sectionId).toBe(made.sectionIds[0])
      await page.goto(`${origin}${home}assessments/${made.assessment.id}/sections/${made.sectionIds[0]}`)
      await expectFit(page, 'edit-section')
      await page.goto(`${origin}${home}assessments/${made.assessment.id}/pools/new`)
      await expectFit(page, 'new-pool')
    },
  )
})
