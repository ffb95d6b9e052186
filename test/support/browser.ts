import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { RUNS_SLOW_TESTS } from './slow.ts'

/** Debian's path. The headless shell needs a third of Chromium's CPU time. */
const CHROMIUM = '/usr/bin/chromium-headless-shell'
/** Tests that need a browser are skipped if this is false. */
export const isBrowserInstalled = existsSync(CHROMIUM)
/** True if browser tests outside test/journeys run. `npm test` skips them. */
export const runsAllBrowserTests = isBrowserInstalled && RUNS_SLOW_TESTS

const ARGUMENTS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']
const QUIET = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

export const startBrowser = (...more: string[]): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...QUIET, ...more] })

/** Starts a browser that plays to a sound server and records from it. @param server address, see pulse-audio.ts. */
export const startBrowserWithSound = (server: string, ...more: string[]): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, ...QUIET, ...more],
    ignoreDefaultArgs: ['--mute-audio'],
    env: { ...process.env, PULSE_SERVER: server },
  })

export const desktop = { width: 1280, height: 900 }
export const phone = { width: 390, height: 844 }

/**
 * Returns the views of a page: each size once, and each color scheme once. Pages alternate the combination, because layout hardly depends on
 * the color scheme.
 */
export const looksOf = (page: number): { viewport: typeof desktop; colorScheme: 'light' | 'dark' }[] => [
  { viewport: desktop, colorScheme: page % 2 ? 'dark' : 'light' },
  { viewport: phone, colorScheme: page % 2 ? 'light' : 'dark' },
]

/** Collects console errors, such as violations of the Content-Security-Policy, and script errors of the page. */
export function watch(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => void complaints.push(error.message))
  return complaints
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
/** Follows a link of the portal's menu, which has to be opened on a phone. */
export async function goTo(page: Page, name: string): Promise<void> {
  const menu = page.locator('label.btn[for=menu]')
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('navigation', { name: 'Portal' }).getByRole('link', { name }).click()
}

/** Leaves the open question with "Next question", or with "Continue" if it is the last one. */
export const leaveQuestion = (page: Page) => page.locator('button[value=next], [data-leave]').click()
export const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent()

/** Pixels by which the page is wider than the window. */
export const overflow = (page: Page) =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth') as Promise<number>

/**
 * Checks the page's accessibility with axe. The page's Content-Security-Policy does not block scripts of the browser's driver.
 *
 * @param without rules that are not checked.
 */
export async function expectAccessible(page: Page, without: string[] = []): Promise<void> {
  const passes = await expectNoViolations(page, { rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])) })
  expect(passes).toBeGreaterThan(without.length > 0 ? 5 : 10)
}

/** Checks color contrast, the only rule whose result depends on the color scheme. */
export const expectContrast = (page: Page) => expectNoViolations(page, { runOnly: ['color-contrast'] })

/** @returns the number of rules that the page passes. */
async function expectNoViolations(page: Page, options: axe.RunOptions): Promise<number> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source)
  // Check the final colors. Finish animations instead of waiting for them: in a closed <details> an animation never ends by itself.
  await page.evaluate(`for (const animation of document.getAnimations())
    if (animation.effect.getComputedTiming().endTime !== Infinity) animation.finish()`)
  // Describe only the elements with violations: describing all elements takes longer than the check.
  const asked = JSON.stringify({ resultTypes: ['violations'], ...options })
  const { violations, passes } = (await page.evaluate(`axe.run(${asked})`)) as axe.AxeResults
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([])
  return passes.length
}
