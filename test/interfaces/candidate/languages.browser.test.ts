import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { nameOfLanguage } from '../../../src/locales/names.ts'
import {
  desktop,
  expectAccessible,
  isBrowserInstalled,
  looksOf,
  overflow,
  press,
  startBrowser,
  watch,
} from '../../support/browser.ts'
import { listCandidatePages } from '../../support/pages/candidate-pages.ts'
import { startServiceForFile } from '../../support/service.ts'
import { makeTaking } from '../../support/taking.ts'

const service = await startServiceForFile()
let origin: string
let browser: Browser
beforeAll(async () => {
  if (!isBrowserInstalled) return
  origin = await service.app.listen({ port: 0, host: '127.0.0.1' })
  browser = await startBrowser()
})
afterAll(() => browser?.close())

const offer = () => service.db.organization.updateMany({ data: { languagesOffered: ['en', 'de', 'ar'] } })

describe.skipIf(!isBrowserInstalled)('a translation (skipped where no chromium is installed)', () => {
  it('shows every page in German and Arabic, accessible and within the window, wide and narrow, light and dark', async () => {
    // The pages of an invalid link and of a test mail belong to no organization that offers languages.
    const pages = (await listCandidatePages(service)).filter(({ name }) => !['candidate-dead-link', 'mail-test'].includes(name))
    await offer()
    for (const [locale, dir] of [
      ['de', 'ltr'],
      ['ar', 'rtl'],
    ]) {
      const context = await browser.newContext({ locale: locale! })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      const complaints = watch(page)
      for (const [i, { name, address }] of pages.entries()) {
        for (const { viewport, colorScheme } of looksOf(i)) {
          await page.setViewportSize(viewport)
          await page.emulateMedia({ colorScheme })
          await page.goto(origin + address)
          const seen = await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')
          expect([name, seen]).toEqual([name, [locale, dir]])
          for (const summary of await page.locator('summary:visible').all()) await summary.click()
          await expectAccessible(page)
          expect([name, viewport.width, await overflow(page)]).toEqual([name, viewport.width, 0])
        }
      }
      expect(complaints).toEqual([])
    }
  })

  it('loses no character of an answer when the language is changed in the middle', async () => {
    const { candidate, texts } = await makeTaking(service, {
      questions: [{ script: 'Why?', responseType: 'text', points: 1 }],
    })
    await offer()
    await candidate.press('open', { number: '1' })
    const context = await browser.newContext({ locale: 'en', viewport: desktop })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const complaints = watch(page)
    await page.goto(origin + candidate.path)
    const box = page.locator('textarea')
    let written = ''
    // The language is changed at once, before the last typing is saved.
    for (const [language, typed] of [
      ['de', 'Half of a sent'],
      ['ar', 'ence, “quoted” & <b>bold</b>\n\n  '],
      ['en', 'می‌خواهم 👩‍👩‍👧 at the end'],
    ] as const) {
      await box.focus()
      await page.keyboard.press('Control+End')
      await page.keyboard.insertText(typed)
      written += typed
      await page.locator('[data-language] summary').click()
      await press(page, nameOfLanguage(language))
      await page.locator(`html[lang=${language}]`).waitFor()
      expect(await box.inputValue()).toBe(written)
    }
    expect(await texts()).toEqual([written])
    expect(complaints).toEqual([])
  })
})
