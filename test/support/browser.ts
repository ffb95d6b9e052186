import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'

/** Where Debian installs it. */
const CHROMIUM = '/usr/bin/chromium'
/** Tests in a browser are skipped where there is none. */
export const isBrowserInstalled = existsSync(CHROMIUM)

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

export const startBrowser = (...more: string[]): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...QUIET, ...more] })

/** How many pixels the page is wider than the window. */
export const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') as Promise<number>

/** The automated check of accessibility. The page's context needs `bypassCSP`: the check is a script. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(axe.source)
  const { violations, passes } = (await page.evaluate('axe.run()')) as axe.AxeResults
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  expect(passes.length).toBeGreaterThan(10)
}
