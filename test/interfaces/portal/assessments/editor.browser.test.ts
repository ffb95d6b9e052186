import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import puppeteer from 'puppeteer-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { desktop, expectAccessible, isBrowserInstalled, overflow, watch } from '../../../support/browser.ts'
import { startBrowserForFile } from '../../../support/browser-for-file.ts'
import { isFirefoxInstalled } from '../../../support/firefox.ts'
import { startLosingProxy } from '../../../support/losing-proxy.ts'
import { signInAs } from '../../../support/portal.ts'
import { PATIENT } from '../../../support/wait-until.ts'

const { service, browser, origin } = await startBrowserForFile()

/** Opens an assessment as an admin. Each character of `scripts` is the text of one question. */
async function openEditor(scripts: string, { at = origin } = {}) {
  const { id } = await service.make.organization()
  const { cookie, home } = await signInAs(service, id, ['admin'])
  const assessment = await service.make.assessment(id)
  for (const [i, script] of [...scripts].entries()) await service.make.question(assessment, { script, order: i + 1 })
  const context = await browser.newContext({ viewport: desktop })
  onTestFinished(() => context.close())
  const [name, value] = cookie()!.split('=') as [string, string]
  await context.addCookies([{ name, value, url: at }])
  const address = `${at}${home}assessments/${assessment.id}`
  const open = async () => {
    const page = await context.newPage()
    await page.goto(address)
    return page
  }
  const kept = async () => {
    const rows = await service.db.question.findMany({
      where: { assessmentId: assessment.id },
      orderBy: [{ order: 'asc' }, { id: 'asc' }],
    })
    return rows.map(({ script }) => script).join('')
  }
  return { open, kept, address, name, value, assessment }
}

const shown = async (page: Page) => (await page.locator('[data-excerpt]').allTextContents()).join('')
const handle = (page: Page, place: number) => page.getByRole('button', { name: `Move question ${place}`, exact: true })
const statusOf = (page: Page) => page.locator('[data-order-status]').textContent()

async function drag(page: Page, from: number, to: number): Promise<void> {
  const [start, end] = [await handle(page, from).boundingBox(), await handle(page, to).boundingBox()]
  const middle = (box: typeof start) => [box!.x + box!.width / 2, box!.y + box!.height / 2] as const
  const [x, y] = middle(end)
  await page.mouse.move(...middle(start))
  await page.mouse.down()
  await page.mouse.move(x, y + (to > from ? 20 : -20), { steps: 8 })
  await page.mouse.up()
}

describe.skipIf(!isBrowserInstalled)('the editor (skipped where no chromium is installed)', () => {
  it('builds an assessment of four questions by keyboard alone', async () => {
    const { open, kept } = await openEditor('')
    const page = await open()
    const complaints = watch(page)
    const add = page.getByRole('link', { name: 'Text', exact: true })
    await add.focus()
    await page.keyboard.press('Enter')
    for (const [i, script] of ['A', 'B', 'C', 'D'].entries()) {
      await page.getByRole('heading', { name: `Question ${i + 1}`, exact: true }).waitFor()
      // The text field has the focus.
      await page.locator('#script:focus').waitFor()
      await page.keyboard.type(script)
      for (let tabs = 0; (await page.locator('#points:focus').count()) === 0; tabs++) {
        expect(tabs).toBeLessThan(10)
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type('5')
      const button = page.getByRole('button', { name: i < 3 ? 'Save and add another' : 'Add question' })
      for (let tabs = 0; (await button.and(page.locator(':focus')).count()) === 0; tabs++) {
        expect(tabs).toBeLessThan(10)
        await page.keyboard.press('Tab')
      }
      if (i === 2) await expectAccessible(page)
      await page.keyboard.press('Enter')
    }
    await page.getByText('The question is added.').waitFor()
    expect(await shown(page)).toBe('ABCD')
    await handle(page, 4).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    expect([await shown(page), await statusOf(page)]).toEqual(['ADBC', 'Question moved to position 2 of 4.'])
    await expect.poll(kept, PATIENT).toBe('ADBC')
    await expectAccessible(page)
    expect([complaints, await overflow(page)]).toEqual([[], 0])
  })

  it('moves questions by dragging, and puts one back on Escape', async () => {
    const { open, kept } = await openEditor('ABCD')
    const page = await open()
    await drag(page, 1, 3)
    await expect.poll(() => shown(page), PATIENT).toBe('BCAD')
    await expect.poll(kept, PATIENT).toBe('BCAD')
    await drag(page, 4, 1)
    await expect.poll(kept, PATIENT).toBe('DBCA')
    const box = (await handle(page, 1).boundingBox())!
    await page.mouse.move(box.x + 5, box.y + 5)
    await page.mouse.down()
    await page.mouse.move(box.x + 5, box.y + 300, { steps: 5 })
    await expect.poll(() => shown(page), PATIENT).not.toBe('DBCA')
    await page.keyboard.press('Escape')
    await page.mouse.up()
    await expect.poll(() => shown(page), PATIENT).toBe('DBCA')
    expect(await kept()).toBe('DBCA')
  })

  it('reports an outdated order in a second tab, and shows the current one', async () => {
    const { open, kept } = await openEditor('ABC')
    const [first, second] = [await open(), await open()]
    await handle(first, 1).press('ArrowDown')
    await expect.poll(kept, PATIENT).toBe('BAC')
    await handle(second, 3).press('ArrowUp')
    await expect.poll(() => statusOf(second), PATIENT).toMatch(/^The questions were changed in another window/)
    expect([await shown(second), await kept()]).toEqual(['BAC', 'BAC'])
    await handle(second, 3).press('ArrowUp')
    await expect.poll(kept, PATIENT).toBe('BCA')
  })

  it('saves an order and a question once when responses are lost', async () => {
    const { port } = service.app.server.address() as AddressInfo
    const proxy = await startLosingProxy(port, { alsoLose: (_asked, before) => before === 0 })
    onTestFinished(proxy.close)
    const { open, kept } = await openEditor('AB', { at: proxy.origin })
    const page = await open()
    await handle(page, 2).press('ArrowUp')
    await expect.poll(() => proxy.lost.length, PATIENT).toBeGreaterThan(0)
    await expect.poll(kept, PATIENT).toBe('BA')
    await expect.poll(() => statusOf(page), PATIENT).toBe('The order is saved.')
    await page.getByRole('link', { name: 'Text', exact: true }).click()
    await page.getByLabel('Text', { exact: true }).fill('C')
    await page.getByRole('button', { name: 'Add question' }).click()
    await page.getByText('The question is added.').waitFor()
    expect(await kept()).toBe('BAC')
  })

  it('asks before unsaved input is lost, and shows mistakes at their fields', async () => {
    const { open, address } = await openEditor('A')
    const page = await open()
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void (asked.length > 1 ? dialog.accept() : dialog.dismiss())
    })
    await page.getByRole('link', { name: /^1\. / }).click()
    await page.getByLabel('Text', { exact: true }).fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: 'Please check the following' }).waitFor()
    await expectAccessible(page)
    await page.getByLabel('Text', { exact: true }).fill('Changed')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await expect.poll(() => asked, PATIENT).toEqual(['beforeunload'])
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('Changed')
    await page.getByRole('link', { name: 'Cancel' }).click()
    await page.waitForURL(address)
    expect(await shown(page)).toBe('A')
  })

  it('asks in a dialog before a question is deleted', async () => {
    const { open, kept } = await openEditor('AB')
    const page = await open()
    await page.locator('summary', { hasText: 'More for question 1' }).click()
    await page.locator('details[open]').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText('Delete question 1?').waitFor()
    await expectAccessible(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('The question is deleted.').waitFor()
    expect(await kept()).toBe('B')
  })

  it('previews a question next to its form while it is typed', async () => {
    const { open, kept } = await openEditor('AB')
    const page = await open()
    const complaints = watch(page)
    await page.getByRole('link', { name: /^2\. / }).click()
    await page.getByRole('link', { name: 'Preview' }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByText('Question 2 of 2').waitFor()
    await page.getByLabel('Text', { exact: true }).fill('As it is typed')
    await frame.getByText('As it is typed').waitFor()
    expect(await page.locator('#script:focus').count()).toBe(1)
    await frame.getByLabel('Your answer').fill('Tried')
    await frame.getByRole('button', { name: 'Save and go to the end' }).click()
    await frame.getByText('You have reached the end').waitFor()
    await expectAccessible(page)
    expect([await kept(), complaints, await service.db.answerAttempt.count()]).toEqual(['AB', [], 0])
  })

  it('causes no layout shift while its pages load', async () => {
    const { open } = await openEditor('ABCD')
    const page = await open()
    const shift = () =>
      page.evaluate(
        `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().reduce((sum, { value }) => sum + value, 0)))
          .observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => resolve(0), 500))`,
      )
    expect(await shift()).toBeLessThan(0.05)
    await page.getByRole('link', { name: /^2\. / }).click()
    await page.getByRole('heading', { name: 'Question 2', exact: true }).waitFor()
    expect(await shift()).toBeLessThan(0.05)
  })
})

it.skipIf(!isBrowserInstalled || !isFirefoxInstalled)('moves questions by dragging in Firefox', async () => {
  const { kept, address, name, value } = await openEditor('ABC')
  const firefox = await puppeteer.launch({
    browser: 'firefox',
    executablePath: ['/usr/bin/firefox-esr'].find(existsSync)!,
    headless: true,
    protocolTimeout: 120_000,
  })
  onTestFinished(() => firefox.close())
  await firefox.setCookie({ name, value, domain: '127.0.0.1', path: '/', httpOnly: true })
  const page = await firefox.newPage()
  await page.setViewport(desktop)
  await page.goto(address)
  const boxes = await Promise.all((await page.$$('[data-handle]')).map((one) => one.boundingBox()))
  const at = (box: (typeof boxes)[number]) => [box!.x + box!.width / 2, box!.y + box!.height / 2] as const
  await page.mouse.move(...at(boxes[0]!))
  await page.mouse.down()
  const [x, y] = at(boxes[2]!)
  await page.mouse.move(x, y + 20, { steps: 8 })
  await page.mouse.up()
  await expect.poll(kept, PATIENT).toBe('BCA')
})
