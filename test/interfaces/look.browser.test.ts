import { gzipSync } from 'node:zlib'
import type { Browser, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  desktop,
  expectAccessible,
  expectContrast,
  isBrowserInstalled,
  overflow,
  startBrowser,
  watch,
} from '../support/browser.ts'
import { type Gallery, openGallery } from '../support/pages/all-pages.ts'
import type { ShownPage } from '../support/pages/shown.ts'

/** Largest compressed size of a page's first load, in bytes. Fonts do not count: they load once, and text is readable without them. */
const MOST_BYTES = 60_000
/** Largest layout shift while a page loads. Nobody notices a smaller one. */
const MOST_SHIFT = 0.05
/** The narrowest window in which nothing may be cut (WCAG 1.4.10). */
const NARROWEST = { width: 320, height: 700 }

/** Sum of the browser's layout shifts. */
const READ_SHIFT = `(() => {
  const observer = new PerformanceObserver(() => {})
  observer.observe({ type: 'layout-shift', buffered: true })
  return observer.takeRecords().reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0)
})()`

/** Accessibility rules that apply to pages, but not to mails. */
const PAGE_ONLY_RULES = ['landmark-one-main', 'page-has-heading-one', 'region']

const gallery: Gallery | undefined = isBrowserInstalled ? await openGallery() : undefined
const names = (gallery?.pages ?? []).map(({ name }) => name)
let browser: Browser
beforeAll(async () => {
  if (isBrowserInstalled) browser = await startBrowser()
})
afterAll(async () => {
  await browser?.close()
  await gallery?.service.close()
})

/** Opens a page as a first-time visitor, with an empty cache. */
async function open({ viewer, address }: ShownPage) {
  const context = await gallery!.openAs(browser, viewer, { viewport: desktop, colorScheme: 'light' })
  const page = await context.newPage()
  const complaints = watch(page)
  const loaded: Response[] = []
  const note = (response: Response) => void (isPart(response) && loaded.push(response))
  page.on('response', note)
  await page.goto(address)
  page.off('response', note)
  await page.evaluate('document.fonts.ready')
  // Frames load the same files from the cache.
  const once = [...new Map(loaded.map((response) => [response.url(), response])).values()]
  const sizes = await Promise.all(once.map(async (response) => gzipSync(await response.body()).length))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  return { page, complaints, bytes, close: () => context.close() }
}

/** True for requests of the first load, without fonts and later requests of scripts. */
const isPart = (response: Response): boolean =>
  ['document', 'stylesheet', 'script', 'image'].includes(response.request().resourceType()) &&
  !/^3/.test(String(response.status()))

describe.skipIf(!isBrowserInstalled)('every page (skipped where no chromium is installed)', () => {
  it.each(names)(
    'loads little, does not shift, keeps its policy, is accessible in both schemes, and fits the narrowest screen: %s',
    async (name) => {
      const shown = gallery!.pages.find((one) => one.name === name)!
      const { page, complaints, bytes, close } = await open(shown)
      const shift = await page.evaluate(READ_SHIFT)
      await expectAccessible(page, shown.isMail ? PAGE_ONLY_RULES : [])
      await page.emulateMedia({ colorScheme: 'dark' })
      await expectContrast(page)
      await page.setViewportSize(NARROWEST)
      const sideways = await overflow(page)
      await close()
      // The browser itself logs an error for a page with status 404.
      expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([])
      expect(sideways).toBe(0)
      expect(shift).toBeLessThan(MOST_SHIFT)
      expect(bytes).toBeLessThan(MOST_BYTES)
    },
  )
})
