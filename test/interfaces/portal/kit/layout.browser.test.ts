import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { desktop, isBrowserInstalled, phone, startBrowser } from '../../../support/browser.ts'
import { type Gallery, openGallery } from '../../../support/pages/all-pages.ts'

/** Smallest target in pixels (WCAG 2.2, success criterion 2.5.8). */
const SMALLEST_TARGET = 24

/** Labels of check boxes and breadcrumb links that are lower than the smallest target. */
const LOW_TARGETS = `[...document.querySelectorAll('label:has(> input[type=checkbox]), nav[aria-label=Breadcrumbs] a')]
  .filter((target) => target.checkVisibility() && target.getBoundingClientRect().height < ${SMALLEST_TARGET})
  .map((target) => target.outerHTML)`

/** Contrast between the text and the background of the first matching element. */
const contrastOf = (page: Page, selector: string): Promise<number> =>
  page.evaluate(`(() => {
    const style = getComputedStyle(document.querySelector(${JSON.stringify(selector)}))
    const pen = document.createElement('canvas').getContext('2d')
    const luminance = (color) => {
      pen.fillStyle = color
      pen.fillRect(0, 0, 1, 1)
      const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((part) => {
        const share = part / 255
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const [dark, light] = [luminance(style.color), luminance(style.backgroundColor)].sort((one, other) => one - other)
    return (light + 0.05) / (dark + 0.05)
  })()`)

describe.skipIf(!isBrowserInstalled)('the layout of the portal (skipped where no chromium is installed)', () => {
  let gallery: Gallery
  let browser: Browser
  beforeAll(async () => {
    ;[gallery, browser] = await Promise.all([openGallery(), startBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await gallery?.service.close()
  })

  const addressOf = (name: string): string => gallery.pages.find((page) => page.name === name)!.address
  const openPage = async (address: string, viewport = phone, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> => {
    const context = await gallery.openAs(browser, 'admin', { viewport, colorScheme, reducedMotion: 'reduce' })
    const page = await context.newPage()
    await page.goto(address)
    return page
  }

  it('has check boxes and breadcrumbs of at least 24 pixels on a phone, on every page', async () => {
    const page = await openPage(addressOf('home'))
    const low: Record<string, unknown> = {}
    for (const { name, address } of gallery.pages.filter(({ viewer, isMail }) => viewer === 'admin' && !isMail)) {
      await page.goto(address)
      const found = (await page.evaluate(LOW_TARGETS)) as string[]
      if (found.length > 0) low[name] = found.slice(0, 3)
    }
    expect(low).toEqual({})
  })

  it('shows invites on the first screen of a phone, and filters and actions on request', async () => {
    const page = await openPage(addressOf('invites'))
    const second = page.getByRole('rowheader').nth(1)
    expect((await second.boundingBox())!.y).toBeLessThan(phone.height)
    const [assessments, actions] = [page.getByLabel('Assessment', { exact: true }), page.getByRole('button', { name: 'Extend' })]
    expect([await assessments.isVisible(), await actions.isVisible()]).toEqual([false, false])
    await page.getByText('Filters', { exact: true }).click()
    await page.getByRole('checkbox', { name: /^Select Sam/ }).check()
    expect([await assessments.isVisible(), await actions.isVisible()]).toEqual([true, true])
  })

  it('keeps an address in one line next to empty columns', async () => {
    const list = ['email', 'cand002@example.com', `${'long.'.repeat(12)}address@example.com`].join('\n')
    const page = await openPage(addressOf('invite-many'), desktop)
    await page.getByLabel('Assessment').selectOption({ index: 1 })
    await page.getByLabel('Or paste the rows').fill(list)
    await page.getByRole('button', { name: 'Preview list' }).click()
    const short = page.getByText('cand002@example.com')
    for (const width of [1280, 800]) {
      await page.setViewportSize({ width, height: 900 })
      expect((await short.boundingBox())!.height).toBeLessThan(30)
      expect(await short.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true)
    }
  })

  it('searches the languages of an assessment', async () => {
    const page = await openPage(addressOf('assessment-edit'), desktop)
    const group = page.getByRole('group', { name: 'Languages' })
    expect(await group.getByRole('checkbox').count()).toBeGreaterThan(100)
    await page.getByRole('searchbox', { name: 'Search: Languages' }).fill('portug')
    const shown = await group.locator('label:visible').allTextContents()
    expect(shown.length).toBeGreaterThan(0)
    expect(shown.filter((label) => !/portug/i.test(label))).toEqual([])
  })

  it.each(['light', 'dark'] as const)('draws chosen points with a contrast of 4.5 in the %s theme', async (scheme) => {
    const page = await openPage(addressOf('sheet'), desktop, scheme)
    const chosen = page.locator('[data-points]').first()
    await chosen.click()
    await expect.poll(() => chosen.getAttribute('aria-pressed')).toBe('true')
    await page.mouse.move(0, 0)
    await page.waitForTimeout(300) // the duration of the button's transition
    expect(await contrastOf(page, '[data-points][aria-pressed=true]')).toBeGreaterThanOrEqual(4.5)
  })

  it('groups the actions of the audit log', async () => {
    const page = await openPage(addressOf('audit-log'), desktop)
    expect(await page.locator('select#action optgroup').count()).toBe(10)
  })

  it('draws black behind videos and waits for no font in the dark theme', async () => {
    const page = await openPage(addressOf('home'), desktop, 'dark')
    const ground = await page.evaluate(`(() => {
      const box = document.createElement('div')
      box.className = 'video-ground'
      document.body.append(box)
      return getComputedStyle(box).backgroundColor
    })()`)
    expect(ground).toBe('rgb(0, 0, 0)')
    expect(await page.evaluate('[...document.fonts].map(({ display }) => display)')).toEqual(['optional', 'optional'])
  })

  it('keeps each number of a chart’s scale in one line', async () => {
    const page = await openPage(addressOf('home'), desktop)
    const heights = await page.evaluate(`(() => {
      const scale = document.querySelector('svg.h-40').closest('div').nextElementSibling
      const labels = [...scale.children]
      for (const label of labels) label.textContent = '1,234'
      return labels.map((label) => label.getBoundingClientRect().height)
    })()`)
    expect(Math.max(...(heights as number[]))).toBeLessThan(20)
  })
})
