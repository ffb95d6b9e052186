import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isBrowserInstalled, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { asMember, makeSubmitted } from '../../../support/grading.ts'
import { signInAs } from '../../../support/portal.ts'
import { waitUntil } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Opens the grading view in the browser of its grader. Other members can open it in their own browsers. */
async function setUp() {
  const made = await makeSubmitted(service)
  const { organization, submissionId } = made
  const join = async (role: string) => {
    const person = await signInAs(service, organization.id, [role])
    const context = await browser.newContext()
    onTestFinished(() => context.close())
    const [name, value] = person.cookie()!.split('=') as [string, string]
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Lax' }])
    return { ...person, context, open: () => openSheet(context, `${origin}${person.home}grading/${submissionId}`) }
  }
  const grader = await join('grader')
  await made.assign(grader.member.id)
  service.clock.advance(1_000) // grades must be newer than the submission
  const newest = async () => (await made.grades()).at(-1)
  return {
    ...made,
    join,
    grader,
    /** Context of the grader, for changes from elsewhere. */
    ctx: asMember(service, organization, grader.member),
    page: await grader.open(),
    /** Waits until the newest grade has this comment. */
    saved: (comment: string) =>
      waitUntil(`“${comment}” to be saved`, async () => ((await newest())?.comment === comment ? await newest() : undefined)),
  }
}

async function openSheet(context: BrowserContext, address: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(address)
  await page.locator('#saved-1').waitFor()
  return page
}

const comment = (page: Page, number = 1) => page.locator(`#comment-${number}`)
const points = (page: Page, number = 1) => page.locator(`#points-${number}`)
/** Waits for the message below question 1. */
const says = (page: Page, text: string) => page.locator('#saved-1', { hasText: text }).waitFor()
const choose = (page: Page, name: string) => page.getByRole('button', { name }).click()

describe.skipIf(!isBrowserInstalled)('the grading view in a browser (skipped where no chromium is installed)', () => {
  it('saves while typing, shows mistakes, and shows the new total and the release button', async () => {
    const { page, saved } = await setUp()
    const complaints = watch(page)
    await comment(page).fill('Well argued')
    await saved('Well argued')
    await says(page, 'Saved.')
    await points(page).fill('7')
    await says(page, 'Not saved: The points must be between 0 and 5')
    await points(page).fill('4,5')
    await says(page, 'Saved.')
    await points(page, 2).fill('3')
    await page.getByText('7.5 of 8', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Release result' }).first().waitFor()
    expect(complaints.filter((text) => !text.includes('422'))).toEqual([])
  })

  it('keeps unsent grades after the page is closed, and sends them from the next one', async () => {
    const { page, grader, saved } = await setUp()
    await page.route('**/save', (route) => route.abort())
    await comment(page).fill('Not there yet')
    await says(page, 'No connection: not saved yet. What you have typed is kept in this browser.')
    await page.close({ runBeforeUnload: true })
    const next = await grader.open()
    expect(await comment(next).inputValue()).toBe('Not there yet')
    await saved('Not there yet')
    await says(next, 'Saved.')
  })

  it('continues if a response was lost but the grade arrived', async () => {
    const { page, saved } = await setUp()
    let isLost = false
    await page.route('**/save', async (route) => {
      if (isLost) return route.continue()
      isLost = true
      await route.fetch()
      await route.abort()
    })
    await comment(page).fill('First')
    await waitUntil('the answer to be lost', () => isLost || undefined)
    await comment(page).fill('First, and second')
    await saved('First, and second')
    await says(page, 'Saved.')
  })

  it('asks before an older draft replaces a newer grade of another window', async () => {
    const { page, grader, saved, grades } = await withNewerGrade()
    await page.reload()
    await says(page, 'Not saved.')
    await page.getByText('You have since graded this question in another window: no points, “Newer”').waitFor()
    expect(await comment(page).inputValue()).toBe('Older')
    expect((await grades()).at(-1)?.comment).toBe('Newer')
    await choose(page, 'Keep what is typed here')
    await saved('Older')
    const other = await grader.open()
    expect(await comment(other).inputValue()).toBe('Older')
  })

  it('uses the newer grade of another window if chosen', async () => {
    const { page, grades } = await withNewerGrade()
    await choose(page, 'Use that grade')
    await says(page, 'Saved.')
    expect(await comment(page).inputValue()).toBe('Newer')
    expect((await grades()).map((grade) => grade.comment)).toEqual(['Newer'])
    await page.reload()
    expect(await comment(page).inputValue()).toBe('Newer')
  })

  /** Types a comment offline, while another window saves a grade. */
  async function withNewerGrade() {
    const made = await setUp()
    const { page, ctx, grade } = made
    await page.route('**/save', (route) => route.abort())
    await comment(page).fill('Older')
    await says(page, 'No connection')
    service.clock.advance(1_000)
    await grade(ctx, 1, null, { comment: 'Newer' })
    await page.unroute('**/save')
    await page.getByText('You have since graded this question in another window').waitFor()
    return made
  }

  it("shows each of two graders the other's presence and grades, and keeps both grades", async () => {
    const { page, join, grades } = await setUp()
    const admin = await join('admin')
    const theirs = await admin.open()
    await theirs.getByText('has this submission open, too').waitFor()
    await comment(page).fill('Of the grader')
    await says(page, 'Saved.')
    service.clock.advance(1_000)
    await comment(theirs).fill('Of the admin')
    await theirs.locator('#saved-1', { hasText: 'graded it meanwhile, too: both grades are kept.' }).waitFor()
    await theirs.getByText('Grades so far: 2').waitFor()
    expect((await grades()).map((grade) => grade.comment).sort()).toEqual(['Of the admin', 'Of the grader'])
  })

  it('reports that its grader is signed out or the result is released, and keeps the typed text', async () => {
    const { page, grader, ctx, grade, release } = await setUp()
    const cookies = await grader.context.cookies()
    await grader.context.clearCookies()
    await comment(page).fill('Typed late')
    await says(page, 'Not saved: you are signed out. What you have typed is kept in this browser')
    await grader.context.addCookies(cookies)
    await grade(ctx, 1, 1)
    await grade(ctx, 2, 1)
    await release(ctx)
    await comment(page, 2).fill('Too late')
    await page.locator('#saved-2', { hasText: 'Not saved: The result is released.' }).waitFor()
    await page.reload()
    await page.getByText('To change the result, reopen it').waitFor()
    const kept = await page.evaluate('Object.values(localStorage).join()')
    expect(kept).toContain('Typed late')
    expect(kept).toContain('Too late')
  })

  it('has keyboard shortcuts, which can be disabled and pause while typing', async () => {
    const { page, saved } = await setUp()
    const focused = () => page.evaluate('document.activeElement.textContent')
    await page.keyboard.press('j')
    expect(await focused()).toBe('Question 1')
    await page.keyboard.press('j')
    expect(await focused()).toBe('Question 2')
    await page.keyboard.press('k')
    for (const key of ['+', '+', '+', '-']) await page.keyboard.press(key)
    expect(await points(page).inputValue()).toBe('0.5')
    await comment(page).pressSequentially('jk+-')
    await saved('jk+-')
    expect(await points(page).inputValue()).toBe('0.5')
    await page.getByText('Keyboard shortcuts', { exact: true }).click()
    await page.getByLabel('Use keyboard shortcuts').uncheck()
    await page.keyboard.press('j')
    expect(await page.evaluate('document.activeElement.type')).toBe('checkbox')
    await page.reload()
    expect(await page.locator('[data-keys]').isChecked()).toBe(false)
  })
})
